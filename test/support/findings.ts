import { checkStorage, type CheckOptions, type CheckSummary, type Finding } from '../../src/admin/check.ts'
import type { AdminDeps } from '../../src/admin/deps.ts'

/** Checks a storage. @returns the findings and the summary */
export async function findDamage(
  deps: AdminDeps,
  { reindex = false, quick = false }: Partial<CheckOptions> = {},
): Promise<{ findings: Finding[]; summary: CheckSummary }> {
  const findings: Finding[] = []
  const write = async (line: string) => void findings.push(JSON.parse(line) as Finding)
  const summary = await checkStorage(deps, { reindex, quick }, { progress: () => undefined, write, lines: (async function* () {})() })
  return { findings, summary }
}

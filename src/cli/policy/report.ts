import { ConfigError } from '../../config.ts'
import { diffPolicies } from '../../policy/decision-diff.ts'
import { renderReport } from '../../web/policy-report/page.ts'
import { writeResult } from './files.ts'
import { listOperations, readPolicy, SHIPPED } from './read-policy.ts'

interface ReportFlags {
  readonly out?: string
  readonly since?: string
}

/** Writes a policy as one HTML page. */
export async function writeReport(name: string | undefined, { out, since }: ReportFlags): Promise<void> {
  if (out === undefined && process.stdout.isTTY) throw new ConfigError('out: name a file for the page, or redirect stdout')
  const { engine, widenings } = readPolicy(name ?? SHIPPED)
  const changes = since && diffPolicies(readPolicy(since).engine, engine, widenings)
  const page = renderReport(engine, await listOperations(engine), changes || undefined)
  if (out === undefined) process.stdout.write(page)
  else writeResult('out', out, page)
}

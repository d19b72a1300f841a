import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'

interface ReportFlags {
  readonly out?: string
  readonly since?: string
}

/** Adds `lanekeeper policy report`. */
export function addReportCommand(policy: Command): void {
  policy
    .command('report [folder]')
    .description('write the policy as one HTML page: both tables, every answer with its reasons, and what the decisions cover')
    .option('-o, --out <file>', 'the file to write; default: stdout')
    .option('--since <old>', 'an earlier policy, as of "policy diff": the page also has what has changed')
    .action(writeReport)
}

async function writeReport(folder: string | undefined, { out, since }: ReportFlags): Promise<void> {
  const [{ loadPolicy, shippedFolder }, { diffPolicies }, { operations }, { renderReport }, { readPolicy }] = await Promise.all([
    import('../../app.ts'),
    import('../../policy/diff.ts'),
    import('../../resources/table.ts'),
    import('../../web/policy-report/page.ts'),
    import('./read-policy.ts'),
  ])
  const engine = loadPolicy(folder)
  const changes = since && diffPolicies(readPolicy(since).engine, engine, readPolicy(folder ?? shippedFolder).widenings)
  const page = renderReport(engine, operations, changes || undefined)
  if (out === undefined) process.stdout.write(page)
  else writeFileSync(out, page)
}

import type { Command } from 'commander'
import { ConfigError } from '../../config.ts'
import { POLICY_NAMES } from '../command.ts'
import { writeResult } from './files.ts'

interface ReportFlags {
  readonly out?: string
  readonly since?: string
}

/** Adds `lanekeeper policy report`. */
export function addReportCommand(policy: Command): void {
  policy
    .command('report [policy]')
    .description(
      `write a policy as one HTML page: both tables, every answer with its reasons, and what the decisions cover; ${POLICY_NAMES}`,
    )
    .option('-o, --out <file>', 'the file to write; default: stdout')
    .option('--since <old>', 'an earlier policy: the page also has what has changed since')
    .action(writeReport)
}

async function writeReport(name: string | undefined, { out, since }: ReportFlags): Promise<void> {
  if (out === undefined && process.stdout.isTTY) throw new ConfigError('out: name a file for the page, or redirect stdout')
  const [{ diffPolicies }, { renderReport }, { listOperations, readPolicy, SHIPPED }] = await Promise.all([
    import('../../policy/decision-diff.ts'),
    import('../../web/policy-report/page.ts'),
    import('./read-policy.ts'),
  ])
  const { engine, widenings } = readPolicy(name ?? SHIPPED)
  const changes = since && diffPolicies(readPolicy(since).engine, engine, widenings)
  const page = renderReport(engine, await listOperations(engine), changes || undefined)
  if (out === undefined) process.stdout.write(page)
  else writeResult('out', out, page)
}

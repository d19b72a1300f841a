import type { Command } from 'commander'
import type { Finding } from '../../decision-log/verify.ts'
import { ConfigError } from '../../config.ts'
import { LogNotIntact } from '../exit.ts'
import { cell, describe } from '../text.ts'
import { logFiles } from './files.ts'

interface VerifyFlags {
  readonly anchor?: readonly string[]
  readonly from?: string
  readonly json?: boolean
}

/** Adds `lanekeeper policy verify-log`. */
export function addVerifyLogCommand(policy: Command): void {
  policy
    .command('verify-log <file...>')
    .description('verify that no record of a decision log was altered, removed or moved; name its files from the oldest to the newest')
    .option('--anchor <hash...>', 'hashes of lines that the log must have, such as the head of an earlier verification')
    .option('--from <hash>', 'the files begin after the line with this hash; default: they begin with the first line of the log')
    .option('--json', 'print each finding, and then the summary, as one line of JSON')
    .action(verify)
}

/** Prints each finding as one line, and then the summary. */
async function verify(names: readonly string[], { anchor = [], from, json = false }: VerifyFlags): Promise<void> {
  for (const [option, hash] of [
    ...anchor.map((hash) => ['anchor', hash] as const),
    ...(from === undefined ? [] : [['from', from] as const]),
  ])
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new ConfigError(`${option}: "${hash}" is not a hash of 64 hexadecimal digits`)
  const { verifyLog } = await import('../../decision-log/verify.ts')
  const summary = await verifyLog(logFiles(names), anchor, (finding) => console.log(json ? JSON.stringify(finding) : textOf(finding)), from)
  console.log(json ? JSON.stringify(summary) : describe(summary))
  if (summary.findings > 0) throw new LogNotIntact(summary.findings)
}

function textOf({ kind, file, line, byte, message }: Finding): string {
  return `${kind} ${cell(file)}:${line}, byte ${byte}: ${message}`
}

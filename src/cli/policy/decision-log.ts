import type { Command } from 'commander'
import type { Finding } from '../../decision-log/verify.ts'
import { ConfigError } from '../../config.ts'
import { Failure } from '../exit.ts'
import { cell, counted, describe } from '../text.ts'
import { logFiles, readLog } from './files.ts'
import type { Difference, Replay } from '../../decision-log/replay.ts'

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
  const summary = await verifyLog(
    logFiles(names),
    anchor,
    (finding) => console.log(json ? JSON.stringify(finding) : findingText(finding)),
    from,
  )
  console.log(json ? JSON.stringify(summary) : describe(summary))
  if (summary.findings > 0) throw new Failure('altered', `the log is not as it was written: ${counted(summary.findings, 'finding')}`)
}

function findingText({ kind, file, line, byte, message }: Finding): string {
  return `${kind} ${cell(file)}:${line}, byte ${byte}: ${message}`
}

interface ReplayFlags {
  readonly policies?: string
  readonly json?: boolean
}

/** Adds `lanekeeper policy replay`. */
export function addReplayCommand(policy: Command): void {
  policy
    .command('replay <file...>')
    .description('decide the records of a decision log again, and print each difference')
    .option('--policies <policy>', 'the policy to decide with: a folder or a revision of git; default: the one that is shipped')
    .option('--json', 'print each difference, and then the summary, as one line of JSON')
    .action(replay)
}

/** Prints each kind of difference with its number and an example, and then the summary. */
async function replay(names: readonly string[], { policies, json = false }: ReplayFlags): Promise<void> {
  const [{ loadPolicy }, { readPolicy }, { Replay: Replayed }] = await Promise.all([
    import('../../authz/shipped-policy.ts'),
    import('./read-policy.ts'),
    import('../../decision-log/replay.ts'),
  ])
  const engine = policies === undefined ? loadPolicy() : readPolicy(policies).engine
  const replayed = new Replayed(engine)
  await readLog(names, (text, at) => replayed.add(text, at))
  report(replayed, engine.hash, json)
}

function report(replayed: Replay, policy: string, json: boolean): void {
  const { differences, decisions, records } = replayed
  for (const one of differences) console.log(json ? JSON.stringify(one) : differenceText(one))
  const changed = differences.filter(({ kind }) => kind !== 'explained').reduce((sum, { count }) => sum + count, 0)
  const explained = differences.reduce((sum, { count }) => sum + count, 0) - changed
  if (json) console.log(JSON.stringify({ policy, records, decisions, changed, explained }))
  else console.log(`${decisions} decisions of ${records} records: ${changed} are decided differently, ${explained} for other reasons`)
  if (changed > 0) throw new Failure('decidedDifferently', `${counted(changed, 'decision')} decided differently`)
}

function differenceText({ kind, stage, about, was, now, count, example }: Difference): string {
  const facts = Object.entries(example.facts).map(([name, value]) => `${name}=${value}`)
  const where = `${cell(example.file)}:${example.line}`
  return `${kind} ${stage} ${cell(about)}: ${cell(was)} → ${cell(now)}, ${count} times; for example ${where}: ${cell(facts)}`
}

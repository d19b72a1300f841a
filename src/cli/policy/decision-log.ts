import { loadPolicy } from '../../authz/shipped-policy.ts'
import { ConfigError } from '../../config.ts'
import { Replay, type Difference } from '../../decision-log/replay.ts'
import { verifyLog, type Finding } from '../../decision-log/verify.ts'
import { Failure } from '../exit.ts'
import { cell, counted, describe } from '../text.ts'
import { logFiles, readLog } from './files.ts'
import { readPolicy } from './read-policy.ts'

interface VerifyFlags {
  readonly anchor?: readonly string[]
  readonly from?: string
  readonly json?: boolean
}

/** Prints each finding as one line, and then the summary. */
export async function verify(names: readonly string[], { anchor = [], from, json = false }: VerifyFlags): Promise<void> {
  for (const [option, hash] of [
    ...anchor.map((hash) => ['anchor', hash] as const),
    ...(from === undefined ? [] : [['from', from] as const]),
  ])
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new ConfigError(`${option}: "${hash}" is not a hash of 64 hexadecimal digits`)
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

/** Prints each kind of difference with its number and an example, and then the summary. */
export async function replay(names: readonly string[], { policies, json = false }: ReplayFlags): Promise<void> {
  const engine = policies === undefined ? loadPolicy() : readPolicy(policies).engine
  const replayed = new Replay(engine)
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

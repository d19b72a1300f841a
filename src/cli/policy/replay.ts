import type { Command } from 'commander'
import type { Difference, Replay } from '../../decision-log/replay.ts'
import { DecidedDifferently } from '../exit.ts'
import { cell } from '../text.ts'
import { readLog } from './files.ts'

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
  for (const one of differences) console.log(json ? JSON.stringify(one) : textOf(one))
  const changed = differences.filter(({ kind }) => kind !== 'explained').reduce((sum, { count }) => sum + count, 0)
  const explained = differences.reduce((sum, { count }) => sum + count, 0) - changed
  if (json) console.log(JSON.stringify({ policy, records, decisions, changed, explained }))
  else console.log(`${decisions} decisions of ${records} records: ${changed} are decided differently, ${explained} for other reasons`)
  if (changed > 0) throw new DecidedDifferently(changed)
}

function textOf({ kind, stage, about, was, now, count, example }: Difference): string {
  const facts = Object.entries(example.facts).map(([name, value]) => `${name}=${value}`)
  const where = `${cell(example.file)}:${example.line}`
  return `${kind} ${stage} ${cell(about)}: ${cell(was)} → ${cell(now)}, ${count} times; for example ${where}: ${cell(facts)}`
}

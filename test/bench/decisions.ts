import { markdown, type BenchTable, type Effort, type Progress } from './report.ts'
import { startScript } from './server-process.ts'
import { formatSpread, spreadOf } from './statistics.ts'

interface Size {
  readonly rounds: number
  /** the least CPU time of an engine in each round and kind of decision, in microseconds */
  readonly slice: number
  /** the generated spaces that are proved have 10 to the power of 3 cells, and of each number up to this */
  readonly largest: number
}

const sizes: Readonly<Record<Effort, Size>> = {
  tiny: { rounds: 1, slice: 1, largest: 3 },
  quick: { rounds: 3, slice: 20_000, largest: 5 },
  default: { rounds: 7, slice: 30_000, largest: 7 },
  full: { rounds: 15, slice: 100_000, largest: 7 },
}

/** What `servers/decisions.js` sends. */
interface Measured {
  /** CPU time of a decision in microseconds, of each round */
  readonly samples: readonly { readonly engine: string; readonly allowed: readonly number[]; readonly refused: readonly number[] }[]
  /** the number of decisions that were the same in all engines */
  readonly checked: number
  readonly operations: readonly string[]
}

/** What `servers/proof.js` sends. */
interface Proved {
  readonly cells: number
  /** until the engine was imported and the policy loaded, since the process began, in ms */
  readonly loaded: number
  /** in ms */
  readonly proof: number
  readonly perSecond: number
  /** in bytes */
  readonly rss: number
}

/** Proves spaces of 1,000 cells and more, each in its own process. */
async function proveSpaces(largest: number, progress: Progress): Promise<Proved[]> {
  const proved: Proved[] = []
  for (let facts = 3; facts <= largest; facts++) {
    progress(`${10 ** facts} cells`)
    const { child, message } = await startScript<Proved>('proof', [String(facts)])
    child.kill()
    proved.push(message)
  }
  return proved
}

function proofTable(proved: readonly Proved[]): string {
  const rows = proved.map(({ cells, loaded, proof, perSecond, rss }) => [
    cells.toLocaleString('en'),
    loaded.toFixed(0),
    proof.toFixed(0),
    ((proof / cells) * 1000).toFixed(2),
    Math.round(perSecond).toLocaleString('en'),
    (rss / 2 ** 20).toFixed(0),
  ])
  return markdown(['cells', 'start', 'proof', 'proof per 1,000 cells', 'decisions in a second', 'memory'], rows)
}

export const decisions: BenchTable = {
  name: 'decisions',
  summary: 'one decision of both tables: an if-chain, Lanekeeper, cedar-wasm, casbin; proofs of 1,000 to 10 million cells',
  async measure(effort, progress) {
    const { rounds, slice, largest } = sizes[effort]
    progress(`${rounds} rounds`)
    const { child, message } = await startScript<Measured>('decisions', [rounds, slice].map(String))
    child.kill()
    const { samples, checked, operations } = message
    const proved = await proveSpaces(largest, progress)
    const values = samples.map(({ engine, allowed, refused }) => ({ engine, allowed: spreadOf(allowed), refused: spreadOf(refused) }))
    return {
      title:
        'CPU time of one decision in µs: the scope of the token, and then the permission of its user. A refusal also finds out whether it ' +
        'is 404 or 403; Cedar and casbin need a third question for that. Lanekeeper has its whole tables and states the rule, the row, the ' +
        'reason and all definitions that it derived; the others have the rules of these operations only.',
      head: ['engine', 'allowed', 'refused', 'allowed in a second'],
      rows: values.map(({ engine, allowed, refused }) => [
        engine,
        formatSpread(allowed, 2),
        formatSpread(refused, 2),
        Math.round(1_000_000 / allowed.median).toLocaleString('en'),
      ]),
      notes: [
        `Operations: ${operations.join(', ')}. Before they were measured, all engines gave the same answers in all ${checked} ` +
          'combinations of a scope and facts.',
        'How the cost grows: `lanekeeper/policy` with a generated policy that has one permission, whose facts have ten values each. Until ' +
          'it is imported and the policy loaded (start), and for the proof, in ms; decisions of both tables; resident memory in MiB.',
        proofTable(proved),
      ],
      values: { checked, operations, engines: values, proofs: proved },
    }
  },
}

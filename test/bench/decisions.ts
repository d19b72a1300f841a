import type { BenchTable, Effort } from './report.ts'
import { startScript } from './server-process.ts'
import { formatSpread, spreadOf } from './statistics.ts'

interface Size {
  readonly rounds: number
  /** the least CPU time of an engine in each round and kind of decision, in microseconds */
  readonly slice: number
}

const sizes: Readonly<Record<Effort, Size>> = {
  tiny: { rounds: 1, slice: 1 },
  quick: { rounds: 3, slice: 20_000 },
  default: { rounds: 7, slice: 30_000 },
  full: { rounds: 15, slice: 100_000 },
}

/** What `servers/decisions.js` sends. */
interface Measured {
  /** CPU time of a decision in microseconds, of each round */
  readonly samples: readonly { readonly engine: string; readonly allowed: readonly number[]; readonly refused: readonly number[] }[]
  /** the number of decisions that were the same in all engines */
  readonly checked: number
  readonly operations: readonly string[]
}

export const decisions: BenchTable = {
  name: 'decisions',
  summary: 'one decision of both tables: an if-chain, Lanekeeper, cedar-wasm, casbin',
  async measure(effort, progress) {
    const { rounds, slice } = sizes[effort]
    progress(`${rounds} rounds`)
    const { child, message } = await startScript<Measured>('decisions', [rounds, slice].map(String))
    child.kill()
    const { samples, checked, operations } = message
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
      ],
      values: { checked, operations, engines: values },
    }
  },
}

import { measureAdded } from './decision-log.ts'
import type { BenchTable, Effort, RequestRounds } from './report.ts'
import { formatSpread } from './statistics.ts'

/** The CPU time that the audit trail and the counts of tokens may add to a request, as a part of it. */
const GOAL = 0.03

const sizes: Readonly<Record<Effort, RequestRounds>> = {
  tiny: { warmUp: false, rounds: 1, requests: 20 },
  quick: { warmUp: true, rounds: 31, requests: 200 },
  default: { warmUp: true, rounds: 81, requests: 300 },
  full: { warmUp: true, rounds: 161, requests: 400 },
}

export const audit: BenchTable = {
  name: 'audit',
  summary: 'CPU time of a request with the audit trail, and without it',
  async measure(effort, progress) {
    const costs = await measureAdded('audit', [], sizes[effort], progress)
    return {
      title:
        'CPU time of the server for one request, in µs, with the audit trail and the counts of tokens, and without both. It includes the writing of ' +
        'the entries. One process serves both, on the same memory, in turns. What is added is the median of the rounds.',
      head: ['request', 'without', 'with', 'added', 'goal'],
      rows: costs.map(({ scenario, off, on, added }) => [
        scenario,
        formatSpread(off),
        formatSpread(on),
        `${formatSpread({ median: added.median * 100, spread: added.spread * 100 }, 1)} %`,
        `≤ ${GOAL * 100} %`,
      ]),
      values: costs,
    }
  },
}

import { Client } from './client.ts'
import type { BenchTable, Effort, Progress, RequestRounds } from './report.ts'
import { requestsIn } from './requests.ts'
import { ServerProcess, startScript } from './server-process.ts'
import { formatSpread, ratioOf, spreadOf } from './statistics.ts'
import { Workspace } from './workspace.ts'

// Many short rounds: the difference is smaller than what the machine does otherwise.
const sizes: Readonly<Record<Effort, RequestRounds>> = {
  tiny: { warmUp: false, rounds: 1, requests: 20 },
  quick: { warmUp: true, rounds: 31, requests: 200 },
  default: { warmUp: true, rounds: 81, requests: 300 },
  full: { warmUp: true, rounds: 161, requests: 400 },
}

interface Addition {
  /** of the table, and of the script in `servers/` that starts one process with two services on the same memory: without it, and with it */
  readonly name: string
  readonly summary: string
  /** what the figures are, as the beginning of the title */
  readonly title: string
  /** the CPU time that it may add to a request, as a part of it */
  readonly goal: number
  /** the arguments of the script */
  readonly args?: () => Promise<readonly string[]>
}

/** A table of what something adds to the CPU time of requests. */
export function addedTable({ name, summary, title, goal, args }: Addition): BenchTable {
  return {
    name,
    summary,
    async measure(effort, progress) {
      const costs = await measureAdded(name, (await args?.()) ?? [], sizes[effort], progress)
      return {
        title: `${title} One process serves both, on the same memory, in turns. What is added is the median of the rounds.`,
        head: ['request', 'without', 'with', 'added', 'goal'],
        rows: costs.map(({ scenario, off, on, added }) => [
          scenario,
          formatSpread(off),
          formatSpread(on),
          `${formatSpread({ median: added.median * 100, spread: added.spread * 100 }, 1)} %`,
          `≤ ${goal * 100} %`,
        ]),
        values: costs,
      }
    },
  }
}

async function measureAdded(script: string, args: readonly string[], { warmUp, rounds, requests }: RequestRounds, progress: Progress) {
  const started = await startScript<{ urls: [string, string]; token: string; url: string }>(script, args)
  const { urls, token } = started.message
  const server = ServerProcess.of(started)
  const clients = urls.map((url) => new Client(url, token))
  try {
    const workspace = await Workspace.create(clients[0]!)
    const costs = []
    for (const [scenario, next] of Object.entries(requestsIn(workspace))) {
      const samples: [number[], number[]] = [[], []]
      for (let round = warmUp ? -9 : 1; round <= rounds; round++)
        // In another order in every second round: what the first one leaves to the garbage collector is a cost of the second one.
        for (const i of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
          progress(`${scenario}, round ${round} of ${rounds}`)
          await workspace.rotate(requests)
          const before = await server.usage()
          await clients[i]!.sendAll(requests, next)
          const after = await server.usage()
          if (round > 0) samples[i].push((after.cpu - before.cpu) / requests)
        }
      const ratio = ratioOf(samples[1], samples[0])
      const added = { median: ratio.median - 1, spread: ratio.spread }
      costs.push({ scenario, off: spreadOf(samples[0]), on: spreadOf(samples[1]), added })
    }
    return costs
  } finally {
    for (const client of clients) client.close()
    await server.stop()
  }
}

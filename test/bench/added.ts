import { Client } from './client.ts'
import type { BenchTable, Effort, Progress, RequestRounds } from './report.ts'
import { requestsIn } from './requests.ts'
import { inTurns } from './rounds.ts'
import { ServerProcess, startScript } from './server-process.ts'
import { formatSpread, ratioOf, spreadOf } from './statistics.ts'
import { Workspace } from './workspace.ts'

// Many short rounds: the difference is smaller than what the machine does otherwise.
const sizes: Readonly<Record<Effort, RequestRounds>> = {
  tiny: { rounds: 1, requests: 20 },
  quick: { rounds: 31, requests: 200 },
  default: { rounds: 81, requests: 300 },
  full: { rounds: 161, requests: 400 },
}

/** The rounds before those that count. */
const WARM_UP_ROUNDS = 10

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

async function measureAdded(script: string, args: readonly string[], { rounds, requests }: RequestRounds, progress: Progress) {
  const started = await startScript<{ urls: [string, string]; token: string; url: string }>(script, args)
  const { urls, token } = started.message
  const server = ServerProcess.of(started)
  const clients = { off: new Client(urls[0], token), on: new Client(urls[1], token) }
  try {
    const workspace = await Workspace.create(clients.off)
    const costs = []
    for (const [scenario, next] of Object.entries(requestsIn(workspace))) {
      const turns = { rounds, warmUp: WARM_UP_ROUNDS, progress: (text: string) => progress(`${scenario}, ${text}`) }
      const { off, on } = await inTurns(['off', 'on'], turns, async (name) => {
        await workspace.rotate(requests)
        return (await server.cpuOf(() => clients[name].sendAll(requests, next))) / requests
      })
      const ratio = ratioOf(on, off)
      const added = { median: ratio.median - 1, spread: ratio.spread }
      costs.push({ scenario, off: spreadOf(off), on: spreadOf(on), added })
    }
    return costs
  } finally {
    for (const client of Object.values(clients)) client.close()
    await server.stop()
  }
}

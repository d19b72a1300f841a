import type { BenchRequest } from './client.ts'
import { startFilled, type Contents, type Filled, type FilledDriver, type FilledService } from './filled-storage.ts'
import { showProgress, type BenchTable, type Effort, type RequestRounds } from './report.ts'
import { inTurns } from './rounds.ts'
import { formatSpread, ratioOf, spreadOf, type Spread } from './statistics.ts'

/** How many times the CPU time with few cards a request may take with many. */
const GOAL = 1.2
/** How many bytes a byte of JSON may take in the memory. */
const MEMORY_GOAL = 3

const LIST = 'list of 100 cards'
/** The rounds before those that count: few requests are measured, and code is compiled after many. */
const WARM_UP_ROUNDS = 3

interface Size extends RequestRounds {
  readonly drivers: readonly FilledDriver[]
  readonly few: Contents
  readonly many: Contents
}

const drivers: readonly FilledDriver[] = ['memory', 'fs', 'redis']
const contents = (boards: number, cardsPerBoard = 100): Contents => ({ workspaces: 1, boards, cardsPerBoard })

const sizes: Readonly<Record<Effort, Size>> = {
  tiny: { rounds: 1, requests: 10, drivers: ['memory'], few: contents(2, 5), many: contents(4, 5) },
  quick: { rounds: 3, requests: 500, drivers, few: contents(10), many: contents(200) },
  default: { rounds: 5, requests: 600, drivers, few: contents(10), many: contents(1000) },
  full: { rounds: 7, requests: 1000, drivers, few: contents(10), many: contents(10_000) },
}

/** What a request costs with few and with many cards: CPU time in microseconds. */
interface Cost {
  readonly driver: FilledDriver
  readonly request: string
  readonly few: Spread
  readonly many: Spread
  readonly ratio: Spread
}

/** How many bytes are added to the memory for each byte of JSON that is added. */
interface Memory {
  readonly driver: FilledDriver
  readonly jsonBytes: number
  readonly bytes: number
}

export const scale: BenchTable = {
  name: 'scale',
  summary: 'CPU time of requests with 1,000 cards and with 100,000 (--full: a million); memory for the JSON',
  async measure(effort) {
    const { drivers: chosen, few, many, ...size } = sizes[effort]
    const costs: Cost[] = []
    const memory: Memory[] = []
    for (const driver of chosen) {
      showProgress(`${driver}, ${nameOf(few)}`)
      const small = await startFilled(driver, few)
      showProgress(`${driver}, ${nameOf(many)}`)
      const large = await startFilled(driver, many)
      try {
        costs.push(...(await measureRequests(driver, { few: small, many: large }, size)))
        memory.push(await measureMemory(driver, small, large))
      } finally {
        await small.stop()
        await large.stop()
      }
    }
    return {
      title:
        `CPU time of a request in µs, with ${nameOf(few)} and with ${nameOf(many)} in one workspace; on Redis including Redis. Each ` +
        'request is for a random card or board.',
      head: ['storage', 'request', nameOf(few), nameOf(many), 'ratio', 'goal'],
      rows: costs.map((cost) => [
        cost.driver,
        cost.request,
        formatSpread(cost.few),
        formatSpread(cost.many),
        formatSpread(cost.ratio, 2),
        `≤ ${GOAL}`,
      ]),
      notes: [`Memory for each byte of JSON, goal ≤ ${MEMORY_GOAL}: ${memory.map(describe).join('; ')}.`],
    }
  },
}

function nameOf({ boards, cardsPerBoard }: Contents): string {
  return `${(boards * cardsPerBoard).toLocaleString('en')} cards on ${boards.toLocaleString('en')} boards`
}

function describe({ driver, jsonBytes, bytes }: Memory): string {
  const megabytes = (count: number) => (count / 1_000_000).toFixed(0)
  return `${driver} ${(bytes / jsonBytes).toFixed(1)} (${megabytes(bytes)} MB for ${megabytes(jsonBytes)} MB)`
}

async function measureRequests(
  driver: FilledDriver,
  services: Readonly<Record<'few' | 'many', FilledService>>,
  { rounds, requests: count }: RequestRounds,
): Promise<Cost[]> {
  const costs: Cost[] = []
  const kinds = { few: requestsFor(services.few.filled), many: requestsFor(services.many.filled) }
  // A folder loads a workspace at its first request. The garbage of that, and of the filling, is no part of the later requests.
  for (const name of ['few', 'many'] as const) {
    await services[name].client.send(kinds[name][LIST]!())
    await services[name].memory()
  }
  for (const request of Object.keys(kinds.few)) {
    const turns = { rounds, warmUp: WARM_UP_ROUNDS, what: `${driver}, ${request}` }
    const { few, many } = await inTurns(['few', 'many'], turns, async (name) => {
      const { client, cpu } = services[name]
      const sent = Math.ceil(request === LIST ? count / 4 : count)
      const before = await cpu()
      await client.sendAll(sent, kinds[name][request]!)
      return ((await cpu()) - before) / sent
    })
    costs.push({ driver, request, few: spreadOf(few), many: spreadOf(many), ratio: ratioOf(many, few) })
  }
  return costs
}

/** Requests for random cards and boards. */
function requestsFor({ cards, boards }: Filled): Record<string, () => BenchRequest> {
  const oneOf = (ids: readonly string[]) => ids[Math.floor(Math.random() * ids.length)]!
  let changes = 0
  return {
    'GET card': () => ({ method: 'GET', path: `/v1/cards/${oneOf(cards)}` }),
    'PATCH card': () => ({ method: 'PATCH', path: `/v1/cards/${oneOf(cards)}`, body: { title: `The title after change ${++changes}` } }),
    [LIST]: () => ({ method: 'GET', path: `/v1/boards/${oneOf(boards)}/cards?limit=100` }),
  }
}

async function measureMemory(driver: FilledDriver, small: FilledService, large: FilledService): Promise<Memory> {
  const bytes = (await large.memory()) - (await small.memory())
  return { driver, bytes, jsonBytes: large.filled.jsonBytes - small.filled.jsonBytes }
}

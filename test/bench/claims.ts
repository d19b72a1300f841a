import { Client, type BenchRequest } from './client.ts'
import { startFilled, type FilledDriver, type FilledService } from './filled-storage.ts'
import type { BenchTable, Effort, Progress, RequestRounds } from './report.ts'
import { inTurns } from './rounds.ts'
import { formatSpread, ratioOf, spreadOf, type Spread } from './statistics.ts'

/** How many times the CPU time of a POST of a card a claim of the next card may take. */
const GOAL = 2
/** Claims in a second that contending workers should get on memory. */
const RATE_GOAL = 500
const WORKERS = 32

interface Size extends RequestRounds {
  readonly drivers: readonly FilledDriver[]
  readonly cards: number
}

const drivers: readonly FilledDriver[] = ['memory', 'fs', 'redis']

const sizes: Readonly<Record<Effort, Size>> = {
  tiny: { rounds: 1, requests: 10, drivers: ['memory'], cards: 50 },
  quick: { rounds: 5, requests: 100, drivers, cards: 5000 },
  default: { rounds: 11, requests: 100, drivers, cards: 5000 },
  full: { rounds: 21, requests: 100, drivers, cards: 5000 },
}

/** The rounds before those that count: code is compiled after many requests. */
const WARM_UP_ROUNDS = 4

/** CPU time in microseconds, and claims in a second with contending workers. */
interface Cost {
  readonly driver: FilledDriver
  readonly post: Spread
  readonly claim: Spread
  readonly ratio: Spread
  readonly contended: Spread
  readonly rate: Spread
}

export const claims: BenchTable = {
  name: 'claims',
  summary: 'CPU time of a claim of the next card of 5,000, beside a POST of a card; claims in a second by 32 workers',
  async measure(effort, progress) {
    const { drivers: chosen, ...size } = sizes[effort]
    const costs: Cost[] = []
    for (const driver of chosen) {
      progress(driver)
      const service = await startFilled(driver, { workspaces: 1, boards: 1, cardsPerBoard: size.cards })
      try {
        costs.push(await measureClaims(driver, service, size, progress))
      } finally {
        await service.stop()
      }
    }
    return {
      title:
        `CPU time in µs of a claim of the next card of a board with ${size.cards.toLocaleString('en')} cards, beside a POST of a card, on Redis ` +
        `with that of Redis; one at a time, ${size.requests} of each in a round, so that up to as many claims are skipped. Contended: with ` +
        `${WORKERS} workers at once, who all want the same card first. The rate is the only figure by the clock.`,
      head: ['storage', 'POST card', 'claim', 'claim ÷ POST', 'goal', 'contended', 'claims in a second', 'goal'],
      rows: costs.map(({ driver, post, claim, ratio, contended, rate }) => [
        driver,
        ...[post, claim].map((cost) => formatSpread(cost)),
        formatSpread(ratio, 2),
        `≤ ${GOAL}`,
        formatSpread(contended),
        formatSpread(rate),
        driver === 'memory' ? `≥ ${RATE_GOAL}` : '',
      ]),
      values: costs,
    }
  },
}

async function measureClaims(
  driver: FilledDriver,
  { client, filled, cpu }: FilledService,
  { rounds, requests }: RequestRounds,
  progress: Progress,
): Promise<Cost> {
  const create = async (path: string, body: object) => JSON.parse(await client.send({ method: 'POST', path, body })).data.id as string
  const board = await create('/v1/boards', { name: 'For new cards' })
  const column_id = await create(`/v1/boards/${board}/columns`, { name: 'To do' })
  const post = (): BenchRequest => ({ method: 'POST', path: `/v1/boards/${board}/cards`, body: { column_id, title: 'A card' } })
  const claim = (): BenchRequest => ({ method: 'POST', path: `/v1/boards/${filled.boards[0]}/claims`, body: { ttl: 3600 } })
  const [one, crowd] = [1, WORKERS].map((connections) => new Client(client.origin, filled.token, connections)) as [Client, Client]
  const kinds = { post: [one, post], claim: [one, claim], contended: [crowd, claim] } as const
  const turns = { rounds, warmUp: WARM_UP_ROUNDS, progress: (text: string) => progress(`${driver}, ${text}`) }
  const samples = await inTurns(['post', 'claim', 'contended'], turns, async (kind) => {
    const [sender, next] = kinds[kind]
    const before = await cpu()
    const begun = performance.now()
    const answers = await sendAll(sender, requests, next)
    const seconds = (performance.now() - begun) / 1000
    const cost = ((await cpu()) - before) / requests
    if (kind !== 'post') await release(client, answers)
    return { cost, rate: requests / seconds }
  })
  one.close()
  crowd.close()
  const costsOf = (kind: keyof typeof samples) => samples[kind].map(({ cost }) => cost)
  return {
    driver,
    post: spreadOf(costsOf('post')),
    claim: spreadOf(costsOf('claim')),
    ratio: ratioOf(costsOf('claim'), costsOf('post')),
    contended: spreadOf(costsOf('contended')),
    rate: spreadOf(samples.contended.map(({ rate }) => rate)),
  }
}

async function sendAll(client: Client, count: number, next: () => BenchRequest): Promise<string[]> {
  const answers: string[] = []
  let sent = 0
  const lane = async (): Promise<void> => {
    while (sent++ < count) answers.push(await client.send(next()))
  }
  await Promise.all(Array.from({ length: client.connections }, lane))
  return answers
}

/** Ends the claims. @throws {Error} if a card was given twice, or none was */
async function release(client: Client, answers: readonly string[]): Promise<void> {
  const cards = answers.map((answer) => JSON.parse(answer).data?.id as string | undefined)
  if (cards.includes(undefined) || new Set(cards).size < cards.length) throw new Error('the claims are not those of different cards')
  let released = 0
  await client.sendAll(cards.length, () => ({ method: 'DELETE', path: `/v1/cards/${cards[released++]}/claim` }))
}

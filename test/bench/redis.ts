import { Redis } from 'ioredis'
import { startRedis } from '../support/redis.ts'
import { Client, type BenchRequest } from './client.ts'
import { copyRecords, observeCommands, useOf, type RedisUse } from './redis-commands.ts'
import type { BenchTable, Effort, Progress, RequestRounds } from './report.ts'
import { requestsIn } from './requests.ts'
import { inTurns } from './rounds.ts'
import { pin, ServerProcess } from './server-process.ts'
import { formatSpread, ratioOf, spreadOf, type Spread } from './statistics.ts'
import { Workspace } from './workspace.ts'

/** How many times the CPU time of an MGET of the same records a GET of a card may take in Redis. */
const GOAL = 3
/** The scenario with this goal. */
const GET_CARD = 'GET card'

/** How many requests of each scenario are observed with MONITOR. */
const OBSERVED = 20

/** What one kind of request costs in Redis. Times are in microseconds. */
interface Cost {
  readonly scenario: string
  /** commands that the service sends */
  readonly commands: number
  /** commands that its scripts call */
  readonly inner: number
  /** different records that it reads or writes */
  readonly records: number
  /** CPU time of the process of Redis, with what it takes to receive commands and to send results */
  readonly cpu: Spread
  /** the same for an MGET of as many records of the same sizes */
  readonly mget: Spread
  readonly ratio: Spread
  /** time in commands alone, by commandstats: ours and that of the MGET */
  readonly execution: Spread
  readonly mgetExecution: Spread
}

const sizes: Readonly<Record<Effort, RequestRounds>> = {
  tiny: { rounds: 1, requests: 10 },
  quick: { rounds: 3, requests: 500 },
  default: { rounds: 7, requests: 1000 },
  full: { rounds: 15, requests: 2000 },
}

export const redis: BenchTable = {
  name: 'redis',
  summary: 'commands and CPU time of Redis for a request, beside an MGET of the same records',
  async measure(effort, progress) {
    const costs = await measureRedis(sizes[effort], progress)
    return {
      title:
        'CPU time of Redis for one request, in µs, beside an MGET of as many records of the same sizes, which a server of node:http and ' +
        'ioredis sends for each request. One request at a time. ' +
        'Commands: those that the service sends for a request; in brackets, those that its scripts call. Execution: the time in ' +
        'commands alone, without receiving them and sending their results.',
      head: ['request', 'commands', 'records', 'CPU', 'MGET', 'ratio', 'goal', 'execution', 'of MGET'],
      rows: costs.map((cost) => [
        cost.scenario,
        `${cost.commands.toFixed(1)} (${cost.inner.toFixed(0)})`,
        cost.records.toFixed(0),
        formatSpread(cost.cpu),
        formatSpread(cost.mget),
        formatSpread(cost.ratio, 1),
        cost.scenario === GET_CARD ? `≤ ${GOAL}` : '',
        formatSpread(cost.execution, 1),
        formatSpread(cost.mgetExecution, 1),
      ]),
      values: costs,
    }
  },
}

/** A Redis and a service on it that are measured. */
interface Measured {
  readonly connection: Redis
  readonly client: Client
  /** of the server that sends an MGET */
  readonly plainClient: Client
  /** what must exist before requests are sent */
  prepare(): Promise<void>
}

async function measureRedis(size: RequestRounds, progress: Progress): Promise<Cost[]> {
  const server = await startRedis()
  pin(server.process.pid!)
  const connection = new Redis(server.url)
  const service = await ServerProcess.startService(server.url, { args: ['--demo'] })
  const plain = await ServerProcess.start('mget', [server.url])
  const client = new Client(service.url, service.adminToken, 1)
  const plainClient = new Client(plain.url, 'none', 1)
  try {
    const workspace = await Workspace.create(client)
    let commented = ''
    const scenarios: Readonly<Record<string, () => BenchRequest>> = {
      ...requestsIn(workspace),
      'POST comment': () => ({ method: 'POST', path: `/v1/cards/${commented}/comments`, body: { body: 'A comment of the benchmark.' } }),
    }
    const prepare = async (): Promise<void> => {
      await workspace.rotate(size.requests)
      // A card has room for 5,000 comments.
      commented = await workspace.post(workspace.newCard())
    }
    const costs: Cost[] = []
    const measured = { connection, client, plainClient, prepare }
    for (const [scenario, request] of Object.entries(scenarios))
      costs.push(await measureScenario(measured, scenario, request, size, progress))
    return costs
  } finally {
    client.close()
    plainClient.close()
    await plain.stop()
    await service.stop()
    connection.disconnect()
    await server.stop()
  }
}

async function measureScenario(
  { connection, client, plainClient, prepare }: Measured,
  scenario: string,
  request: () => BenchRequest,
  { rounds, requests }: RequestRounds,
  progress: Progress,
): Promise<Cost> {
  const send = () => client.sendAll(requests, request)
  await prepare()
  progress(`${scenario}, commands`)
  const observed = await observeCommands(connection, OBSERVED, () => client.sendAll(1, request))
  const copies = await copyRecords(connection, scenario, observed)
  const readCopies = () => plainClient.sendAll(requests, () => ({ method: 'GET', path: `/?${copies.join()}` }))
  const measures = { ours: () => useOf(connection, observed.names, send), plain: () => useOf(connection, ['mget'], readCopies) }
  const turns = { rounds, progress: (text: string) => progress(`${scenario}, ${text}`) }
  const { ours, plain } = await inTurns(['ours', 'plain'], turns, async (name) => {
    await prepare()
    return measures[name]()
  })
  const each = (uses: readonly RedisUse[], member: keyof RedisUse) => uses.map((use) => use[member] / requests)
  return {
    scenario,
    commands: observed.commands,
    inner: observed.inner,
    records: copies.length,
    cpu: spreadOf(each(ours, 'cpu')),
    mget: spreadOf(each(plain, 'cpu')),
    ratio: ratioOf(each(ours, 'cpu'), each(plain, 'cpu')),
    execution: spreadOf(each(ours, 'execution')),
    mgetExecution: spreadOf(each(plain, 'execution')),
  }
}

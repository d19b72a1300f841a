import { Redis } from 'ioredis'
import { startRedis } from '../support/redis.ts'
import { Client, type BenchRequest } from './client.ts'
import { cpuOf } from './filled-storage.ts'
import type { BenchTable, Effort, RequestRounds } from './report.ts'
import { inTurns } from './rounds.ts'
import { pin, ServerProcess } from './server-process.ts'
import { formatSpread, ratioOf, spreadOf } from './statistics.ts'
import { Workspace } from './workspace.ts'

const sizes: Readonly<Record<Effort, RequestRounds>> = {
  tiny: { rounds: 1, requests: 20 },
  quick: { rounds: 3, requests: 500 },
  default: { rounds: 9, requests: 2000 },
  full: { rounds: 15, requests: 3000 },
}
/** The rounds before those that count: a process still compiles code in them. */
const WARM_UP_ROUNDS = 3
/** What is on its way together shares system calls, so a request of many costs less than one of a few. */
const CONNECTIONS = [8, 64]

/** What a request may cost. */
interface Goals {
  /** CPU time of the service on Redis ÷ on memory */
  readonly service?: number
  /** CPU time of Redis in µs */
  readonly redis?: number
  /** CPU time of Redis ÷ CPU time of MGET for as many records */
  readonly mget?: number
}

const CHANGED = 'the same, a card changed before each'
const scenarios: Readonly<Record<string, Goals>> = {
  'GET account': {},
  'GET card': {},
  'list of 100 cards': { service: 1.5, mget: 3 },
  [CHANGED]: { service: 2.5 },
  'POST card': { service: 1.1, redis: 100 },
  'PATCH card': { service: 1.25, redis: 70 },
}

/** The CPU time of one request, in µs. */
interface Sample {
  readonly service: number
  readonly redis: number
}

/** What requests are sent to. */
interface Measured {
  /** Sends requests, or makes the reads that they are compared with, over so many connections. */
  send(count: number, scenario: string, connections: number): Promise<void>
  /** The CPU time so far, in µs. */
  cpu(): Promise<Sample>
  stop(): Promise<void>
}

export const redis: BenchTable = {
  name: 'redis',
  summary: 'CPU time of a request on Redis: of the service, beside memory, and of Redis, beside MGET',
  async measure(effort) {
    const server = await startRedis()
    pin(server.process.pid!)
    const connection = new Redis(server.url)
    const measured: Record<'memory' | 'redis' | 'mget', Measured> = {
      memory: await startService('memory', async () => 0),
      redis: await startService(server.url, () => cpuOf(connection)),
      mget: await recordsIn(connection),
    }
    try {
      return {
        title:
          'CPU time of a request in µs. MGET: the CPU time of Redis for the records of 100 cards and their board, without the service. Each ' +
          'ratio is the median of the ratios of the rounds.',
        head: ['request', 'connections', 'memory', 'service', 'service ÷ memory', 'goal', 'Redis', 'goal', 'Redis ÷ MGET', 'goal'],
        rows: await rowsOf(measured, sizes[effort]),
      }
    } finally {
      for (const one of Object.values(measured)) await one.stop()
      connection.disconnect()
      await server.stop()
    }
  },
}

async function rowsOf(measured: Readonly<Record<'memory' | 'redis' | 'mget', Measured>>, { rounds, requests }: RequestRounds) {
  const rows: string[][] = []
  const runs = Object.entries(scenarios).flatMap(([scenario, goals]) =>
    CONNECTIONS.map((connections) => ({ scenario, goals, connections })),
  )
  for (const { scenario, goals, connections } of runs) {
    const isList = goals.mget !== undefined || scenario === CHANGED
    const names = isList ? (['memory', 'redis', 'mget'] as const) : (['memory', 'redis'] as const)
    const turns = { rounds, warmUp: WARM_UP_ROUNDS, what: `${scenario}, ${connections} connections` }
    const samples = await inTurns(names, turns, (name) => sampleOf(measured[name], scenario, requests, connections))
    const [memory, service] = [samples.memory, samples.redis].map((all) => all.map((one) => one.service)) as [number[], number[]]
    const own = samples.redis.map((one) => one.redis)
    const mget = isList ? samples.mget.map((one) => one.redis) : undefined
    rows.push([
      scenario,
      String(connections),
      formatSpread(spreadOf(memory)),
      formatSpread(spreadOf(service)),
      formatSpread(ratioOf(service, memory), 2),
      goals.service === undefined ? '' : `≤ ${goals.service}`,
      formatSpread(spreadOf(own)),
      goals.redis === undefined ? '' : `≤ ${goals.redis}`,
      mget === undefined ? '' : formatSpread(ratioOf(own, mget), 2),
      goals.mget === undefined ? '' : `≤ ${goals.mget}`,
    ])
  }
  return rows
}

async function sampleOf(measured: Measured, scenario: string, count: number, connections: number): Promise<Sample> {
  const whole = await usedBy(measured, scenario, count, connections)
  // The writes between the lists are no part of the lists.
  const writes = scenario === CHANGED ? await usedBy(measured, 'PATCH card', count, connections) : { service: 0, redis: 0 }
  return { service: (whole.service - writes.service) / count, redis: (whole.redis - writes.redis) / count }
}

async function usedBy(measured: Measured, scenario: string, count: number, connections: number): Promise<Sample> {
  const before = await measured.cpu()
  await measured.send(count, scenario, connections)
  const after = await measured.cpu()
  return { service: after.service - before.service, redis: after.redis - before.redis }
}

/** @param cpuOfRedis in µs */
async function startService(storage: string, cpuOfRedis: () => Promise<number>): Promise<Measured> {
  const server = await ServerProcess.startService(storage, { args: ['--demo'] })
  const workspace = await Workspace.create(new Client(server.url, server.adminToken))
  const next = requestsIn(workspace)
  return {
    async send(count, scenario, connections) {
      if (scenario === 'POST card') await workspace.rotate(count)
      const client = new Client(server.url, server.adminToken, connections)
      await client.sendAll(scenario === CHANGED ? 2 * count : count, next[scenario]!)
      // The service closes connections that wait for their next turn.
      client.close()
    },
    cpu: async () => ({ service: (await server.usage()).cpu, redis: await cpuOfRedis() }),
    stop: () => server.stop(),
  }
}

/** The requests of each scenario. */
function requestsIn(workspace: Workspace): Record<string, () => BenchRequest> {
  const get = (path: string) => (): BenchRequest => ({ method: 'GET', path })
  const list = get(`/v1/boards/${workspace.board}/cards?limit=100`)
  let sent = 0
  return {
    'GET account': get('/v1/account'),
    'GET card': get(`/v1/cards/${workspace.cards[0]}`),
    'list of 100 cards': list,
    [CHANGED]: () => (sent++ % 2 === 0 ? workspace.changeCard() : list()),
    'POST card': () => workspace.newCard(),
    'PATCH card': () => workspace.changeCard(),
  }
}

/** Reads records of 100 cards and a board with MGET, so many at once as the service has connections. */
async function recordsIn(connection: Redis): Promise<Measured> {
  const [cards, boards] = await Promise.all(['card', 'board'].map((kind) => connection.keys(`lk:{*}:r:${kind}:*`)))
  const keys = [...cards!.slice(-100), boards![0]!]
  const client = connection.duplicate({ enableAutoPipelining: true })
  return {
    async send(count, scenario, connections) {
      if (scenario === 'PATCH card') return
      let sent = 0
      const lane = async (): Promise<void> => {
        while (sent++ < count) await client.mget(keys)
      }
      await Promise.all(Array.from({ length: connections }, lane))
    },
    cpu: async () => ({ service: 0, redis: await cpuOf(connection) }),
    stop: async () => client.disconnect(),
  }
}

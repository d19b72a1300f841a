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
  /** Sends requests, or makes the reads that they are compared with. */
  send(count: number, scenario: string): Promise<void>
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
          'CPU time of a request in µs, 8 connections. MGET: the CPU time of Redis for the records of 100 cards and their board, without the ' +
          'service. Each ratio is the median of the ratios of the rounds.',
        head: ['request', 'memory', 'service', 'service ÷ memory', 'goal', 'Redis', 'goal', 'Redis ÷ MGET', 'goal'],
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
  for (const [scenario, goals] of Object.entries(scenarios)) {
    const isList = goals.mget !== undefined || scenario === CHANGED
    const names = isList ? (['memory', 'redis', 'mget'] as const) : (['memory', 'redis'] as const)
    const turns = { rounds, warmUp: WARM_UP_ROUNDS, what: scenario }
    const samples = await inTurns(names, turns, (name) => sampleOf(measured[name], scenario, requests))
    const [memory, service] = [samples.memory, samples.redis].map((all) => all.map((one) => one.service)) as [number[], number[]]
    const own = samples.redis.map((one) => one.redis)
    const mget = isList ? samples.mget.map((one) => one.redis) : undefined
    rows.push([
      scenario,
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

async function sampleOf(measured: Measured, scenario: string, count: number): Promise<Sample> {
  const whole = await usedBy(measured, scenario, count)
  // The writes between the lists are no part of the lists.
  const writes = scenario === CHANGED ? await usedBy(measured, 'PATCH card', count) : { service: 0, redis: 0 }
  return { service: (whole.service - writes.service) / count, redis: (whole.redis - writes.redis) / count }
}

async function usedBy(measured: Measured, scenario: string, count: number): Promise<Sample> {
  const before = await measured.cpu()
  await measured.send(count, scenario)
  const after = await measured.cpu()
  return { service: after.service - before.service, redis: after.redis - before.redis }
}

/** @param cpuOfRedis in µs */
async function startService(storage: string, cpuOfRedis: () => Promise<number>): Promise<Measured> {
  const server = await ServerProcess.startService(storage, { args: ['--demo'] })
  const client = new Client(server.url, server.adminToken)
  const workspace = await Workspace.create(client)
  const next = requestsIn(workspace)
  return {
    async send(count, scenario) {
      if (scenario === 'POST card') await workspace.rotate(count)
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

/** Reads records of 100 cards and a board with MGET, over as many lanes as the service has connections. */
async function recordsIn(connection: Redis): Promise<Measured> {
  const [cards, boards] = await Promise.all(['card', 'board'].map((kind) => connection.keys(`lk:{*}:r:${kind}:*`)))
  const keys = [...cards!.slice(-100), boards![0]!]
  const client = connection.duplicate({ enableAutoPipelining: true })
  return {
    async send(count, scenario) {
      if (scenario === 'PATCH card') return
      let sent = 0
      const lane = async (): Promise<void> => {
        while (sent++ < count) await client.mget(keys)
      }
      await Promise.all(Array.from({ length: 8 }, lane))
    },
    cpu: async () => ({ service: 0, redis: await cpuOf(connection) }),
    stop: async () => client.disconnect(),
  }
}

import { Redis } from 'ioredis'
import { startCluster } from '../support/redis-cluster.ts'
import { startRedis } from '../support/redis.ts'
import { Client, type BenchRequest } from './client.ts'
import { cpuOf, fill, type Filled } from './filled-storage.ts'
import type { BenchTable, Effort, Report, RequestRounds } from './report.ts'
import { inTurns } from './rounds.ts'
import { ServerProcess } from './server-process.ts'
import { formatSpread, spreadOf } from './statistics.ts'
import { DESCRIPTION } from './workspace.ts'

const sizes: Readonly<Record<Effort, RequestRounds>> = {
  tiny: { rounds: 1, requests: 40 },
  quick: { rounds: 3, requests: 2000 },
  default: { rounds: 7, requests: 8000 },
  full: { rounds: 15, requests: 20_000 },
}
/** The rounds before those that count: a process still compiles code in them. */
const WARM_UP_ROUNDS = 2
const WORKSPACES = 6
const [BOARDS, CARDS_PER_BOARD] = [5, 100]
/** Connections of each workspace to each process. */
const CONNECTIONS = 2

/** A number of processes on a storage, which get the same requests. */
interface Deployment {
  /** @returns what it took */
  run(requests: number): Promise<Taken>
  stop(): Promise<void>
}

/** CPU time in µs, of all processes, and of all Redis servers; time in µs */
interface Taken {
  readonly service: number
  readonly redis: number
  readonly time: number
}

export const processes: BenchTable = {
  name: 'processes',
  summary: 'several processes on one Redis, and on a cluster of three masters',
  async measure(effort) {
    const { rounds, requests } = sizes[effort]
    const [single, cluster] = [await startRedis(), await startCluster()]
    const deployments: Record<string, Deployment> = {}
    try {
      const onOne = await fillAll(single.url)
      deployments['1 process, one Redis'] = await deploy(1, single.url, [single.url], onOne)
      deployments['4 processes, one Redis'] = await deploy(4, single.url, [single.url], onOne)
      const masters = cluster.nodes.map(({ url }) => url)
      deployments['4 processes, three masters'] = await deploy(4, cluster.url, masters, await fillAll(cluster.url))
      const names = Object.keys(deployments)
      const taken = await inTurns(names, { rounds, warmUp: WARM_UP_ROUNDS, what: 'mixed load' }, (name) => deployments[name]!.run(requests))
      return reportOf(taken, requests)
    } finally {
      for (const deployment of Object.values(deployments)) await deployment.stop()
      await single.stop()
      await cluster.stop()
    }
  },
}

function reportOf(taken: Readonly<Record<string, readonly Taken[]>>, requests: number): Report {
  const one = Object.values(taken)[0]!
  const rows = Object.entries(taken).map(([name, all]) => [
    name,
    formatSpread(spreadOf(all.map(({ time }) => requests / (time / 1_000_000)))),
    formatSpread(spreadOf(all.map(({ time }, i) => one[i]!.time / time)), 2),
    formatSpread(spreadOf(all.map(({ service }) => service / requests))),
    formatSpread(spreadOf(all.map(({ redis }) => redis / requests))),
    formatSpread(spreadOf(all.map(({ redis, time }) => (100 * redis) / time))),
  ])
  return {
    title:
      `${WORKSPACES} workspaces with ${BOARDS} boards of ${CARDS_PER_BOARD} cards each; 70 % lists of 100 cards, 20 % cards, 10 % changes of cards. ` +
      'CPU time of a request in µs, of all processes and of all Redis servers. The processes, Redis and the benchmark share all cores of the machine.',
    head: ['deployment', 'requests a second', '÷ 1 process', 'service', 'Redis', 'Redis: % of a core'],
    rows,
  }
}

function fillAll(url: string): Promise<readonly Filled[]> {
  const contents = { workspaces: 1, boards: BOARDS, cardsPerBoard: CARDS_PER_BOARD }
  return Promise.all(Array.from({ length: WORKSPACES }, () => fill(url, contents)))
}

async function deploy(count: number, storage: string, redisUrls: readonly string[], workspaces: readonly Filled[]): Promise<Deployment> {
  const servers = await Promise.all(Array.from({ length: count }, () => ServerProcess.startService(storage)))
  for (const server of servers) server.useAllCores()
  const connections = redisUrls.map((url) => new Redis(url))
  const lanes = servers.flatMap(({ url }) =>
    workspaces.map((filled) => ({ client: new Client(url, filled.token, CONNECTIONS), next: requestsIn(filled) })),
  )
  const cpu = async () => ({
    service: sum(await Promise.all(servers.map(async (server) => (await server.usage()).cpu))),
    redis: sum(await Promise.all(connections.map(cpuOf))),
  })
  return {
    async run(requests) {
      const [before, startedAt] = [await cpu(), performance.now()]
      await Promise.all(lanes.map(({ client, next }) => client.sendAll(Math.ceil(requests / lanes.length), next)))
      const [time, after] = [(performance.now() - startedAt) * 1000, await cpu()]
      // The service closes connections that wait for their next turn.
      for (const { client } of lanes) client.close()
      return { service: after.service - before.service, redis: after.redis - before.redis, time }
    },
    async stop() {
      for (const server of servers) await server.stop()
      for (const connection of connections) connection.disconnect()
    },
  }
}

/** Of ten requests, seven lists, two cards and a change. Each change has another title: one that changes nothing writes nothing. */
function requestsIn({ boards, cards }: Filled): () => BenchRequest {
  let sent = 0
  return () => {
    const turn = sent++
    const card = `/v1/cards/${cards[turn % cards.length]}`
    if (turn % 10 === 0)
      return { method: 'PATCH', path: card, body: { title: `Title ${process.hrtime.bigint()}`, description: DESCRIPTION } }
    if (turn % 10 <= 2) return { method: 'GET', path: card }
    return { method: 'GET', path: `/v1/boards/${boards[turn % boards.length]}/cards?limit=100` }
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort, freePortOfNode } from './ports.ts'
import { outputOf, spawnRedis, startRedis, type RedisServer } from './redis.ts'
import { poll } from './in-time.ts'

/** A cluster of three real nodes, each with a third of the slots. */
export interface RedisCluster {
  readonly nodes: readonly RedisServer[]
  readonly url: string
  stop(): Promise<void>
}

const SLOTS = 16_384

/** Starts a node of a cluster, without slots. */
export function startNode(options: readonly string[] = []): Promise<RedisServer> {
  return startRedis(['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', ...options], undefined, freePortOfNode)
}

export async function startCluster({ password = '' } = {}): Promise<RedisCluster> {
  const options = password === '' ? [] : ['--requirepass', password, '--masterauth', password]
  const nodes = await Promise.all(Array.from({ length: 3 }, () => startNode(options)))
  const clients = nodes.map(({ port }) => new Redis({ port, host: '127.0.0.1', ...(password === '' ? {} : { password }) }))
  const slots = Array.from({ length: SLOTS }, (_, slot) => slot)
  await Promise.all(
    clients.map((client, i) =>
      client.call('CLUSTER', 'ADDSLOTS', ...slots.slice(Math.floor((i * SLOTS) / 3), Math.floor(((i + 1) * SLOTS) / 3))),
    ),
  )
  for (const node of nodes) await clients[0]!.call('CLUSTER', 'MEET', '127.0.0.1', node.port)
  const complete = async (client: Redis): Promise<boolean> => {
    const info = String(await client.call('CLUSTER', 'INFO'))
    return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3') && info.includes('cluster_slots_assigned:16384')
  }
  for (const client of clients) {
    await poll('the nodes have not found each other', () => complete(client))
    client.disconnect()
  }
  const credentials = password === '' ? '' : `:${encodeURIComponent(password)}@`
  return {
    nodes,
    url: `redis-cluster://${credentials}${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  }
}

/** A sentinel that monitors a master and a replica. */
export interface SentinelRedis {
  readonly url: string
  /** Ends the master with SIGKILL, and lets the sentinel promote the replica. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

export async function startSentinel(): Promise<SentinelRedis> {
  const master = await startRedis()
  const replica = await startRedis(['--replicaof', '127.0.0.1', String(master.port)])
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-sentinel-'))
  const port = await freePort()
  const settings = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor lanekeeper 127.0.0.1 ${master.port} 1`,
    // It is told when to fail over. One that the system stops at the wrong moment never does by itself: it promotes no replica whose link
    // was down for ten times as long before the sentinel noticed it (redis 7.0).
    'sentinel down-after-milliseconds lanekeeper 600000',
    'sentinel failover-timeout lanekeeper 5000',
  ]
  await writeFile(join(folder, 'sentinel.conf'), `${settings.join('\n')}\n`)
  const child = spawnRedis([join(folder, 'sentinel.conf'), '--sentinel'], folder)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await outputOf(child, '+monitor')
  const sentinel = new Redis(port, '127.0.0.1')
  // A sentinel that the system stopped for two seconds ignores failures for 30 seconds by default, which is then too long. Redis 6 has no
  // other choice.
  await sentinel.call('SENTINEL', 'DEBUG', 'tilt-trigger', '60000', 'tilt-period', '1000').catch(() => undefined)
  await poll('the sentinel has found no replica', async () =>
    String(await sentinel.call('SENTINEL', 'REPLICAS', 'lanekeeper')).includes('master-link-status,ok'),
  )
  const masterPort = async () => ((await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'lanekeeper')) as string[])[1]
  return {
    url: `redis-sentinel://127.0.0.1:${port}/lanekeeper`,
    async failOver() {
      await master.kill()
      await poll('the sentinel has not promoted the replica', async () => {
        // Refused while a failover is in progress, and if the replica has not answered for a while.
        await sentinel.call('SENTINEL', 'FAILOVER', 'lanekeeper').catch(() => undefined)
        return (await masterPort()) === String(replica.port)
      })
    },
    async stop() {
      sentinel.disconnect()
      child.kill('SIGKILL')
      await exited
      await Promise.all([master.stop(), replica.stop()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { startRedis } from '../support/redis.ts'
import { Client } from './client.ts'
import { pin, ServerProcess, startScript } from './server-process.ts'

export type FilledDriver = 'memory' | 'fs' | 'redis'

/** What a storage is filled with. */
export interface Contents {
  readonly workspaces: number
  /** in each workspace */
  readonly boards: number
  readonly cardsPerBoard: number
}

/** What `servers/fill.js` sends. */
export interface Filled {
  /** the length of the JSON of boards, columns and cards */
  readonly jsonBytes: number
  readonly cards: readonly string[]
  readonly boards: readonly string[]
  /** of the last workspace, with every scope */
  readonly token: string
}

/** A service on a storage that was filled. */
export interface FilledService {
  readonly filled: Filled
  readonly client: Client
  /** CPU time in microseconds, including Redis */
  cpu(): Promise<number>
  /** memory of the process that holds the records, in bytes */
  memory(): Promise<number>
  stop(): Promise<void>
}

/** Without garbage, memory can be compared. */
const EXPOSE_GC = ['--expose-gc']

/** Fills a storage and starts a service on it. */
export function startFilled(driver: FilledDriver, contents: Contents): Promise<FilledService> {
  if (driver === 'memory') return startInMemory(contents)
  return driver === 'fs' ? startOnFolder(contents) : startOnRedis(contents)
}

/** Writes records to an empty storage. */
export async function fill(address: string, { workspaces, boards, cardsPerBoard }: Contents): Promise<Filled> {
  return (await startScript<Filled>('fill', [address, ...[workspaces, boards, cardsPerBoard].map(String)])).message
}

async function startInMemory({ workspaces, boards, cardsPerBoard }: Contents): Promise<FilledService> {
  const args = ['memory', ...[workspaces, boards, cardsPerBoard].map(String)]
  const started = await startScript<Filled & { url: string }>('fill', args, EXPOSE_GC)
  return serviceOn(ServerProcess.of(started), started.message, async () => undefined)
}

async function startOnFolder(contents: Contents): Promise<FilledService> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-bench-'))
  const filled = await fill(`fs:${folder}`, contents)
  const service = await ServerProcess.startService(`fs:${folder}`, { execArgv: EXPOSE_GC })
  return serviceOn(service, filled, () => rm(folder, { recursive: true, force: true }))
}

async function startOnRedis(contents: Contents): Promise<FilledService> {
  const server = await startRedis()
  pin(server.process.pid!)
  const filled = await fill(server.url, contents)
  const service = await ServerProcess.startService(server.url)
  const connection = new Redis(server.url)
  const started = serviceOn(service, filled, async () => {
    connection.disconnect()
    await server.stop()
  })
  return {
    ...started,
    cpu: async () => (await started.cpu()) + (await cpuOf(connection)),
    memory: () => infoOf(connection, 'memory', 'used_memory'),
  }
}

/** A number that Redis tells about itself. */
async function infoOf(connection: Redis, section: string, name: string): Promise<number> {
  return Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(await connection.info(section))![1])
}

/** The CPU time of a Redis so far, in microseconds. */
export async function cpuOf(connection: Redis): Promise<number> {
  return ((await infoOf(connection, 'cpu', 'used_cpu_user')) + (await infoOf(connection, 'cpu', 'used_cpu_sys'))) * 1_000_000
}

function serviceOn(service: ServerProcess, filled: Filled, cleanUp: () => Promise<void>): FilledService {
  const client = new Client(service.url, filled.token)
  return {
    filled,
    client,
    cpu: async () => (await service.usage()).cpu,
    memory: async () => (await service.usage('memory')).rss,
    async stop() {
      client.close()
      await service.stop()
      await cleanUp()
    },
  }
}

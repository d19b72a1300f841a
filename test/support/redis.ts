import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './ports.ts'
import { missingProgram, redisProgram } from './programs.ts'
import { ownProcess } from './run.ts'

const MAX_ATTEMPTS = 5
/** The number of databases of the Redis that suites share. An address can name four digits. */
export const DATABASES = 9999
/** A redis-server for tests, on a free port of the loopback interface. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  readonly process: ChildProcess
  /** Ends it with SIGKILL and keeps its data. */
  kill(): Promise<void>
  /** Starts it again on the same port, with the data that it left. */
  restart(otherOptions?: readonly string[]): Promise<RedisServer>
  /** Ends it with SIGKILL and removes its data. */
  stop(): Promise<void>
}

/**
 * Starts a redis-server.
 * @param attemptOptions further options, created for each attempt
 * @throws {Error} when it is not installed
 */
export async function startRedis(
  options: readonly string[] = [],
  attemptOptions: () => Promise<readonly string[]> = async () => [],
  findPort = freePort,
): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-redis-'))
  for (let attempt = 1; ; attempt++) {
    try {
      return await launch([...options, ...(await attemptOptions())], await findPort(), folder)
    } catch (error) {
      // Another process may have taken the port in the meantime.
      if (attempt === MAX_ATTEMPTS || (error as NodeJS.ErrnoException).code === 'ENOENT') throw error
    }
  }
}

async function launch(options: readonly string[], port: number, folder: string): Promise<RedisServer> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no', ...options]
  const child = spawnRedis(args, folder)
  await outputOf(child, 'Ready to accept connections')
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    process: child,
    kill,
    restart: (otherOptions = options) => launch(otherOptions, port, folder),
    async stop() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Starts redis-server with its working directory in the folder of the run. */
export function spawnRedis(args: readonly string[], folder: string): ChildProcess {
  return ownProcess(spawn(redisProgram(), args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] }))
}

/** Waits until a redis-server has printed a text. @throws {Error} when it ends before, or is not installed */
export function outputOf(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout!.on('data', (data: Buffer) => void ((output += data.toString()).includes(text) && resolve()))
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? Object.assign(missingProgram('redis-server'), { code: 'ENOENT' }) : error),
    )
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${output}`)))
  })
}

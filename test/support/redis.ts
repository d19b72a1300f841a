import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'

const MAX_ATTEMPTS = 5
const INSTALL = 'apt-get update && apt-get install -y redis-server'

/** Checks that redis-server is installed. Installs the Debian package when running as root. @throws {Error} with instructions */
export function requireRedis(): void {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
  } catch {
    if (process.getuid?.() !== 0) throw new Error(`The tests require redis-server. Install it:  sudo sh -c '${INSTALL}'`)
    execFileSync('sh', ['-c', `${INSTALL} >/dev/null`], { stdio: 'inherit' })
  }
}

/** A redis-server for tests, on a free port of the loopback interface. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  readonly process: ChildProcess
  /** Ends it with SIGKILL and keeps its data. */
  kill(): Promise<void>
  /** Starts it again on the same port, with the data that it left. */
  restart(): Promise<RedisServer>
  /** Ends it with SIGKILL and removes its data. */
  stop(): Promise<void>
}

/** Starts a redis-server. @param attemptOptions further options, created for each attempt */
export async function startRedis(
  options: readonly string[] = [],
  attemptOptions: () => Promise<readonly string[]> = async () => [],
): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-redis-'))
  for (let attempt = 1; ; attempt++) {
    try {
      return await launch([...options, ...(await attemptOptions())], await freePort(), folder)
    } catch (error) {
      // Another process may have taken the port in the meantime.
      if (attempt === MAX_ATTEMPTS) throw error
    }
  }
}

async function launch(options: readonly string[], port: number, folder: string): Promise<RedisServer> {
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no', ...options],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', (text: Buffer) => void (text.toString().includes('Ready to accept connections') && resolve()))
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)))
  })
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
    restart: () => launch(options, port, folder),
    async stop() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** The URL of the Redis that all suites share. Each store uses a separate key prefix. */
export async function sharedRedis(): Promise<string> {
  return inject('redisUrl' as never) as string
}

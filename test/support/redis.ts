import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'

const INSTALL = 'apt-get update && apt-get install -y redis-server'

/** Makes sure that there is a redis-server: installs Debian's where that can be done, else says how. */
export function requireRedis(): void {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
  } catch {
    if (process.getuid?.() !== 0) throw new Error(`The tests need redis-server. Install it:  sudo sh -c '${INSTALL}'`)
    execFileSync('sh', ['-c', `${INSTALL} >/dev/null`], { stdio: 'inherit' })
  }
}

/** A redis-server of the tests' own, on a free port of the loopback interface. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  readonly process: ChildProcess
  /** Ends it at once, with SIGKILL, and leaves what it wrote. */
  kill(): Promise<void>
  /** Starts it again, where it was, on what it left. */
  restart(): Promise<RedisServer>
  /** Ends it at once, and removes what it wrote. */
  stop(): Promise<void>
}

/** @param more further options, made anew for each attempt */
export async function startRedis(
  options: readonly string[] = [],
  more: () => Promise<readonly string[]> = async () => [],
): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-redis-'))
  for (let attempt = 1; ; attempt++) {
    try {
      return await launch([...options, ...(await more())], await freePort(), folder)
    } catch (error) {
      // A port that was free a moment ago may be another's by now.
      if (attempt === 5) throw error
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

/** The one Redis that all suites share; each has a prefix of its own there. */
export async function sharedRedis(): Promise<string> {
  return inject('redisUrl' as never) as string
}

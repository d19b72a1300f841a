import { fork, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

/** The use of a process so far: CPU time in microseconds, resident memory in bytes. */
export interface Usage {
  readonly cpu: number
  readonly rss: number
}

/** Whether measured processes can have a core of their machine that the benchmark does not use. */
const pins = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

/** What the report says about it. */
export const pinning = pins ? 'the server on the last core' : 'not pinned'

/** A measured server in a separate process. */
export class ServerProcess {
  readonly url: string
  /** of the service: a token with every scope */
  readonly adminToken: string
  readonly #child: ChildProcess

  private constructor(url: string, child: ChildProcess, adminToken = '') {
    this.url = url
    this.#child = child
    this.adminToken = adminToken
  }

  /** Starts one of `servers/`. It sends its URL when it listens. */
  static async start(name: string): Promise<ServerProcess> {
    const child = forkMeasured(fileURLToPath(new URL(`servers/${name}.js`, import.meta.url)), [], 'ignore')
    const [{ url }] = (await once(child, 'message')) as [{ url: string }]
    return new ServerProcess(url, child)
  }

  /** Starts the built service. Requests are authenticated, authorized and counted as usual; the quotas are too high to matter. */
  static async startService(storage: string, extra: readonly string[] = []): Promise<ServerProcess> {
    const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
    const quota = String(1_000_000_000)
    const env = { PORT: '0', LANEKEEPER_TOKEN_RATE: quota, LANEKEEPER_WORKSPACE_RATE: quota, LANEKEEPER_LOG: 'error' }
    const child = forkMeasured(main, ['--json', '--storage', storage, ...extra], 'pipe', env)
    let text = ''
    for await (const part of child.stdout!) if ((text += part).includes('\n')) break
    const { url, tokens } = JSON.parse(text) as { url: string; tokens: { scopes: string[]; state: string; token: string }[] }
    const admin = tokens.find(({ scopes, state }) => state === 'active' && scopes.includes('kanban:admin'))!
    return new ServerProcess(url, child, admin.token)
  }

  async usage(): Promise<Usage> {
    this.#child.send('usage')
    const [usage] = (await once(this.#child, 'message')) as [Usage]
    return usage
  }

  async stop(): Promise<void> {
    this.#child.kill()
    if (this.#child.exitCode === null) await once(this.#child, 'exit')
  }
}

function forkMeasured(file: string, args: readonly string[], stdout: 'ignore' | 'pipe', env: Record<string, string> = {}): ChildProcess {
  const usage = fileURLToPath(new URL('servers/usage.js', import.meta.url))
  const child = fork(file, args, {
    execArgv: ['--import', usage],
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', stdout, 'inherit', 'ipc'],
  })
  if (pins) spawnSync('taskset', ['-a', '-p', '-c', String(availableParallelism() - 1), String(child.pid)], { stdio: 'ignore' })
  return child
}

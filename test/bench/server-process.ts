import { fork, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownProcess, runFolder } from '../support/run.ts'

/** The use of a process so far: CPU time in microseconds, resident memory in bytes. */
export interface Usage {
  readonly cpu: number
  readonly rss: number
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Whether measured processes can have a core of their machine that the benchmark does not use. */
const pins = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0
const core = String(availableParallelism() - 1)

/** What the report says about it. */
export const pinning = pins ? 'measured processes on the last core' : 'not pinned'

/** Keeps a process on the core of the measured processes. */
export function pin(pid: number, to = core): void {
  if (pins) spawnSync('taskset', ['-a', '-p', '-c', to, String(pid)], { stdio: 'ignore' })
}

interface ServiceOptions {
  readonly args?: readonly string[]
  /** of Node.js */
  readonly execArgv?: readonly string[]
  /** variables of the environment */
  readonly settings?: Readonly<Record<string, string>>
  /** where it was built; default: here */
  readonly folder?: string
}

/** A measured process. */
export class ServerProcess {
  readonly url: string
  /** of a service with the demo data: a token with every scope */
  readonly adminToken: string
  /** the demo data's users, who can sign in */
  readonly people: readonly { readonly email: string; readonly password: string }[]
  readonly #child: ChildProcess

  private constructor(url: string, child: ChildProcess, adminToken = '', people: ServerProcess['people'] = []) {
    this.url = url
    this.#child = child
    this.adminToken = adminToken
    this.people = people
  }

  /** Starts one of `servers/`. It sends its URL when it listens. */
  static async start(name: string, args: readonly string[] = []): Promise<ServerProcess> {
    return ServerProcess.of(await startScript<{ url: string }>(name, args))
  }

  /** A script that listens. */
  static of({ child, message: { url } }: StartedScript<{ url: string }>): ServerProcess {
    return new ServerProcess(url, child)
  }

  /** Starts the built service. Requests are authenticated, authorized and counted as usual; the quotas are too high to matter. */
  static async startService(
    storage: string,
    { args = [], execArgv = [], settings: further = {}, folder = ROOT }: ServiceOptions = {},
  ): Promise<ServerProcess> {
    const main = join(folder, 'dist/lanekeeper.js')
    const quota = String(1_000_000_000)
    const settings = { PORT: '0', LANEKEEPER_TOKEN_RATE: quota, LANEKEEPER_WORKSPACE_RATE: quota, LANEKEEPER_LOG: 'error', ...further }
    const child = forkMeasured(main, ['--json', '--storage', storage, ...args], 'pipe', settings, execArgv)
    let text = ''
    for await (const part of child.stdout!) if ((text += part).includes('\n')) break
    if (text === '') throw new Error('the service has ended before it listened')
    const { url, tokens, people } = JSON.parse(text) as {
      url: string
      tokens: { scopes: string[]; state: string; token: string }[]
      people: { email: string; password: string }[]
    }
    const admin = tokens.find(({ scopes, state }) => state === 'active' && scopes.includes('kanban:admin'))
    return new ServerProcess(url, child, admin?.token, people)
  }

  /** From now on it is not measured, and leaves its core to those that are. */
  unpin(): void {
    pin(this.#child.pid!, '0')
  }

  /** From now on it shares all cores with the others. */
  useAllCores(): void {
    pin(this.#child.pid!, `0-${core}`)
  }

  /** @param question `memory`: after a collection of garbage, if the process was started with --expose-gc */
  async usage(question: 'usage' | 'memory' = 'usage'): Promise<Usage> {
    this.#child.send(question)
    const [usage] = (await once(this.#child, 'message')) as [Usage]
    return usage
  }

  /** The CPU time that the process takes meanwhile, in microseconds. */
  async cpuOf(work: () => Promise<unknown>): Promise<number> {
    const before = await this.usage()
    await work()
    return (await this.usage()).cpu - before.cpu
  }

  async stop(): Promise<void> {
    this.#child.kill()
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit')
  }
}

/** One of `servers/`, and its first message. */
interface StartedScript<Message> {
  readonly child: ChildProcess
  readonly message: Message
}

/** Starts one of `servers/` and waits for its first message. @throws {Error} if it ends before */
export async function startScript<Message>(
  name: string,
  args: readonly string[] = [],
  execArgv: readonly string[] = [],
): Promise<StartedScript<Message>> {
  const child = forkMeasured(fileURLToPath(new URL(`servers/${name}.js`, import.meta.url)), args, 'ignore', {}, execArgv)
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${name}.js has ended with ${code ?? signal}`)
  })
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [Message]
  ended.catch(() => undefined)
  return { child, message }
}

function forkMeasured(
  file: string,
  args: readonly string[],
  stdout: 'ignore' | 'pipe',
  env: Readonly<Record<string, string>>,
  execArgv: readonly string[] = [],
): ChildProcess {
  const usage = fileURLToPath(new URL('servers/usage.js', import.meta.url))
  const own = [...execArgv, '--import', usage]
  // taskset replaces itself by the process, which is so pinned from its beginning.
  const command = pins ? { execPath: 'taskset', execArgv: ['-c', core, process.execPath, ...own] } : { execArgv: own }
  return ownProcess(
    // In the folder of the run, a process is ended with the run.
    fork(file, args, {
      ...command,
      cwd: runFolder(),
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', stdout, 'inherit', 'ipc'],
    }),
  )
}

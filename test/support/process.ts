import { execFile, fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { inTime } from './in-time.ts'
import { ownProcess, runFolder } from './run.ts'

/** The built service with its commands. */
export const main: string = fileURLToPath(new URL('../../dist/lanekeeper.js', import.meta.url))

/** A process that has little to do saves a fifth of its CPU time without the optimizing compiler. */
const UNOPTIMIZED = '--no-opt'
/** How long a test waits for a process, in milliseconds. */
const PROCESS_BOUND = 300_000

/** @throws {Error} when this run could not build the service: `dist` may then be an old one */
export function requireBuild(): void {
  const error = inject('buildError')
  if (error !== undefined) throw new Error(error)
}

/** The service in a separate process. */
export interface RunningProcess {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  /** Waits until stdout contains a text. @throws {Error} when the process ends before */
  until(text: string | RegExp): Promise<string>
  /** Sends a signal, SIGTERM by default, and waits for the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/**
 * Starts the service on a free port.
 * @param underLoad whether it answers many requests, and needs optimized code
 * @param program the file that is run
 * @param descriptors how many files and connections it may have open
 */
export function startProcess(
  args: readonly string[],
  env: Record<string, string> = {},
  { underLoad = false, program = main, descriptors = undefined as number | undefined } = {},
): RunningProcess {
  requireBuild()
  const command = [process.execPath, ...(underLoad ? [] : [UNOPTIMIZED]), program, ...args]
  const limited = descriptors === undefined ? command : ['sh', '-c', `ulimit -n ${descriptors} && exec "$@"`, 'sh', ...command]
  const child = ownProcess(
    spawn(limited[0]!, limited.slice(1), {
      cwd: runFolder(),
      // Suites send more requests with one token than a client does.
      env: { PATH: process.env['PATH'], PORT: '0', LANEKEEPER_RATE_LIMITS: 'off', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  const output = { stdout: '', stderr: '' }
  const listeners = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
      for (const listener of listeners) listener()
    })
  }
  const exited = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)))
  return {
    child,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    until(text) {
      const printed = new Promise<string>((resolve, reject) => {
        const check = (): void => {
          if (typeof text === 'string' ? output.stdout.includes(text) : text.test(output.stdout)) resolve(output.stdout)
        }
        listeners.add(check)
        check()
        void exited.then((code) => reject(new Error(`the process ended with ${code}: ${output.stderr}`)))
      })
      return inTime(printed, () => `the process has not printed ${text}: ${output.stdout} ${output.stderr}`, PROCESS_BOUND)
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return inTime(exited, () => `the process has not ended after ${signal}: ${output.stderr}`, PROCESS_BOUND)
    },
  }
}

/** A service that has started. */
export interface StartedService extends RunningProcess {
  readonly url: string
  /** what it has printed: also the demo data, if this start has created it */
  readonly world: any
}

/** Starts the service with `--json`, and waits for what it prints. */
export async function startService(
  args: readonly string[] = [],
  env: Record<string, string> = {},
  options: Parameters<typeof startProcess>[2] = {},
): Promise<StartedService> {
  const service = startProcess(['serve', '--json', ...args], env, options)
  const world = JSON.parse((await service.until('\n')).split('\n')[0]!) as { readonly url: string }
  return { ...service, url: world.url, world }
}

/** The result of an operator command. */
export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command in a separate process, with a text on its stdin. */
export function runCommandLine(args: readonly string[], env: Record<string, string> = {}, stdin = ''): Promise<CommandResult> {
  requireBuild()
  return new Promise((resolve) => {
    const child = ownProcess(
      execFile(
        process.execPath,
        [UNOPTIMIZED, main, ...args],
        { cwd: runFolder(), env: { PATH: process.env['PATH'], ...env } as NodeJS.ProcessEnv, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      ),
    )
    child.stdin!.on('error', () => undefined).end(stdin)
  })
}

/** Functions for a shell that make `npx lanekeeper` and `lanekeeper` run the built service. */
const SHELL_FUNCTIONS = `lanekeeper() { "$NODE" "$MAIN" "$@"; }
npx() { test "$1" = lanekeeper || { echo "npx $1 is not expected" >&2; return 1; }; shift; lanekeeper "$@"; }
`

/** Runs commands of a document in a folder, until one fails. @throws {Error} if one fails */
export function runScript(script: string, cwd: string, env: Record<string, string> = {}): Promise<{ stdout: string; stderr: string }> {
  requireBuild()
  const all = { PATH: process.env['PATH'], NODE: process.execPath, MAIN: main, ...env }
  return promisify(execFile)('bash', ['--noprofile', '--norc', '-euc', `${SHELL_FUNCTIONS}${script}`], {
    cwd,
    env: all as unknown as NodeJS.ProcessEnv,
  })
}

/** Starts a process that runs commands one after the other. @param program with its first arguments */
function startCommands([execPath, ...execArgv]: readonly string[]) {
  requireBuild()
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as never
  const options = { execPath, execArgv, cwd: runFolder(), env: { PATH: process.env['PATH'] }, stdio }
  const child = ownProcess(fork(fileURLToPath(new URL('command-host.js', import.meta.url)), [], options as never))
  const exited = once(child, 'exit').then(() => Promise.reject(new Error('the process of the commands has ended')))
  exited.catch(() => undefined)
  return {
    child,
    async run(args: readonly string[], env: Record<string, string>): Promise<CommandResult> {
      child.send({ args, env })
      const answered = Promise.race([once(child, 'message'), exited])
      const [result] = await inTime(answered, () => `the command ${args.join(' ')} has not ended`, PROCESS_BOUND)
      return result as CommandResult
    },
  }
}

/** Shared by all suites of a worker. */
let shared: ReturnType<typeof startCommands> | undefined

/**
 * Runs commands one after the other in one process, which is ten times as fast as a process for each: most of the time of a command is
 * the loading of modules. They get no stdin.
 */
export class CommandHost {
  readonly #env: Record<string, string>
  readonly #program: readonly string[] | undefined
  #own: typeof shared

  /** @param program a program with its first arguments, which replaces itself by Node.js; default: the process of all suites */
  constructor(env: Record<string, string> = {}, program?: readonly string[]) {
    this.#env = env
    this.#program = program
  }

  run(args: readonly string[], env = this.#env): Promise<CommandResult> {
    if (this.#program === undefined) return (shared ??= startCommands([process.execPath])).run(args, env)
    return (this.#own ??= startCommands(this.#program)).run(args, env)
  }

  /** Ends the process of its own program. */
  stop(): void {
    this.#own?.child.kill()
  }
}

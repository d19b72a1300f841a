import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** The service as a process of its own. */
export interface Running {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  /** Waits until stdout has a text. */
  until(text: string | RegExp): Promise<string>
  /** Sends a signal, SIGTERM by default, and waits for the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Starts it on a free port, with this command line and environment. */
export function startProcess(args: readonly string[] = [], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
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
      return new Promise((resolve, reject) => {
        const check = (): void => {
          if (typeof text === 'string' ? output.stdout.includes(text) : text.test(output.stdout)) resolve(output.stdout)
        }
        listeners.add(check)
        check()
        void exited.then((code) => reject(new Error(`it ended with ${code}: ${output.stderr}`)))
      })
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return exited
    },
  }
}

/** What a command of the operator came to. */
export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Has a command done by a process of its own, with this text on its stdin. */
export function runCommandLine(args: readonly string[], env: Record<string, string> = {}, stdin = ''): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [main, ...args],
      { env: { PATH: process.env['PATH'], ...env } as NodeJS.ProcessEnv, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
    child.stdin!.on('error', () => undefined).end(stdin)
  })
}

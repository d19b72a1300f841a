import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inTime } from '../../support/in-time.ts'
import { requireBuild } from '../../support/process.ts'
import { freePort } from '../../support/ports.ts'
import { ownProcess, runFolder } from '../../support/run.ts'
import type { Way, WorkerEvent } from './oracle.ts'

const DAY = 24 * 60 * 60 * 1000
/** How long a test waits for a process, in milliseconds. */
const BOUND = 300_000
/** How often a process of the service is started until one goes on. */
const ATTEMPTS = 3

/** A token with its id. */
export interface FleetToken {
  readonly id: string
  readonly plaintext: string
}

function start(script: string, args: readonly string[], stderr: 'inherit' | 'pipe' = 'inherit'): ChildProcess {
  requireBuild()
  const file = fileURLToPath(new URL(script, import.meta.url))
  const env = { PATH: process.env['PATH'] }
  return ownProcess(fork(file, args, { cwd: runFolder(), execArgv: [], env, stdio: ['ignore', 'inherit', stderr, 'ipc'] }))
}

/** Waits until a process of the service ends. @returns how it ended, and what it printed */
async function reasonOfEnd(child: ChildProcess): Promise<string> {
  const [[code, signal], printed] = await Promise.all([once(child, 'exit'), text(child.stderr!)])
  return `the service has ended with ${signal ?? `exit code ${code}`}: ${printed}`
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Processes of the service on one storage, whose clocks the test moves. */
export class Services {
  readonly #address: string
  readonly #clockFile: string
  readonly #skews: readonly number[]
  readonly #ports: number[] = []
  readonly #children: ChildProcess[] = []
  #ahead = 0

  /** @param skews for each process, by how much its clock is ahead, in milliseconds */
  private constructor(address: string, folder: string, skews: readonly number[]) {
    this.#address = address
    this.#clockFile = join(folder, 'clock')
    this.#skews = skews
    this.advance(0)
  }

  /** @returns the processes, and as many tokens of one workspace */
  static async start(address: string, folder: string, skews: readonly number[], tokenCount: number) {
    const services = new Services(address, folder, skews)
    while (services.#ports.length < skews.length) services.#ports.push(await freePort())
    const tokens = await services.#start(0, tokenCount)
    for (let i = 1; i < skews.length; i++) await services.#start(i)
    return { services, tokens }
  }

  get urls(): readonly string[] {
    return this.#ports.map((port) => `http://127.0.0.1:${port}`)
  }

  /** Moves the clocks of all processes. */
  advance(milliseconds: number): void {
    this.#ahead += milliseconds
    writeFileSync(`${this.#clockFile}.next`, String(this.#ahead))
    renameSync(`${this.#clockFile}.next`, this.#clockFile)
  }

  /** Ends a process with SIGKILL, and starts it again. */
  async restart(i: number): Promise<void> {
    await kill(this.#children[i]!)
    await this.#start(i)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.map(kill))
  }

  /** Starts a process, again if it ends by itself: as a supervisor does. The drills are about what it does when it runs. */
  async #start(i: number, tokenCount = 0): Promise<FleetToken[]> {
    const given = [this.#address, this.#clockFile, ...[this.#skews[i], this.#ports[i], tokenCount].map(String)]
    for (let attempt = 1; ; attempt++) {
      const child = start('service.js', given, 'pipe')
      this.#children[i] = child
      const first = await inTime(Promise.race([once(child, 'message'), reasonOfEnd(child)]), () => 'the service has not started', BOUND)
      if (typeof first !== 'string') return (first[0] as { tokens: FleetToken[] }).tokens
      if (attempt === ATTEMPTS) throw new Error(first)
      console.error(first)
    }
  }
}

/** What a worker is told to do with a card that it has taken. */
export interface Order {
  readonly way: Way
  readonly retry_after?: number
  /** whether it kills itself while its last request is on its way */
  readonly dies?: boolean
}

/** A process that takes cards of a board (see worker.js). */
export class Worker {
  readonly token: FleetToken
  readonly #child: ChildProcess
  readonly #logFile: string

  /** @param number of the worker: every second clock is ahead by a day, the others are behind */
  constructor(
    number: number,
    token: FleetToken,
    folder: string,
    at: { readonly urls: readonly string[]; readonly board: string },
    { onEvent, onExit }: { onEvent: (event: WorkerEvent) => void; onExit: (signal: string | null) => void },
  ) {
    this.token = token
    this.#logFile = join(folder, `worker-${number}.log`)
    writeFileSync(this.#logFile, '')
    const clockError = number % 2 === 0 ? DAY : -DAY
    this.#child = start('worker.js', [JSON.stringify({ ...at, token: token.plaintext, logFile: this.#logFile, clockError })])
    this.#child.on('message', onEvent)
    this.#child.on('exit', (_code, signal) => onExit(signal))
  }

  /** Lets it go on after it has taken a card. */
  goOn(order: Order = { way: 'complete' }): void {
    // It may have been killed a moment ago.
    if (this.#child.connected) this.#child.send(order, () => undefined)
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal)
  }

  kill(): Promise<void> {
    return kill(this.#child)
  }

  /** What it has done so far. It outlives the process. */
  log(): WorkerEvent[] {
    const lines = readFileSync(this.#logFile, 'utf8').split('\n')
    return lines.slice(0, -1).map((line) => JSON.parse(line) as WorkerEvent)
  }
}

/** Sends requests of the test until they are answered. */
export function insistOn(urls: readonly string[], { plaintext }: FleetToken) {
  return async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    for (;;) {
      const url = urls[Math.floor(Math.random() * urls.length)]!
      const sent = {
        method,
        headers: { authorization: `Bearer ${plaintext}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }
      const response = await fetch(`${url}/v1${path}`, sent).catch(() => undefined)
      const text = await response?.text().catch(() => undefined)
      if (response !== undefined && text !== undefined && response.status !== 503)
        return { status: response.status, etag: response.headers.get('etag'), body: JSON.parse(text) }
      await delay(20)
    }
  }
}

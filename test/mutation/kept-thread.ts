import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { PoolOptions, PoolWorker, TestProject, WorkerRequest } from 'vitest/node'

/** After so many runs a thread ends, and with it what mutants have left in its modules. */
const RUNS = 50

/** A thread between two runs, with the modules that it has loaded. */
let kept: { readonly thread: Worker; readonly runs: number } | undefined

/** Lets the suites of a project run in a thread that stays, so that the service is not loaded anew for each mutant. */
export function keepThread({ config }: TestProject): void {
  const name = 'kept thread'
  config.pool = name
  config.poolRunner = { name, createPoolWorker: (options) => new KeptThread(name, options) }
}

/** Runs suites as the thread of vitest does, which ends after each run of Stryker. This one is handed to the next run. */
class KeptThread implements PoolWorker {
  readonly name: string
  readonly #options: PoolOptions
  #thread!: Worker
  #runs = 0
  #finished = false

  constructor(name: string, options: PoolOptions) {
    this.name = name
    this.#options = options
  }

  async start(): Promise<void> {
    const { distPath, env, execArgv } = this.#options
    const { thread, runs } = kept ?? { thread: new Worker(join(distPath, 'workers/threads.js'), { env, execArgv }), runs: 0 }
    kept = undefined
    this.#thread = thread
    this.#runs = runs + 1
  }

  send(message: WorkerRequest): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    if (message.type !== 'stop') return this.#thread.postMessage(message)
    // The thread is not told: once stopped it would take no further request.
    this.#finished = true
    setImmediate(() => this.#thread.emit('message', { type: 'stopped', __vitest_worker_response__: true }))
  }

  async stop(): Promise<void> {
    if (this.#finished && this.#runs < RUNS) kept = { thread: this.#thread, runs: this.#runs }
    else await this.#thread.terminate()
  }

  on(event: string, callback: (data: unknown) => void): void {
    this.#thread.on(event, callback)
  }
  off(event: string, callback: (data: unknown) => void): void {
    this.#thread.off(event, callback)
  }
  deserialize(data: unknown): unknown {
    return data
  }
}

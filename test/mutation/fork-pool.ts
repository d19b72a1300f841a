import { fork, type ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { PoolOptions, PoolRunnerInitializer, PoolWorker, WorkerRequest } from 'vitest/node'

/** After this many runs a new process is started: what killed tests left behind adds up. */
const MAX_RUNS = 200

/**
 * A pool of vitest with one process that stays. The packages that the tests import are loaded once, which takes longer than most
 * mutants do. The modules of the project are evaluated again for each suite (the option `isolate`).
 */
export class ForkPool implements PoolRunnerInitializer {
  readonly name = 'one-fork'
  #env: NodeJS.ProcessEnv = {}
  #fork: ChildProcess | undefined
  #runs = 0

  /** Sets environment variables. A process with others is ended. */
  setEnvironment(env: NodeJS.ProcessEnv): void {
    if (!isDeepStrictEqual(env, this.#env)) this.kill()
    this.#env = env
  }

  /** Ends the process, even if it is in a loop. The next run starts another one. */
  kill(): void {
    this.#fork?.kill('SIGKILL')
    this.#fork = undefined
  }

  createPoolWorker(options: PoolOptions): PoolWorker {
    const listeners: [event: string, callback: (value: unknown) => void][] = []
    let process: ChildProcess
    let isReused = false
    // To vitest each run has a new process: it is started and stopped by messages, which the process that stays does not get.
    const answer = (type: string) =>
      queueMicrotask(() => process.emit('message', { __vitest_worker_response__: true, type }, undefined as never))
    return {
      name: this.name,
      start: async () => {
        if (this.#runs++ % MAX_RUNS === MAX_RUNS - 1) this.kill()
        isReused = this.#fork !== undefined
        process = this.#fork ??= this.#launch(options)
      },
      stop: async () => {
        for (const [event, callback] of listeners) process.off(event, callback)
      },
      on: (event, callback) => {
        listeners.push([event, callback])
        process.on(event, callback)
      },
      off: (event, callback) => void process.off(event, callback),
      send: (message: WorkerRequest) => {
        if (message.type === 'stop') answer('stopped')
        else if (message.type === 'start' && isReused) answer('started')
        else if (process.connected) process.send(message)
      },
      deserialize: (data) => data,
    }
  }

  #launch({ distPath, env, execArgv }: PoolOptions): ChildProcess {
    const child = fork(resolve(distPath, 'workers/forks.js'), [], {
      env: { ...env, ...this.#env } as NodeJS.ProcessEnv,
      execArgv,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    child.setMaxListeners(0)
    child.once('exit', () => {
      if (this.#fork === child) this.#fork = undefined
    })
    return child
  }
}

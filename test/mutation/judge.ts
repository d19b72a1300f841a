import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createVitest, type TestCase, type TestModule, type Vitest } from 'vitest/node'
import { ForkPool } from './fork-pool.ts'
import type { Subject } from './map.ts'
import type { Mutant } from './mutants.ts'

/** What a run of the suites shows. Without a mutant, `survived` is what is expected. */
export interface Verdict {
  readonly outcome: 'killed' | 'timed out' | 'survived'
  /** the test or error that noticed */
  readonly by: string
}

/** By the path of a suite, in milliseconds. */
export type Times = Readonly<Record<string, number>>

const TEST_TIMEOUT = 30_000
const BASELINE_LIMIT = 600_000
/** vitest listens to these events. */
const EVENTS = ['SIGINT', 'unhandledRejection'] as NodeJS.Signals[]

/** Runs suites on mutated sources: one vitest with one worker process. No file is written. */
export class Judge {
  readonly #root: string
  readonly #redisUrl: string | undefined
  readonly #pool = new ForkPool()
  /** replaces the source file, if set */
  #mutant: Mutant | undefined
  #vitest!: Vitest

  private constructor(root: string, redisUrl: string | undefined) {
    this.#root = root
    this.#redisUrl = redisUrl
  }

  /** @param redisUrl the Redis that suites share; undefined if none of the suites needs one */
  static async start(root: string, redisUrl: string | undefined): Promise<Judge> {
    const judge = new Judge(root, redisUrl)
    await judge.#startVitest()
    return judge
  }

  async #startVitest(): Promise<void> {
    const listeners = EVENTS.map((event) => process.listeners(event))
    const load = (id: string) => (this.#mutant !== undefined && id === join(this.#root, this.#mutant.path) ? this.#mutant.text : undefined)
    this.#vitest = await createVitest(
      'test',
      {
        root: this.#root,
        config: false,
        watch: false,
        include: ['test/**/*.test.ts'],
        pool: this.#pool,
        maxWorkers: 1,
        bail: 1,
        testTimeout: TEST_TIMEOUT,
        hookTimeout: TEST_TIMEOUT,
        silent: true,
        cache: false,
        reporters: [{}],
      },
      { logLevel: 'silent', plugins: [{ name: 'mutant', enforce: 'pre', load }] },
    )
    this.#vitest.getRootProject().provide('redisUrl' as never, this.#redisUrl as never)
    // vitest would end this process on SIGINT, and when a worker process is killed: before the verdicts are printed.
    for (const [i, event] of EVENTS.entries())
      for (const listener of process.listeners(event)) if (!listeners[i]!.includes(listener)) process.off(event, listener)
  }

  /** Runs the suites of a subject one after the other until a test fails. */
  async judge(subject: Subject, mutant: Mutant | undefined, limits: Times): Promise<Verdict> {
    this.#pool.setEnvironment({ LANEKEEPER_DRIVERS: subject.drivers })
    this.#replace(mutant)
    for (const suite of subject.suites) {
      let verdict = await this.#run(suite, limits[suite]!)
      // An error outside of any test can come from the mutant before: it counts if a new process has it too.
      if (verdict.by === UNHANDLED) {
        this.#pool.kill()
        verdict = await this.#run(suite, limits[suite]!)
      }
      // What is still running could disturb the next mutant.
      if (verdict.outcome === 'timed out') this.#pool.kill()
      if (verdict.outcome !== 'survived') return verdict
    }
    return { outcome: 'survived', by: '' }
  }

  /** How long a suite takes without a mutant, in milliseconds. An error if it fails. */
  async measure(suite: string, drivers: string): Promise<number | Error> {
    const start = performance.now()
    const { outcome, by } = await this.judge({ path: '', suites: [suite], drivers }, undefined, { [suite]: BASELINE_LIMIT })
    return outcome === 'survived' ? performance.now() - start : new Error(by)
  }

  /** Ends the worker process. The rest ends with this process: vitest would wait for tests that are running. */
  kill(): void {
    this.#pool.kill()
  }

  #replace(mutant: Mutant | undefined): void {
    for (const { path } of [this.#mutant, mutant].filter((one) => one !== undefined)) {
      this.#vitest.invalidateFile(join(this.#root, path))
      // The worker process keeps the code of all modules besides those.
      this.#vitest.watcher.invalidates.add(join(this.#root, path))
    }
    this.#mutant = mutant
  }

  async #run(suite: string, limit: number): Promise<Verdict> {
    const specification = this.#vitest.getRootProject().createSpecification(join(this.#root, suite))
    const timer = new AbortController()
    const result = await Promise.race([
      this.#vitest.runTestSpecifications([specification]),
      delay(limit, 'over' as const, { signal: timer.signal }),
    ])
    timer.abort()
    if (result === 'over') {
      this.#pool.kill()
      // When its process is killed after a test has failed, vitest waits for the end of that run for ever.
      await this.#startVitest()
      return { outcome: 'timed out', by: suite }
    }
    const { testModules, unhandledErrors } = result
    const module = testModules.find(({ moduleId }) => moduleId === specification.moduleId)
    const failure = module === undefined ? 'the suite was not run' : failureOf(module)
    if (failure !== undefined) return { outcome: TIMEOUT.test(failure) ? 'timed out' : 'killed', by: `${suite}: ${failure}` }
    return unhandledErrors.length > 0 ? { outcome: 'killed', by: UNHANDLED } : { outcome: 'survived', by: '' }
  }
}

const TIMEOUT = /(?:^|: )(?:Test|Hook) timed out in \d+ms/
const UNHANDLED = 'an error outside of any test'

function failureOf(module: TestModule): string | undefined {
  const failed = [...module.children.allTests('failed')] as TestCase[]
  if (failed.length > 0) return `${failed[0]!.name}: ${messageOf(failed[0]!.result().errors)}`
  if (module.ok()) return undefined
  const errors = [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())]
  return messageOf(errors)
}

function messageOf(errors: readonly { readonly message: string }[] | undefined): string {
  return errors?.[0]?.message.split('\n')[0]!.slice(0, 120) ?? 'failed'
}

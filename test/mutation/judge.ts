import { join } from 'node:path'
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

/** What a file is replaced with. */
interface Substitute {
  mutant: Mutant | undefined
}

const TEST_TIMEOUT = 30_000
const BASELINE_LIMIT = 600_000

/** Runs suites on mutated sources: one vitest with one worker process. No file is written. */
export class Judge {
  readonly #root: string
  readonly #pool: ForkPool
  readonly #vitest: Vitest
  readonly #substitute: Substitute

  private constructor(root: string, pool: ForkPool, vitest: Vitest, substitute: Substitute) {
    this.#root = root
    this.#pool = pool
    this.#vitest = vitest
    this.#substitute = substitute
  }

  /** @param redisUrl the Redis that suites share; undefined if none of the suites needs one */
  static async start(root: string, redisUrl: string | undefined): Promise<Judge> {
    const pool = new ForkPool()
    const substitute: Substitute = { mutant: undefined }
    const load = (id: string) =>
      substitute.mutant !== undefined && id === join(root, substitute.mutant.path) ? substitute.mutant.text : undefined
    const vitest = await createVitest(
      'test',
      {
        root,
        config: false,
        watch: false,
        include: ['test/**/*.test.ts'],
        pool,
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
    vitest.getRootProject().provide('redisUrl' as never, redisUrl as never)
    return new Judge(root, pool, vitest, substitute)
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
    for (const { path } of [this.#substitute.mutant, mutant].filter((one) => one !== undefined)) {
      this.#vitest.invalidateFile(join(this.#root, path))
      // The worker process keeps the code of all modules besides those.
      this.#vitest.watcher.invalidates.add(join(this.#root, path))
    }
    this.#substitute.mutant = mutant
  }

  async #run(suite: string, limit: number): Promise<Verdict> {
    let isOver = false
    const timer = setTimeout(() => {
      isOver = true
      this.#pool.kill()
    }, limit)
    const specification = this.#vitest.getRootProject().createSpecification(join(this.#root, suite))
    const { testModules, unhandledErrors } = await this.#vitest.runTestSpecifications([specification])
    clearTimeout(timer)
    if (isOver) return { outcome: 'timed out', by: suite }
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

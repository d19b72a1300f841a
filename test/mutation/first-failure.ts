import { TestRunner } from 'vitest'

/** Loads no further suite once a test has failed: the mutant is judged, and a place that each request passes is reached by a hundred suites. */
export default class FirstFailure extends TestRunner {
  #hasFailed = false

  override cancel(reason: Parameters<TestRunner['cancel']>[0]): void {
    this.#hasFailed = true
    super.cancel(reason)
  }

  override importFile(path: string, source: Parameters<TestRunner['importFile']>[1]): ReturnType<TestRunner['importFile']> {
    return this.#hasFailed && source === 'collect' ? undefined : super.importFile(path, source)
  }
}

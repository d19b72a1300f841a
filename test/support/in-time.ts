/** How long a test waits for something, in milliseconds: it is no measure of speed. What takes longer does not come any more. */
const BOUND = 60_000
// Suites replace the timers of the process.
const { setTimeout, clearTimeout } = globalThis

/**
 * Waits for something, but not for good: a bug that makes a test wait for what never comes fails with words, and not with the time limit
 * of all tests.
 * @param what what does not come, with what is known about it by then
 */
export async function inTime<T>(waiting: Promise<T>, what: () => string, bound = BOUND): Promise<T> {
  let timer: ReturnType<typeof setTimeout>
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`after ${bound / 1000} seconds: ${what()}`)), bound)
  })
  return Promise.race([waiting, late]).finally(() => clearTimeout(timer))
}

/** Polls for a state, but not for good. For suites there is `expect.poll`. */
export async function poll(what: string, isThere: () => boolean | Promise<boolean>, interval = 20): Promise<void> {
  const end = performance.now() + BOUND
  while (!(await isThere())) {
    if (performance.now() > end) throw new Error(`after ${BOUND / 1000} seconds: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, interval))
  }
}

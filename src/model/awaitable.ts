/** A value, or the promise of one that is not at hand. */
export type Awaitable<T> = T | Promise<T>

/** Continues with a value, at once if it is at hand: an attempt at a request whose records are in memory waits for nothing. */
export function andThen<T, Next>(value: Awaitable<T>, follow: (value: T) => Awaitable<Next>): Awaitable<Next> {
  return value instanceof Promise ? value.then(follow) : follow(value)
}

/** Does some work, and something else with its error if it fails, now or later. */
export function orElse<T>(work: () => Awaitable<T>, recover: (error: unknown) => Awaitable<T>): Awaitable<T> {
  try {
    const done = work()
    return done instanceof Promise ? done.catch(recover) : done
  } catch (error) {
    return recover(error)
  }
}

/**
 * A linearizability checker (Wing and Gong, 1993, with Lowe's memoization). It searches for a sequential order of
 * concurrent events that explains every response, and in which no event comes before one that had ended when it
 * began.
 */

/** An operation as its client observed it. */
export interface Event<State> {
  /** positions of the invocation and the response in one common sequence; `end` is Infinity without a response */
  readonly start: number
  readonly end: number
  /** whether the operation may also have had no effect */
  readonly optional: boolean
  /** The state after the operation; undefined when the response is not possible in the given state. */
  readonly apply: (state: State) => State | undefined
}

/** Whether such an order exists. States are plain JSON. */
export function isLinearizable<State>(initial: State, events: readonly Event<State>[]): boolean {
  const visited = new Set<string>()
  const visit = (state: State, remaining: readonly Event<State>[]): boolean => {
    if (remaining.every(({ optional }) => optional)) return true
    const key = `${remaining.map((event) => event.start).join(' ')} ${JSON.stringify(state)}`
    if (visited.has(key)) return false
    visited.add(key)
    // The next event must have begun before any remaining event ended.
    const firstEnd = Math.min(...remaining.map(({ end }) => end))
    return remaining.some((event) => {
      if (event.start > firstEnd) return false
      const next = event.apply(state)
      const others = remaining.filter((other) => other !== event)
      return (next !== undefined && visit(next, others)) || (event.optional && visit(state, others))
    })
  }
  return visit(initial, events)
}

/**
 * Is there an order of what was done, one thing after the other, in which each was answered as it was, and in
 * which nothing comes before what had ended when it began? (Wing and Gong, 1993; with Lowe's memory of what was
 * tried.)
 */

/** Something that was done, seen from outside. */
export interface Event<State> {
  /** when it was asked for, and when it was answered: counted, by one counter. Infinity where no answer came */
  readonly start: number
  readonly end: number
  /** whether it may also never have been done */
  readonly optional: boolean
  /** What there is after it was done and answered so; undefined where it cannot have been answered so. */
  readonly apply: (state: State) => State | undefined
}

/** Whether such an order exists. States are plain JSON. */
export function isLinearizable<State>(initial: State, events: readonly Event<State>[]): boolean {
  const tried = new Set<string>()
  const visit = (state: State, left: readonly Event<State>[]): boolean => {
    if (left.every(({ optional }) => optional)) return true
    const key = `${left.map((event) => event.start).join(' ')} ${JSON.stringify(state)}`
    if (tried.has(key)) return false
    tried.add(key)
    // Whatever comes next began before anything that is left had ended.
    const firstEnd = Math.min(...left.map(({ end }) => end))
    return left.some((event) => {
      if (event.start > firstEnd) return false
      const next = event.apply(state)
      const others = left.filter((other) => other !== event)
      return (next !== undefined && visit(next, others)) || (event.optional && visit(state, others))
    })
  }
  return visit(initial, events)
}

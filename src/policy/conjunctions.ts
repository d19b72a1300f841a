import type { Dimension, Point } from './points.ts'

/** What points have in common: name → the values that it has in them. For a definition, `true` or `false`. */
export type Conjunction = ReadonlyMap<string, readonly string[]>

/** What {@link describeSet} chooses from. */
export interface Terms {
  readonly dimensions: readonly Dimension[]
  /** the names of definitions, whose values the points have too */
  readonly definitions: readonly string[]
}

/**
 * Describes a set of points by conjunctions: together they hold in exactly these points. Each is as short as it can be made
 * from its first point by leaving out one term after the other. Point are left out before definitions, because a definition says more.
 * @param all every point, with the values of its definitions
 */
export function describeSet(all: readonly Point[], isMember: (point: Point) => boolean, terms: Terms): Conjunction[] {
  const members = new Set(all.filter(isMember))
  const others = all.filter((point) => !members.has(point))
  const conjunctions: Conjunction[] = []
  const uncovered = new Set(members)
  for (const first of uncovered) {
    const conjunction = occurring(widen(first, others, terms), members)
    conjunctions.push(conjunction)
    for (const point of uncovered) if (holds(conjunction, point)) uncovered.delete(point)
  }
  return conjunctions
}

/** Whether a conjunction holds in a point. */
export function holds(conjunction: Conjunction, point: Point): boolean {
  for (const [name, values] of conjunction) if (!values.includes(point[name]!)) return false
  return true
}

/** The same conjunction, without values that no point has together with the rest of it: they would read as if there were such points. */
function occurring(conjunction: Conjunction, members: ReadonlySet<Point>): Conjunction {
  const found = [...members].filter((point) => holds(conjunction, point))
  return new Map([...conjunction].map(([name, values]) => [name, values.filter((value) => found.some((point) => point[name] === value))]))
}

/** The conjunction of all terms of a point, without what it does not need in order to hold in none of the others. */
function widen(first: Point, others: readonly Point[], { dimensions, definitions }: Terms): Conjunction {
  const conjunction = new Map<string, readonly string[]>(
    [...dimensions.map(({ name }) => name), ...definitions].map((name) => [name, [first[name]!]]),
  )
  const isExact = () => !others.some((point) => holds(conjunction, point))
  for (const { name, values } of dimensions) {
    const needed = conjunction.get(name)!
    conjunction.delete(name)
    if (isExact()) continue
    conjunction.set(name, needed)
    for (const value of values) {
      const present = conjunction.get(name)!
      if (present.includes(value)) continue
      conjunction.set(name, [...present, value])
      if (!isExact()) conjunction.set(name, present)
    }
    const accepted = conjunction.get(name)!
    conjunction.set(
      name,
      values.filter((value) => accepted.includes(value)),
    )
  }
  for (const name of definitions) {
    const needed = conjunction.get(name)!
    conjunction.delete(name)
    if (!isExact()) conjunction.set(name, needed)
  }
  return conjunction
}

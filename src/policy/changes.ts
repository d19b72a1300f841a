import { describeSet } from './conjunctions.ts'
import { pointsOf, type Point } from './points.ts'
import type { Fact } from './vocabulary.ts'

/** A fact that has another value. */
export interface Change {
  readonly fact: string
  readonly from: string
  /** any of these does */
  readonly to: readonly string[]
}

/** Facts that have other values at the same time. */
export type ChangeSet = readonly Change[]

/** One value of each fact, in their order. Lists are compared three times as fast as objects. */
export type Values = readonly string[]

/**
 * Finds the smallest changes of facts that make something allowed: all sets of the smallest number of facts, and for each of them
 * every combination of values.
 * @param allowed all combinations of values that are allowed
 * @param present the values that the facts have
 * @param mayChange whether a fact may have another value
 * @returns an empty list if no change is enough
 */
export function smallestChanges(
  allowed: readonly Values[],
  present: Values,
  facts: readonly Fact[],
  mayChange: (fact: Fact) => boolean = () => true,
): ChangeSet[] {
  const costs = facts.map((fact) => (mayChange(fact) ? 1 : Number.POSITIVE_INFINITY))
  let least = Number.MAX_SAFE_INTEGER
  let nearest: Values[] = []
  for (const candidate of allowed) {
    let distance = 0
    for (let i = 0; i < costs.length && distance <= least; i++) if (candidate[i] !== present[i]) distance += costs[i]!
    if (distance < least) [least, nearest] = [distance, []]
    if (distance === least) nearest.push(candidate)
  }
  const texts = new Set(nearest.map((candidate) => candidate.join('|')))
  const isNearest = (point: Point) => texts.has(facts.map(({ name }, i) => point[name] ?? present[i]).join('|'))
  // In the order of the facts.
  const sets = new Set(nearest.map((candidate) => candidate.map((value, i) => (value === present[i] ? '-' : '+')).join('')))
  return [...sets].toSorted().flatMap((set) => {
    const changed = facts.filter((_fact, i) => set[i] === '+')
    const from = present.filter((_value, i) => set[i] === '+')
    const found = describeSet([...pointsOf(changed)], isNearest, { dimensions: changed, definitions: [] })
    return found.map((when) => changed.map(({ name }, i) => ({ fact: name, from: from[i]!, to: when.get(name)! })))
  })
}

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
 * Finds the smallest changes of facts after which something is allowed: all sets of the smallest number of facts, and for each of them
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
  const bySet = new Map<string, Values[]>()
  for (const candidate of nearest) {
    const key = candidate.map((value, i) => (value === present[i] ? '-' : '+')).join('')
    const ofSet = bySet.get(key)
    if (ofSet === undefined) bySet.set(key, [candidate])
    else ofSet.push(candidate)
  }
  // In the order of the facts.
  const sets = [...bySet].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sets.flatMap(([key, candidates]) => {
    const isChanged = (_value: unknown, i: number) => key[i] === '+'
    const from = present.filter(isChanged)
    const changed = facts.filter(isChanged)
    const groups = group(
      candidates.map((candidate) => candidate.filter(isChanged)),
      changed,
    )
    return groups.map((values) => changed.map(({ name }, i) => ({ fact: name, from: from[i]!, to: values[i]! })))
  })
}

/** Groups combinations that differ in one fact only: "owner or admin". Together the groups have all of them, and no other. */
function group(combinations: readonly Values[], facts: readonly Fact[]): (readonly Values[])[] {
  const keyOf = (values: Values) => values.join('|')
  const all = new Set(combinations.map(keyOf))
  const grouped = new Set<string>()
  return combinations.flatMap((combination) => {
    if (grouped.has(keyOf(combination))) return []
    let values: Values[] = combination.map((value) => [value])
    for (const [i, fact] of facts.entries())
      for (const value of fact.values) {
        const wider = values.with(
          i,
          fact.values.filter((one) => one === value || values[i]!.includes(one)),
        )
        if (product(wider).every((one) => all.has(keyOf(one)))) values = wider
      }
    for (const one of product(values)) grouped.add(keyOf(one))
    return [values]
  })
}

/** Every combination of one value of each list. */
function product(lists: readonly Values[]): string[][] {
  return lists.reduce<string[][]>((combinations, list) => combinations.flatMap((one) => list.map((value) => [...one, value])), [[]])
}

import type { Facts } from './evaluate.ts'
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

/**
 * Finds the smallest changes of facts after which something is allowed: all sets of the smallest number of facts, and for each of them
 * every combination of values.
 * @param allowed all combinations of values that are allowed
 * @param all the facts that they have
 * @param mayChange whether a fact may have another value
 * @returns an empty list if no change is enough
 */
export function smallestChanges(
  allowed: readonly Facts[],
  facts: Facts,
  all: readonly Fact[],
  mayChange: (fact: Fact) => boolean = () => true,
): ChangeSet[] {
  let least = Number.POSITIVE_INFINITY
  let nearest: Facts[] = []
  const costs = all.map((fact) => ({ name: fact.name, cost: mayChange(fact) ? 1 : Number.POSITIVE_INFINITY }))
  const values = all.map(({ name }) => facts[name])
  for (const candidate of allowed) {
    let distance = 0
    for (let i = 0; i < costs.length && distance <= least; i++) if (candidate[costs[i]!.name] !== values[i]) distance += costs[i]!.cost
    if (distance < least) [least, nearest] = [distance, []]
    if (distance === least && distance !== Number.POSITIVE_INFINITY) nearest.push(candidate)
  }
  const bySet = new Map<string, Facts[]>()
  for (const candidate of nearest) {
    const key = all.map(({ name }) => (candidate[name] === facts[name] ? '-' : '+')).join('')
    bySet.set(key, [...(bySet.get(key) ?? []), candidate])
  }
  // In the order of the facts.
  const sets = [...bySet].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sets.flatMap(([key, candidates]) =>
    group(
      candidates,
      facts,
      all.filter((_fact, i) => key[i] === '+'),
    ),
  )
}

/** Groups combinations that differ in one fact only: "owner or admin". Together the groups have all of them, and no other. */
function group(candidates: readonly Facts[], facts: Facts, changed: readonly Fact[]): ChangeSet[] {
  const keyOf = (values: readonly string[]) => values.join('|')
  const valuesOf = (candidate: Facts) => changed.map(({ name }) => candidate[name]!)
  const all = new Set(candidates.map((candidate) => keyOf(valuesOf(candidate))))
  const grouped = new Set<string>()
  return candidates.flatMap((candidate): ChangeSet[] => {
    if (grouped.has(keyOf(valuesOf(candidate)))) return []
    let values: (readonly string[])[] = valuesOf(candidate).map((value) => [value])
    for (const [i, fact] of changed.entries())
      for (const value of fact.values) {
        const wider = values.with(
          i,
          fact.values.filter((one) => one === value || values[i]!.includes(one)),
        )
        if (product(wider).every((one) => all.has(keyOf(one)))) values = wider
      }
    for (const one of product(values)) grouped.add(keyOf(one))
    return [changed.map(({ name }, i) => ({ fact: name, from: facts[name]!, to: values[i]! }))]
  })
}

/** Every combination of one value of each list. */
function product(lists: readonly (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>((combinations, list) => combinations.flatMap((one) => list.map((value) => [...one, value])), [[]])
}

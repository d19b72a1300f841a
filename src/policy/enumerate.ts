import type { Facts } from './evaluate.ts'
import type { Permission, Vocabulary } from './vocabulary.ts'

/** One point of the decision space: a permission, the facts, and a field if the permission is decided by field. */
export interface Cell {
  readonly permission: Permission
  readonly facts: Facts
  readonly field?: string
}

/** More assignments than these are made again for each permission: kept, ten million would take gigabytes. */
const MOST_KEPT = 100_000

/** Every combination of values of the facts in these groups. */
export function* assignments(vocabulary: Vocabulary, groups: readonly string[]): Generator<Facts> {
  const facts = groups.flatMap((group) => vocabulary.groups.get(group) ?? [])
  const size = countOf(vocabulary, groups)
  for (let index = 0; index < size; index++) {
    let rest = index
    const assignment: Record<string, string> = {}
    for (const { name, values } of facts) {
      assignment[name] = values[rest % values.length]!
      rest = Math.floor(rest / values.length)
    }
    yield assignment
  }
}

function countOf(vocabulary: Vocabulary, groups: readonly string[]): number {
  return groups.flatMap((group) => vocabulary.groups.get(group)!).reduce((product, { values }) => product * values.length, 1)
}

/**
 * The whole decision space. It is derived from the vocabulary only. If it were derived from the rules, a dropped
 * condition would remove its own dimension, and the proof could not detect the change. Permissions with the same groups share their facts.
 */
export function* cells(vocabulary: Vocabulary): Generator<Cell> {
  const byGroups = new Map<string, readonly Facts[]>()
  for (const permission of vocabulary.permissions.values()) {
    const groups = permission.groups.join()
    if (!byGroups.has(groups) && countOf(vocabulary, permission.groups) <= MOST_KEPT)
      byGroups.set(groups, [...assignments(vocabulary, permission.groups)])
    for (const facts of byGroups.get(groups) ?? assignments(vocabulary, permission.groups)) {
      if (permission.fields === undefined) yield { permission, facts }
      else for (const field of permission.fields) yield { permission, facts, field }
    }
  }
}

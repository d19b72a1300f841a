import type { Facts } from './evaluate.ts'
import type { Permission, Vocabulary } from './vocabulary.ts'

/** One point of the decision space: a permission, the facts, and a field if the permission is decided by field. */
export interface Cell {
  readonly permission: Permission
  readonly facts: Facts
  readonly field?: string
}

/** Every combination of values of the facts in these groups. */
function assignments(vocabulary: Vocabulary, groups: readonly string[]): Facts[] {
  const combinations: Facts[] = []
  const facts = groups.flatMap((group) => vocabulary.groups.get(group) ?? [])
  const size = facts.reduce((product, fact) => product * fact.values.length, 1)
  for (let index = 0; index < size; index++) {
    let rest = index
    const assignment: Record<string, string> = {}
    for (const { name, values } of facts) {
      assignment[name] = values[rest % values.length]!
      rest = Math.floor(rest / values.length)
    }
    combinations.push(assignment)
  }
  return combinations
}

/**
 * The whole decision space. It is derived from the vocabulary only. If it were derived from the rules, a dropped
 * condition would remove its own dimension, and the proof could not detect the change. Permissions with the same groups share their facts.
 */
export function* cells(vocabulary: Vocabulary): Generator<Cell> {
  const byGroups = new Map<string, Facts[]>()
  for (const permission of vocabulary.permissions.values()) {
    const groups = permission.groups.join()
    if (!byGroups.has(groups)) byGroups.set(groups, assignments(vocabulary, permission.groups))
    for (const facts of byGroups.get(groups)!) {
      if (permission.fields === undefined) yield { permission, facts }
      else for (const field of permission.fields) yield { permission, facts, field }
    }
  }
}

import type { Facts } from './evaluate.ts'
import type { Permission, Vocabulary } from './vocabulary.ts'

/** One point of the decision space: a pair, what is true, and, where it matters, the field. */
export interface Cell {
  readonly permission: Permission
  readonly facts: Facts
  readonly field?: string
}

/** Every combination of the values of these groups' facts. */
export function* assignments(vocabulary: Vocabulary, groups: readonly string[]): Generator<Facts> {
  const facts = groups.flatMap((group) => vocabulary.groups.get(group) ?? [])
  const size = facts.reduce((product, fact) => product * fact.values.length, 1)
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

/**
 * The whole decision space. It comes from the vocabulary alone: enumerated from the rules, a condition that
 * was dropped would take its own dimension with it, and the proof would not see it go.
 */
export function* cells(vocabulary: Vocabulary): Generator<Cell> {
  for (const ask of vocabulary.permissions.values()) {
    for (const facts of assignments(vocabulary, ask.groups)) {
      if (ask.fields === undefined) yield { permission: ask, facts }
      else for (const field of ask.fields) yield { permission: ask, facts, field }
    }
  }
}

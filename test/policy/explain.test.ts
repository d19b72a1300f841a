import { describe, expect, test } from 'vitest'
import type { ChangeSet } from '../../src/policy/changes.ts'
import { explain } from '../../src/policy/explain.ts'
import type { Fact, Permission } from '../../src/policy/vocabulary.ts'
import { shipped } from '../support/policy.ts'

// The brute force here shares no code with the search for changes: it counts the allowed cells at each distance.

const { vocabulary } = shipped
type Facts = Readonly<Record<string, string>>

/** The facts of a permission, in another order than the code under test has them. */
function dimensions({ groups }: Permission): readonly Fact[] {
  return [...groups.flatMap((group) => vocabulary.groups.get(group)!), vocabulary.scopeOrder].toReversed()
}

function everyCell(facts: readonly Fact[]): Facts[] {
  return facts.reduce<Facts[]>(
    (cells, { name, values }) => cells.flatMap((cell) => values.map((value) => ({ ...cell, [name]: value }))),
    [{}],
  )
}

function isAllowed({ id }: Permission, cell: Facts, fields: readonly string[] | undefined): boolean {
  return shipped.checkScope(id, cell).allowed && shipped.decide(id, cell, fields).outcome === 'allowed'
}

/**
 * For each cell and each number of changed facts, how many allowed cells are that far away: one fact after the other is allowed to change.
 */
function countAllowed(allowed: readonly boolean[], facts: readonly Fact[]): number[][] {
  let counts = allowed.map((isOne) => [isOne ? 1 : 0])
  let stride = allowed.length
  for (const { values, fixed } of facts) {
    stride /= values.length
    if (fixed === true) continue
    counts = counts.map((own, i) => {
      const sum = [...own, 0]
      const position = Math.floor(i / stride) % values.length
      for (let other = 0; other < values.length; other++)
        if (other !== position)
          for (const [distance, count] of counts[i + (other - position) * stride]!.entries()) sum[distance + 1]! += count
      return sum
    })
  }
  return counts
}

/** What is wrong with the changes of a denied cell: they must be all allowed cells at the smallest distance. */
function wrongChanges(
  cell: Facts,
  changes: readonly ChangeSet[],
  counts: readonly number[],
  isAllowedCell: (cell: Facts) => boolean,
): string[] {
  const least = counts.findIndex((count) => count > 0)
  const cells = changes.flatMap((set) =>
    set.reduce<Facts[]>((all, { fact, to }) => all.flatMap((one) => to.map((value) => ({ ...one, [fact]: value }))), [cell]),
  )
  const distance = (other: Facts) => Object.keys(cell).filter((name) => other[name] !== cell[name]).length
  return [
    ...(new Set(cells.map((one) => JSON.stringify(one))).size === (counts[least] ?? 0)
      ? []
      : [`${cells.length} instead of ${counts[least]}`]),
    ...cells.flatMap((one) => (isAllowedCell(one) ? [] : [`not allowed: ${JSON.stringify(one)}`])),
    ...cells.flatMap((one) => (distance(one) === least ? [] : [`${distance(one)} changes instead of ${least}`])),
    ...changes
      .flat()
      .flatMap(({ fact, from }) =>
        from === cell[fact] && vocabulary.facts.get(fact)!.fixed !== true ? [] : [`${fact} is fixed, or not ${from}`],
      ),
  ]
}

const rows = [...vocabulary.permissions.values()].flatMap((permission) =>
  (permission.fields ?? [undefined]).map(
    (field) => [field === undefined ? permission.id : `${permission.id}.${field}`, permission, field] as const,
  ),
)

describe('the explanation of every cell of the decision space', () => {
  let denied = 0

  test.each(rows)('of %s has exactly the smallest changes that allow it, and the values of the engine', (_title, permission, field) => {
    const fields = field === undefined ? undefined : [field]
    const facts = dimensions(permission)
    const cells = everyCell(facts)
    const allowed = cells.map((cell) => isAllowed(permission, cell, fields))
    const allowedTexts = new Set(cells.filter((_cell, i) => allowed[i]).map((cell) => JSON.stringify(cell)))
    const counts = countAllowed(allowed, facts)
    for (const [i, cell] of cells.entries()) {
      const { answer, stage, changes } = explain(shipped, permission.id, cell, fields)
      const { outcome, derived, rules } = shipped.decide(permission.id, cell, fields)
      const actual = {
        outcome: stage.outcome,
        isAllowed: answer === 'allowed',
        derived: Object.fromEntries(stage.definitions.map(({ name, value }) => [name, value])),
        rules: stage.rules.flatMap(({ id, holds }) => (holds ? [id] : [])).toSorted(),
        wrong: allowed[i] ? changes : wrongChanges(cell, changes, counts[i]!, (one) => allowedTexts.has(JSON.stringify(one))),
        definitions: stage.definitions.filter((one) => one.value !== one.rules.some(({ holds }) => holds)),
      }
      if (!allowed[i]) denied++
      const wanted = { outcome, isAllowed: allowed[i], derived, rules, wrong: [], definitions: [] }
      // A comparison of Vitest takes longer than an explanation.
      if (JSON.stringify(actual) !== JSON.stringify(wanted)) expect({ cell, ...actual }).toEqual({ cell, ...wanted })
    }
  })

  test('was about more than 5000 denied cells', () => {
    expect(denied).toBeGreaterThan(5000)
  })
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decidedSpaceOf } from '../../src/policy/decided-space.ts'
import { cells } from '../../src/policy/enumerate.ts'
import { createEngine, type Engine } from '../../src/policy/engine.ts'
import type { Rule } from '../../src/policy/rules.ts'
import { decideCell, shipped } from '../support/policy.ts'
import { sample, sampledEffort } from '../support/sample.ts'

const twin = (id: string, rule: string, changes: Partial<Rule> = {}): Rule => ({
  ...shipped.permissionRules.find((other) => other.id === rule)!,
  id,
  ...changes,
})

// Each makes itself redundant, or its twin too, or a third rule.
const additions: readonly (readonly [what: string, rules: readonly Rule[], redundant: readonly string[]])[] = [
  ['nothing', [], []],
  ['a twin', [twin('P13.twin', 'P13')], ['P13', 'P13.twin']],
  ['a narrower rule', [twin('P7.narrow', 'P7.role', { conditions: { 'board.access': true, 'caller.role': 'owner' } })], ['P7.narrow']],
  [
    'two rules that make a third one redundant',
    [
      twin('P7.owner', 'P7.role', { conditions: { 'board.access': true, 'caller.role': 'owner' } }),
      twin('P7.admin', 'P7.role', { conditions: { 'board.access': true, 'caller.role': 'admin' } }),
    ],
    ['P7.admin', 'P7.owner', 'P7.role'],
  ],
  ['a twin of a definition', [twin('D1.twin', 'D1.private')], ['D1.private', 'D1.twin']],
  [
    'a definition that makes others redundant',
    [twin('D1.wide', 'D1.workspace', { conditions: { 'caller.membership': 'active' } })],
    ['D1.private', 'D1.workspace'],
  ],
]

function withRules(permissionRules: readonly Rule[]): Engine {
  return createEngine({ ...shipped, permissionRules })
}

/** The rules that can be removed, found by removing each of them from the table and deciding every cell. */
function redundantByRemoval(rules: readonly Rule[]): string[] {
  const space = [...cells(shipped.vocabulary)]
  const decisionsOf = (engine: Engine) => space.map((cell) => decideCell(engine, cell.permission.id, cell).outcome[0]).join('')
  const all = decisionsOf(withRules(rules))
  return rules.filter((rule) => decisionsOf(withRules(rules.filter((other) => other !== rule))) === all).map(({ id }) => id)
}

test.each(sample(additions, 2))('with %s, redundancy is what removing each rule shows', (_what, rules, redundant) => {
  const all = [...shipped.permissionRules, ...rules]
  expect(decidedSpaceOf(withRules(all)).redundantRules.toSorted()).toEqual(redundant)
  expect(redundantByRemoval(all).toSorted()).toEqual(redundant)
})

test('the order of rules changes neither which rules are redundant nor any decision', () => {
  const space = [...cells(shipped.vocabulary)].filter((_cell, i) => i % 97 === 0)
  // Where several rules do not hold, the reason names them in the order of the table.
  const decisionsOf = (engine: Engine) =>
    space.map((cell) => {
      const decision = decideCell(engine, cell.permission.id, cell)
      return { ...decision, reason: decision.reason.split(' Or ').toSorted() }
    })
  for (const [, rules, redundant] of additions) {
    const all = [...shipped.permissionRules, ...rules]
    const decisions = decisionsOf(withRules(all))
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (shuffled) => {
        const engine = withRules(shuffled)
        expect(decisionsOf(engine)).toEqual(decisions)
        expect(decidedSpaceOf(engine).redundantRules.toSorted()).toEqual(redundant)
      }),
      { numRuns: sampledEffort(17, 1) },
    )
  }
})

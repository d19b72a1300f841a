import { expect, test } from 'vitest'
import { cells } from '../../src/policy/enumerate.ts'
import type { Engine } from '../../src/policy/engine.ts'
import { proveInvariants } from '../../src/policy/prove.ts'
import { loadMutant, mutants } from '../support/mutants.ts'
import { oracleCells, oracleOperations } from '../support/oracle.ts'
import { agrees, answerOf, shipped, shippedFiles } from '../support/policy.ts'

const space = [...cells(shipped.vocabulary)]
const ladder = shipped.vocabulary.scopeOrder.values

/** All that the tables answer, in one text. */
function behaviour(engine: Engine): string {
  const decisions = space.map(
    ({ permission: permission, facts, field }) => engine.decide(permission.id, facts, field === undefined ? undefined : [field]).outcome[0],
  )
  const scopes = [...engine.vocabulary.permissions.keys()].flatMap((pair) =>
    ladder.map((value) => (engine.checkScope(pair, { 'token.scope': value }).allowed ? 'y' : 'n')),
  )
  return [...decisions, ...scopes].join('')
}

function killedByOracle(engine: Engine): boolean {
  return oracleOperations.some((operation) => {
    const least = { read: 1, write: 2, admin: 3 }[operation.scope]
    if (ladder.some((value, i) => engine.checkScope(operation.pair, { 'token.scope': value }).allowed !== i >= least)) return true
    return oracleCells(operation).some((cell) => !agrees(answerOf(engine, operation, cell), cell))
  })
}

test('the oracle kills every mutant of the tables that behaves differently', () => {
  const original = behaviour(shipped)
  let killed = 0
  const found: Record<'refused' | 'unproved' | 'same' | 'survived', string[]> = { refused: [], unproved: [], same: [], survived: [] }
  for (const mutant of mutants(shippedFiles, shipped.vocabulary)) {
    const engine = loadMutant(mutant)
    if (engine === undefined) found.refused.push(mutant.name)
    else if (killedByOracle(engine)) killed++
    else if (behaviour(engine) !== original) found.survived.push(mutant.name)
    else if (proveInvariants(engine, []).failures.length > 0) found.unproved.push(mutant.name)
    else found.same.push(mutant.name)
  }
  console.log(
    `mutants: ${killed} killed by the oracle, ${found.refused.length} refused at loading; of those that decide the same, ${found.unproved.length} are refused at start`,
  )
  expect(found.survived).toEqual([])
  // A rule of which a part can come or go without anything being noticed says more than it means.
  expect(found.same).toEqual([])
  expect(killed).toBeGreaterThan(100)
})

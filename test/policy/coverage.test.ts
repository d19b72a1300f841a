import { describe, expect, test } from 'vitest'
import { Coverage } from '../../src/policy/coverage.ts'
import { cells } from '../../src/policy/enumerate.ts'
import { renderLcov } from '../../src/policy/result-formats.ts'
import { handWrittenCells, handWrittenOperations, handWrittenWebActions } from '../support/hand-written-decisions.ts'
import { load, shipped, shippedFiles } from '../support/policy.ts'

const { vocabulary, permissionRules, scopeRules } = shipped
const space = [...cells(vocabulary)]
const some = handWrittenOperations.find(({ row }) => row === 'P7')!
/** Everyone can see the board, but nothing else is known of the caller. */
const guest = handWrittenCells(some).find(
  ({ facts, response }) => response === 403 && facts['board.visibility'] === 'workspace' && facts['board.caller'] === 'none',
)!.facts

/** The shipped policy, with a rule that can never decide. */
function withDeadRule() {
  const rule = `  - id: P7.dead
    row: P7
    action: delete
    subject: Board
    conditions: { caller.membership: ended, board.access: true }
    reason: No caller is like that.

  - id: P8
`
  const permissions = { ...shippedFiles.permissions, text: shippedFiles.permissions.text.replace('  - id: P8\n', rule) }
  return { engine: load({ ...shippedFiles, permissions }), permissions }
}

describe('coverage', () => {
  test('has the exact number of cells and rules, all covered by the hand-written decisions', () => {
    const coverage = new Coverage(shipped)
    expect(Object.values(coverage.shares()).map(({ covered }) => covered)).toEqual([0, 0, 0, 0, 0])
    coverage.addAllCells()
    const { rules, conditions, cases, cells: ofTable, scopes } = coverage.shares()
    expect(ofTable).toEqual({ total: space.length, covered: space.length, unasked: 0, missing: [] })
    const ofTokens = vocabulary.permissions.size - new Set(handWrittenWebActions.map(({ permission }) => permission)).size
    expect(scopes.total).toBe(ofTokens * vocabulary.scopeOrder.values.length)
    expect(rules).toEqual({
      total: permissionRules.length + scopeRules.length,
      covered: permissionRules.length + scopeRules.length,
      unasked: 0,
      missing: [],
    })
    for (const share of [conditions, cases, scopes]) expect(share).toMatchObject({ covered: share.total, missing: [] })
  })

  test('of one decision is its cell, and the rules and values that decided it', () => {
    const coverage = new Coverage(shipped)
    expect(coverage.addDecision(some.permission, guest, undefined, 3)).toBe(true)
    const { rules, conditions, cases, cells: ofTable, scopes } = coverage.shares()
    expect({ rules: rules.covered, cases: cases.covered, cells: ofTable.covered, scopes: scopes.covered }).toEqual({
      rules: 1,
      cases: 1,
      cells: 1,
      scopes: 0,
    })
    const counted = coverage.conditionCounts().filter(({ count }) => count > 0)
    // D1.workspace made the definition true. Each of the others failed by one value alone.
    expect(counted.map(({ rule, name, value, count }) => `${rule} ${name} ${value} ${count}`).toSorted()).toEqual([
      'D1.private board.caller none 3',
      'D1.workspace board.visibility workspace 3',
      'D1.workspace caller.membership active 3',
      'P7.creator board.caller none 3',
      'P7.role caller.role member 3',
    ])
    expect(conditions.covered).toBe(counted.length)
    // Here P7.creator and P7.role fail by two values each, so none of them decides.
    const other = new Coverage(shipped)
    other.addDecision(some.permission, { ...guest, 'board.visibility': 'private' }, undefined)
    const ofOther = other.conditionCounts().filter(({ count }) => count > 0)
    expect(ofOther.map(({ rule, name, value }) => `${rule} ${name} ${value}`).toSorted()).toEqual([
      'D1.private board.caller none',
      'D1.workspace board.visibility private',
    ])
    expect(coverage.ruleCounts().get('D1.workspace')).toBe(3)
    expect(ofTable.missing).toHaveLength(ofTable.total - 1 - ofTable.unasked)
  })

  test('of every cell that a service can ask leaves only those that are answered 401 before', () => {
    const coverage = new Coverage(shipped)
    let unasked = 0
    for (const { permission, facts, field } of space)
      if (shipped.decisions.permissions.get(permission.id)!.lookUp(facts, field).response === 401) unasked++
      else coverage.addDecision(permission.id, facts, field === undefined ? undefined : [field])
    const requested = new Set(
      handWrittenOperations.flatMap(({ permission, also }) => [permission, ...Object.values(also).map((one) => one.permission)]),
    )
    for (const id of requested)
      for (const value of vocabulary.scopeOrder.values) coverage.addScopeDecision(id, { [vocabulary.scopeOrder.name]: value })
    const shares = coverage.shares()
    for (const [kind, { missing }] of Object.entries(shares)) expect([kind, missing]).toEqual([kind, []])
    expect(shares.cells.unasked).toEqual(unasked)
    expect(unasked).toBeGreaterThan(0)
    expect({ rules: shares.rules.unasked, scopes: shares.scopes.unasked }).toEqual({ rules: 0, scopes: 0 })
  })

  test('does not count facts and rules that the policy does not have', () => {
    const coverage = new Coverage(shipped)
    expect([
      coverage.addDecision('delete Absent', guest, undefined),
      coverage.addDecision(some.permission, { ...guest, 'caller.role': 'absent' }, undefined),
      coverage.addDecision('update Board', guest, ['absent']),
      coverage.addScopeDecision(some.permission, { 'token.scope': 'absent' }),
      coverage.addDefinition('absent', guest),
      coverage.addDefinition('board.access', {}),
    ]).toEqual([false, false, false, false, false, false])
    expect(Object.values(coverage.shares()).map(({ covered }) => covered)).toEqual([0, 0, 0, 0, 0])
  })

  test('counts the rules of a definition that was evaluated alone, and of the ones it depends on', () => {
    const coverage = new Coverage(shipped)
    const rest = Object.fromEntries([...vocabulary.facts.values()].map(({ name, values }) => [name, values.at(-1)!]))
    const facts = { ...rest, ...guest, 'cover.state': 'set', 'file.visibility': 'workspace', 'file.owner': 'other' }
    expect(coverage.addDefinition('cover.access', facts, 2)).toBe(true)
    const decided = [...coverage.ruleCounts()].filter(([, count]) => count > 0)
    expect(decided).toEqual([
      ['D2.workspace', 2],
      ['D2.cover', 2],
    ])
  })

  test('names a rule that never decides', () => {
    const coverage = new Coverage(withDeadRule().engine)
    coverage.addAllCells()
    expect(coverage.shares().rules.missing.concat(coverage.shares().rules.unasked === 1 ? ['P7.dead'] : [])).toEqual(['P7.dead'])
  })
})

describe('LCOV', () => {
  const { engine, permissions } = withDeadRule()
  const coverage = new Coverage(engine)
  coverage.addAllCells()
  const [, record = ''] = renderLcov([shippedFiles.scopes, permissions], coverage).split('end_of_record\n')
  const lines = permissions.text.split('\n')
  const numbers = (prefix: string) =>
    [...record.matchAll(new RegExp(`^${prefix}:(\\d+),(.+)$`, 'gm'))].map(([, a, b]) => [Number(a), b!] as const)

  test('hits all lines of a rule as often as it decided, and no others', () => {
    const counts = coverage.ruleCounts()
    const hits = new Map(numbers('DA').map(([line, count]) => [line, Number(count)]))
    let rule = ''
    for (const [i, text] of lines.entries()) {
      rule = /^ {2}- id: (.+)$/.exec(text)?.[1] ?? rule
      const isOfRule = /^ {2}(- | {2})\w+:/.test(text)
      expect([i + 1, hits.get(i + 1)]).toEqual([i + 1, isOfRule ? counts.get(rule) : undefined])
    }
    expect(counts.get('P7.dead')).toBe(0)
  })

  test('has a branch for each value of a condition, and totals that agree', () => {
    const dead = lines.findIndex((line) => line.includes('caller.membership: ended')) + 1
    expect(numbers('BRDA').filter(([line]) => line === dead).length).toBeGreaterThan(0)
    const total = (name: string) => Number(new RegExp(`^${name}:(\\d+)$`, 'm').exec(record)![1])
    const hit = (prefix: string, at: RegExp) => numbers(prefix).filter(([, rest]) => at.test(rest)).length
    expect({ found: total('LF'), hit: total('LH') }).toEqual({ found: numbers('DA').length, hit: hit('DA', /^[1-9]/) })
    expect({ found: total('BRF'), hit: total('BRH') }).toEqual({ found: numbers('BRDA').length, hit: hit('BRDA', /,[1-9]\d*$/) })
    expect({ found: total('FNF'), hit: total('FNH') }).toEqual({
      found: engine.permissionRules.length,
      hit: engine.permissionRules.length - 1,
    })
  })
})

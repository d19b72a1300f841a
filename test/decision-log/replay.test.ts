import { describe, expect, test } from 'vitest'
import { splitLines } from '../../src/decision-log/line.ts'
import { Replay, type Difference } from '../../src/decision-log/replay.ts'
import { decide, recordOf } from '../../src/policy-public.ts'
import type { Engine } from '../../src/policy/engine.ts'
import { cells } from '../../src/policy/enumerate.ts'
import { linesOf, logDisk, PATH, recordRequests } from '../support/decision-log.ts'
import { memory } from '../support/memory.ts'
import { operations } from '../../src/resources/table.ts'
import { load, shipped, shippedFiles } from '../support/policy.ts'
import { buildWorld, createScenario, exampleBody, pathOf } from '../support/scenario.ts'
import { Service } from '../support/service.ts'

const SCOPE_FACT = shipped.vocabulary.scopeOrder
/** Each cell, most with the greatest scope. */
const questions = [...cells(shipped.vocabulary)]
  .filter(({ permission }) => permission.surface === undefined)
  .map(({ permission, facts, fields }, i) => ({
    permission: permission.id,
    facts: { ...facts, [SCOPE_FACT.name]: SCOPE_FACT.values.at(i % 9 === 0 ? i % SCOPE_FACT.values.length : -1)! },
    ...(fields !== undefined && { fields }),
  }))
const answered = questions.map((question) => decide(shipped, question))
const log = answered.map((one) => `{${recordOf(shipped, one)}}\n`).join('')

async function replay(engine: Engine, text: string): Promise<Replay> {
  const replayed = new Replay(engine)
  let line = 0
  for await (const { bytes } of splitLines([Buffer.from(text)])) replayed.add(bytes.toString(), { file: 'log', line: ++line })
  return replayed
}

const total = (differences: readonly Difference[], ...kinds: Difference['kind'][]) =>
  differences.filter(({ kind }) => kinds.includes(kind)).reduce((sum, { count }) => sum + count, 0)
/** The shipped tables with one change in their text. */
const changed = (table: 'vocabulary' | 'permissions' | 'scopes', from: string, to: string) => {
  const { path, text } = shippedFiles[table]
  expect(text).toContain(from)
  return load({ ...shippedFiles, [table]: { path, text: text.replace(from, to) } })
}

describe('the decisions of all cells', () => {
  test('are made again exactly as they were', async () => {
    const { differences, decisions, records } = await replay(shipped, log)
    const asked = answered.flatMap(({ scope, decision }) => [scope, decision]).filter((one) => one !== undefined)
    expect({ differences, decisions, records }).toEqual({ differences: [], decisions: asked.length, records: questions.length })
  })

  test.each([
    ['more is allowed', 'board.access: true, caller.role: { $in: [owner, admin] }', 'caller.role: { $in: [owner, admin] }'],
    ['less is allowed', 'board.access: true, caller.role: { $in: [owner, admin] }', 'board.access: true, caller.role: owner'],
    ['a rule has another name', 'id: P5\n', 'id: P5.creator\n'],
  ])('have a difference for each that is decided differently when %s', async (_how, from, to) => {
    const other = changed('permissions', from, to)
    const expected = { widened: 0, narrowed: 0, explained: 0 }
    for (const { decision } of answered) {
      if (decision === undefined) continue
      const { permission, facts, fields, outcome, rules } = decision
      const now = other.decide(permission, facts, fields)
      if (now.outcome === outcome) expected.explained += now.rules.join() === rules.join() ? 0 : 1
      else expected[now.outcome === 'allowed' ? 'widened' : 'narrowed']++
    }
    expect(Object.values(expected)).not.toEqual([0, 0, 0])
    const { differences } = await replay(other, log)
    const kinds = ['widened', 'narrowed', 'explained'] as const
    expect(Object.fromEntries(kinds.map((kind) => [kind, total(differences, kind)]))).toEqual(expected)
    for (const { example } of differences) expect(log.split('\n')[example.line - 1]).toContain(JSON.stringify(example.facts))
  })

  test('have a difference for each scope that is checked differently', async () => {
    const conditions = (scopes: string) => `Comment, File]\n    conditions: { token.scope: { $in: [${scopes}"kanban:admin"] } }`
    const other = changed('scopes', conditions('"kanban:write", '), conditions(''))
    const differs = questions.filter(
      ({ permission, facts }, i) => other.checkScope(permission, facts).allowed !== answered[i]!.scope!.allowed,
    )
    expect(differs.length).toBeGreaterThan(0)
    const { differences } = await replay(other, log)
    const ofScope = differences.filter(({ stage }) => stage === 'scope')
    expect(total(ofScope, 'widened', 'narrowed')).toBe(differs.length)
  })
})

test('requests of every operation with every scope, allowed, hidden and absent, are decided again as they were', async () => {
  const service = await Service.start(memory)
  const disk = await logDisk()
  const log = await recordRequests(service, disk)
  const world = await buildWorld(service)
  const facts = { 'caller.role': 'member', 'caller.membership': 'active', 'comment.author': 'caller', 'file.owner': 'caller' }
  const named = { 'user.membership': 'active', 'user.board': 'none', 'label.board': 'this' }
  const boards = [
    { 'board.visibility': 'private', 'board.caller': 'none', ...named },
    { 'board.visibility': 'workspace', 'board.caller': 'creator', ...named },
  ]
  for (const { id, method, path } of operations)
    for (const board of boards) {
      const scenario = (await createScenario(world, { ...facts, ...board }))!
      const { caller } = scenario
      if (board === boards[0])
        for (const scope of ['none', 'read'] as const) await service.send(caller[scope], method, pathOf(path, scenario))
      await service.send(caller.admin, method, pathOf(path, scenario), exampleBody(id, scenario))
      await service.send(caller.admin, method, path.replaceAll(/\{\w+\}/g, 'brd_00000000000000000000'))
    }
  await log.close()
  const lines = await linesOf(disk)
  const replayed = await replay(shipped, (await disk.read(PATH))!.toString())
  expect(replayed.differences).toEqual([])
  expect(new Set(lines.map(({ kind }) => kind))).toEqual(new Set(['start', 'decision', 'list', 'absence', 'refusal']))
  expect(replayed.decisions).toBeGreaterThan(lines.length)
  // Every private board is hidden from those who are no member of it. Without that rule, they are shown again.
  const open = changed('permissions', 'caller.membership: active, board.visibility: workspace', 'caller.membership: active')
  const { differences } = await replay(open, (await disk.read(PATH))!.toString())
  expect(differences.filter(({ stage, kind }) => stage === 'definition' && kind === 'widened').map(({ about }) => about)).toEqual([
    'board.access',
  ])
  await service.stop()
})

test('a decision that a policy does not know is a difference, and a line that is no record is refused', () => {
  const replayed = new Replay(shipped)
  const decision = { permission: 'fly Board', fields: null, facts: {}, derived: {}, outcome: 'allowed', row: 'P1', rules: ['P1'] }
  const scope = { permission: 'read Board', facts: { 'token.scope': 'kanban:owner' }, allowed: true, row: 'S1', required: 'kanban:read' }
  expect(replayed.add(JSON.stringify({ request_id: 'r', scope, permission: decision }), { file: 'f', line: 7 })).toBe(true)
  expect(replayed.differences).toMatchObject([
    { kind: 'undecidable', stage: 'scope', count: 1, example: { file: 'f', line: 7, request_id: 'r' } },
    { kind: 'undecidable', stage: 'permission', about: 'fly Board' },
  ])
  expect(replayed.add('{"kind":', { file: 'f', line: 8 })).toBe(false)
})

test('a hidden resource that another policy would not hide is a difference', () => {
  const facts = { 'caller.membership': 'active', 'caller.role': 'member', 'board.visibility': 'private', 'board.caller': 'none' }
  const scope = { permission: 'read Board', facts: { 'token.scope': 'kanban:read' }, allowed: true, row: 'S1', required: 'kanban:read' }
  const line = (definition: string) => JSON.stringify({ request_id: 'r', scope, hidden: { definition, facts } })
  const hides = '    not_found_unless: [board.access]\n    actions:\n      read: [Board,'
  const open = changed('vocabulary', hides, hides.replace('not_found', 'forbidden'))
  expect(open.vocabulary.permissions.get('read Board')!.notFoundUnless).toEqual([])
  for (const [engine, kinds] of [
    [shipped, []],
    [open, ['changed']],
  ] as const) {
    const replayed = new Replay(engine)
    replayed.add(line('board.access'), { file: 'f', line: 1 })
    expect(replayed.differences.map(({ kind }) => kind)).toEqual(kinds)
  }
})

import { beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../../src/admin/commands.ts'
import { createPolicyAnswers } from '../../src/cli/policy/stored-answers.ts'
import { createIo } from '../support/command-io.ts'
import {
  handWrittenCells,
  handWrittenOperations,
  type HandWrittenCell,
  type HandWrittenOperation,
} from '../support/hand-written-decisions.ts'
import {
  SCOPES,
  additionOf,
  buildWorld,
  createScenario,
  exampleBody,
  outcomeOf,
  pathOf,
  scenarioOptions,
  type Scenario,
  type ScopeName,
} from '../support/scenario.ts'
import { Service, type Person } from '../support/service.ts'

// That the responses are right is tested by the matrix. Here each explanation is compared with the response of the request itself.

const service = await Service.forSuite()
const world = await buildWorld(service)

const run = (command: string, input: object): Promise<any> =>
  runCommand(
    { ...service.adminDeps, policyAnswers: createPolicyAnswers(service.app.services) },
    `policy.${command}`,
    { workspace: world.workspaceId, ...input },
    createIo(),
  )

const scopeOf = (name: ScopeName) => (name === 'none' ? 'none' : `kanban:${name}`)

interface Row extends HandWrittenOperation {
  readonly member?: string
}
const rows = handWrittenOperations.flatMap((operation): (readonly [title: string, row: Row])[] => [
  [operation.id, operation],
  ...Object.entries(operation.also).map(
    ([member, { decision }]) => [`${operation.id} (${member})`, { ...operation, decision, member }] as const,
  ),
])

function bodyOf({ id, member }: Row, { field }: HandWrittenCell, scenario: Scenario): any {
  const example = field === undefined ? exampleBody(id, scenario) : { [field]: field === 'cover_color' ? '#00ff00' : 'New' }
  return member === undefined ? example : { ...(example as object), ...additionOf(member, scenario) }
}

/** What the question names in addition to the resource: further parameters of the path, and ids of the body. */
function namedIn({ path }: Row, body: object | undefined, { params }: Scenario): Record<string, string[]> {
  const [, ...others] = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  // A time can be `before` too.
  const isName = ([name, value]: [string, unknown]) => /_ids?$|^(before|after|subtasks)$/.test(name) && !/^\d/.test(String(value))
  const ids = Object.entries(body ?? {}).filter(isName)
  return Object.fromEntries(
    [...others.map((name) => [name, params[name]!] as const), ...ids].map(([name, value]) => [name, [value].flat()]),
  )
}

function questionOf(row: Row, cell: HandWrittenCell, scenario: Scenario): object {
  const [first] = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const body = bodyOf(row, cell, scenario)
  return {
    operation: row.id,
    ...(first !== undefined && { resource: scenario.params[first] }),
    ...(cell.field !== undefined && { fields: [cell.field] }),
    named: cell.field === undefined ? namedIn(row, body, scenario) : {},
  }
}

/** Cells from all parts of a decision. */
function sample(row: Row): HandWrittenCell[] {
  const cells = handWrittenCells(row).filter(({ field }) => field !== 'visibility' && field !== 'creator_id')
  const active = cells.filter(({ response }) => response !== 401)
  const step = Math.max(1, Math.floor(active.length / 4) | 1)
  return [cells.find(({ response }) => response === 401)!, ...active.filter((_cell, i) => i % step === 0)]
}

/** A card without a cover has no file, and the board memberships of a former member count for nothing. */
function isIrrelevant(name: string, facts: HandWrittenCell['facts']): boolean {
  if (/^(file|home)\./.test(name)) return facts['cover.state'] === 'none'
  return name === 'user.board' && facts['user.membership'] === 'ended'
}

describe('the explanation of a stored resource', () => {
  const seen = new Map<string, number>()

  test.each(rows)('states the response that the request then has: %s', async (_title, row) => {
    const wrong: unknown[] = []
    for (const cell of sample(row)) {
      let scenario: Scenario | undefined
      for (const scope of SCOPES.slice(SCOPES.indexOf(row.scope) - 1, SCOPES.indexOf(row.scope) + 1)) {
        scenario ??= await createScenario(world, cell.facts, scenarioOptions(row))
        if (scenario === undefined) break
        const question = questionOf(row, cell, scenario)
        const explained = await run('explain', { ...question, user: scenario.caller.id, scope: scopeOf(scope) })
        const reply = await service.send(scenario.caller[scope], row.method, pathOf(row.path, scenario), bodyOf(row, cell, scenario))
        const { code, status } = explained.response
        const answered = outcomeOf(reply)
        seen.set(answered, (seen.get(answered) ?? 0) + 1)
        const stated = code === undefined ? 'ok' : `${status} ${code}`
        const parameter = reply.body?.error?.parameter
        if (stated !== answered || explained.allowed !== (answered === 'ok') || explained.response.parameter !== parameter)
          wrong.push({ ...cell, scope, stated: explained.response, answered, parameter })
        // The scenario gives the facts, whatever the tables decide about them.
        const facts = (row.member === undefined ? explained.decision?.facts : explained.further[0]?.facts) ?? explained.facts
        for (const [name, value] of Object.entries(cell.facts))
          if (facts[name] !== value && !isIrrelevant(name, cell.facts) && Object.hasOwn(facts, name)) wrong.push({ ...cell, scope, facts })
        if (answered === 'ok' && row.method !== 'GET') scenario = undefined
      }
    }
    expect(wrong).toEqual([])
  })

  test('was compared with every kind of response', () => {
    expect([...seen.keys()].toSorted()).toEqual(['401 unauthorized', '403 forbidden', '403 insufficient_scope', '404 not_found', 'ok'])
  })
})

describe('who-can and what-can', () => {
  let members: Person[]
  beforeAll(() => {
    members = [...world.callers].filter(([key]) => key.endsWith('active')).map(([, person]) => person)
  })

  const CALLERS = [
    { 'caller.role': 'member', 'caller.membership': 'active', 'board.visibility': 'workspace', 'board.caller': 'creator' },
    { 'caller.role': 'admin', 'caller.membership': 'active', 'board.visibility': 'private', 'board.caller': 'member' },
    { 'caller.role': 'owner', 'caller.membership': 'active', 'board.visibility': 'private', 'board.caller': 'none' },
  ]

  test.each(CALLERS)('agree with the explanation for each member: %o', async (facts) => {
    const readable = handWrittenOperations.filter(({ path }) => /^\/(boards\/\{board_id\}|comments\/|cards\/\{card_id\})[^{]*$/.test(path))
    const scenario = (await createScenario(world, { ...facts, 'comment.author': 'caller' }))!
    const wrong: unknown[] = []
    const allowedTo = new Map<string, Map<string, any>>()
    for (const { id } of members) {
      const { operations } = await run('what-can', { user: id, board: scenario.params['board_id'], scope: 'kanban:admin' })
      allowedTo.set(id, new Map(operations.map((one: any) => [one.operation, one])))
    }
    for (const row of readable) {
      const question: any = { ...questionOf(row, handWrittenCells(row)[0]!, scenario), fields: undefined }
      const { allowed, denied, required_scope } = await run('who-can', question)
      for (const group of [...allowed, ...denied])
        for (const { user_id } of group.members) {
          const explained = await run('explain', { ...question, user: user_id, scope: required_scope })
          const rules = explained.decision.stage.rules.filter(({ holds }: any) => holds).map(({ id }: any) => id)
          const expected =
            group.rules === undefined ? { allowed: false, response: group.response } : { allowed: true, rules: group.rules[0].id }
          const actual = explained.allowed ? { allowed: true, rules: rules[0] } : { allowed: false, response: explained.response }
          if (JSON.stringify(actual) !== JSON.stringify(expected)) wrong.push({ row: row.id, user_id, actual, expected })
          const what = allowedTo.get(user_id)?.get(row.id)
          const fits = what?.answer === 'depends' || (what?.answer === 'allowed') === explained.allowed
          if (what !== undefined && !fits) wrong.push({ row: row.id, user_id, what, explained: explained.response })
        }
      // All of them are named once.
      const named = [...allowed, ...denied].flatMap((group: any) => group.members.map(({ user_id }: any) => user_id))
      for (const { id } of members) if (named.filter((one) => one === id).length !== 1) wrong.push({ row: row.id, named, id })
    }
    expect(wrong).toEqual([])
  })
})

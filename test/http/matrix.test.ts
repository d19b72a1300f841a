import { afterAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { drivers } from '../support/drivers.ts'
import { effort } from '../support/effort.ts'
import { evaluatedOutcome, questionOf } from '../support/evaluations.ts'
import { memory } from '../support/memory.ts'
import {
  handWrittenCells,
  handWrittenOperations,
  type HandWrittenCell,
  type HandWrittenOperation,
} from '../support/hand-written-decisions.ts'
import {
  additionOf,
  buildWorld,
  createScenario,
  exampleBody,
  expectedOutcome,
  outcomeOf,
  scenarioOptions,
  SCOPES,
  type Facts,
  type Scenario,
  type ScopeName,
  type World,
} from '../support/scenario.ts'
import { Service, type Reply } from '../support/service.ts'

/** Cells that are checked at the same time. */
const CONCURRENCY = 8

/** What is sent and expected. */
interface Row extends HandWrittenOperation {
  /** the member of the body whose items the decision is about */
  readonly member?: string
}

/** The rows of an operation: itself, and each member of its body whose items are decided in addition. */
function rowsOf(operation: HandWrittenOperation): (readonly [title: string, row: Row])[] {
  const additions = Object.entries(operation.also)
  return [
    [operation.id, operation],
    ...additions.map(([member, { decision }]) => [`${operation.id} (${member})`, { ...operation, decision, member }] as const),
  ]
}

/** The items of the filtered lists, by the parameter that names them in a scenario. */
const LISTED: Readonly<Record<string, string>> = { 'boards.list': 'board_id', 'cards.search': 'card_id' }

/** The item that a filtered list is about: the path has no parameter, but its facts are about a board. */
function listedId({ id }: Row, { params }: Scenario): string | undefined {
  return LISTED[id] === undefined ? undefined : params[LISTED[id]]
}

function outcome(reply: Reply, listed: string | undefined): string {
  const result = outcomeOf(reply)
  if (result !== 'ok' || listed === undefined) return result
  return reply.body.data.some(({ id }: { id: string }) => id === listed) ? 'ok' : '404 not_found'
}

/**
 * Facts that no records can produce: the caller and the named user are both the board's creator, so they are one person, but only one of
 * their two memberships has ended.
 */
const isContradiction = (facts: Facts): boolean =>
  facts['board.caller'] === 'creator' && facts['user.board'] === 'creator' && facts['user.membership'] !== facts['caller.membership']

/** Values for the fields of a permission that is decided by field. */
const fieldValues: Record<string, unknown> = {
  name: 'New',
  description: 'New',
  cover_color: '#00ff00',
  visibility: 'private',
  creator_id: 'usr_00000000000000000000',
}

/**
 * Variants of every GET, which take turns: each scope of a cell is asked in one of them, or with more effort in all. Each must be refused
 * exactly like the GET itself, and before the condition is looked at.
 * If the GET is allowed, HEAD and `If-Match: *` succeed, and `If-None-Match: *` succeeds with 304 if there is an ETag.
 */
const READ_VARIANTS = [
  { name: 'HEAD', method: 'HEAD', headers: {}, success: [200] },
  { name: 'HEAD with If-None-Match', method: 'HEAD', headers: { 'if-none-match': '*' }, success: [200, 304] },
  { name: 'GET with If-None-Match', method: 'GET', headers: { 'if-none-match': '*' }, success: [200, 304] },
  { name: 'GET with If-Match', method: 'GET', headers: { 'if-match': '*' }, success: [200] },
] as const
let turn = 0

function bodyOf({ id, member }: Row, { field }: HandWrittenCell, scenario: Scenario): unknown {
  const example = field === undefined ? exampleBody(id, scenario) : { [field]: fieldValues[field] }
  return member === undefined ? example : { ...(example as object), ...additionOf(member, scenario) }
}

/** What the service says that the request of a cell would be answered. */
async function evaluate(world: World, operation: Row, cell: HandWrittenCell, scenario: Scenario, scope: ScopeName): Promise<string> {
  const body = bodyOf(operation, cell, scenario) as object | undefined
  const question = questionOf(operation, scenario.params, body, cell.field === undefined ? undefined : body)
  return evaluatedOutcome(await world.service.send(scenario.caller[scope], 'POST', '/access/evaluation', question))
}

async function send(world: World, operation: Row, cell: HandWrittenCell, scenario: Scenario, scope: ScopeName): Promise<Reply> {
  const { method } = operation
  const path = operation.path.replace(/\{(\w+)\}/g, (_all, name: string) => scenario.params[name]!)
  const body = bodyOf(operation, cell, scenario)
  const reply = await world.service.send(scenario.caller[scope], method, path, body)
  for (let cursor = reply.body.page?.next_cursor; listedId(operation, scenario) !== undefined && cursor;) {
    const next = await world.service.send(scenario.caller[scope], method, `${path}?cursor=${cursor}`)
    reply.body.data.push(...next.body.data)
    cursor = next.body.page.next_cursor
  }
  return reply
}

async function sendReadVariants(
  world: World,
  { path }: HandWrittenOperation,
  cell: HandWrittenCell,
  { caller, params }: Scenario,
  scope: ScopeName,
  expected: string,
): Promise<unknown[]> {
  const target = path.replace(/\{(\w+)\}/g, (_all, name: string) => params[name]!)
  const wrong: unknown[] = []
  // A filtered list leaves the item out instead of answering 404.
  const status = expected === 'ok' || (!path.includes('{') && expected.startsWith('404')) ? 'ok' : Number(expected.slice(0, 3))
  for (const { name, method, headers, success } of effort(1) > 1 ? READ_VARIANTS : [READ_VARIANTS[turn++ % READ_VARIANTS.length]!]) {
    const reply = await world.service.send(caller[scope], method, target, undefined, headers)
    const fits = status === 'ok' ? (success as readonly number[]).includes(reply.status) : reply.status === status
    const bodyFits = method === 'HEAD' || reply.status === 304 ? reply.text === '' : reply.text !== ''
    if (!fits || (!bodyFits && !path.endsWith('/content')))
      wrong.push({ ...cell, scope, variant: name, expected, actual: [reply.status, reply.text] })
  }
  return wrong
}

test('the operations table and the hand-written decisions have the same operations, methods, paths, permissions and rows', () => {
  const table = operations.map(({ id, method, path, needs, row, also }) => {
    const further = also.map((one) => [one.member, one.permission, one.row])
    return [id, method, path, needs.join(' '), row, further]
  })
  const decided = handWrittenOperations.map(({ id, method, path, permission, row, also }) => {
    const further = Object.entries(also).map(([member, one]) => [member, one.permission, one.row])
    return [id, method, path, permission, row, further]
  })
  expect(table.toSorted()).toEqual(decided.toSorted())
})

describe.each(drivers)('the permission matrix over HTTP, on $name', async (driver) => {
  const service = await Service.forSuite(driver)
  const shared = await buildWorld(service)
  let requests = 0
  // Memory answers every cell. The decision is the same on the other drivers, where each answers another third: of six cells that
  // differ in role and membership alone, two, and other two of the next six. With an effort of 3, all of them.
  const place = drivers.indexOf(driver)
  const share = driver === memory ? 1 : Math.max(1, Math.round(3 / effort(1)))
  const isInShare = (i: number) => (i + Math.floor(i / 6)) % share === place % share
  afterAll(() => console.log(`matrix on ${driver.name}: ${requests} requests`))

  test.each(handWrittenOperations.flatMap(rowsOf))(
    'every cell of %s is answered as the hand-written decisions say',
    async (_title, operation) => {
      // A filtered list has the items of all scenarios of its workspace. In memory a workspace costs less than the long indexes of a shared one.
      const world = LISTED[operation.id] === undefined && driver !== memory ? shared : await buildWorld(service)
      service.records.length = service.store.touched.length = 0
      const wrong: unknown[] = []
      const check = async (cell: HandWrittenCell): Promise<void> => {
        let scenario: Scenario | undefined
        for (const scope of SCOPES) {
          scenario ??= await createScenario(world, cell.facts, scenarioOptions(operation))
          if (scenario === undefined) {
            if (!isContradiction(cell.facts)) wrong.push({ ...cell, impossible: true })
            return
          }
          const expected = expectedOutcome(operation, cell, scope)
          // The decision is the same on each driver, so one is enough.
          const evaluated = driver === memory ? await evaluate(world, operation, cell, scenario, scope) : undefined
          const reply = await send(world, operation, cell, scenario, scope)
          const actual = outcome(reply, listedId(operation, scenario))
          requests++
          if (evaluated !== undefined && evaluated !== outcomeOf(reply))
            wrong.push({ ...cell, scope, evaluated, answered: outcomeOf(reply) })
          if (actual !== expected) wrong.push({ ...cell, scope, expected, actual })
          // The variants differ from a GET before and after the storage is accessed, so one driver is enough.
          if (operation.method === 'GET' && driver === memory)
            wrong.push(...(await sendReadVariants(world, operation, cell, scenario, scope, expected)))
          // A write that succeeded has changed the scenario.
          if (expected === 'ok' && operation.method !== 'GET') scenario = undefined
        }
      }
      const cells = handWrittenCells(operation).filter(({ representative }, i) => representative && isInShare(i))
      const checkNext = async (): Promise<void> => {
        for (let cell = cells.shift(); cell !== undefined; cell = cells.shift()) await check(cell)
      }
      // Each cell has its own resources. Several at the same time share the round trips to Redis.
      await Promise.all(Array.from({ length: CONCURRENCY }, checkNext))
      expect(wrong).toEqual([])
    },
  )
})

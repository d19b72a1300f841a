import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { drivers } from '../support/drivers.ts'
import { oracleCells, oracleOperations, type OracleCell, type OracleOperation } from '../support/oracle.ts'
import {
  buildWorld,
  createScenario,
  exampleBody,
  expectedOutcome,
  outcomeOf,
  SCOPES,
  type Facts,
  type Scenario,
  type ScopeName,
  type World,
} from '../support/scenario.ts'
import { Service, type Reply } from '../support/service.ts'

/** Cells that are checked at the same time. */
const CONCURRENCY = 8

/** The item that a filtered list is about: the path has no parameter, but the oracle's facts are about a board. */
function listedId({ path }: OracleOperation, { facts }: OracleCell, { params }: Scenario): string | undefined {
  return path.includes('{') || facts['board.visibility'] === undefined ? undefined : params['board_id']
}

function outcome(reply: Reply, listed: string | undefined): string {
  const result = outcomeOf(reply)
  if (result !== 'ok' || listed === undefined) return result
  return reply.body.data.some(({ id }: { id: string }) => id === listed) ? 'ok' : '404 not_found'
}

/**
 * The number of cells that no records can produce, by operation; 0 for the others. In all of them the facts contradict
 * each other: the caller and the named user are both the board's creator, so they are one person, but only one of their
 * two memberships has ended. For each operation these are 2 visibilities × 3 roles × 2 (which of the two has ended).
 */
const IMPOSSIBLE: Readonly<Record<string, number>> = { 'board_members.add': 12, 'cards.assign': 12 }

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
 * Variants of every GET. Each must be refused exactly like the GET itself, and before the condition is looked at.
 * If the GET is allowed, HEAD and `If-Match: *` succeed, and `If-None-Match: *` succeeds with 304 if there is an ETag.
 */
const READ_VARIANTS = [
  { name: 'HEAD', method: 'HEAD', headers: {}, success: [200] },
  { name: 'HEAD with If-None-Match', method: 'HEAD', headers: { 'if-none-match': '*' }, success: [200, 304] },
  { name: 'GET with If-None-Match', method: 'GET', headers: { 'if-none-match': '*' }, success: [200, 304] },
  { name: 'GET with If-Match', method: 'GET', headers: { 'if-match': '*' }, success: [200] },
] as const

async function send(world: World, operation: OracleOperation, cell: OracleCell, scenario: Scenario, scope: ScopeName): Promise<Reply> {
  const { id, method } = operation
  const path = operation.path.replace(/\{(\w+)\}/g, (_all, name: string) => scenario.params[name]!)
  const body = cell.field === undefined ? exampleBody(id, scenario) : { [cell.field]: fieldValues[cell.field] }
  const reply = await world.service.send(scenario.caller[scope], method, path, body)
  for (let cursor = reply.body.page?.next_cursor; listedId(operation, cell, scenario) !== undefined && cursor;) {
    const next = await world.service.send(scenario.caller[scope], method, `${path}?cursor=${cursor}`)
    reply.body.data.push(...next.body.data)
    cursor = next.body.page.next_cursor
  }
  return reply
}

async function sendReadVariants(
  world: World,
  { path }: OracleOperation,
  cell: OracleCell,
  { caller, params }: Scenario,
  scope: ScopeName,
  expected: string,
): Promise<unknown[]> {
  const target = path.replace(/\{(\w+)\}/g, (_all, name: string) => params[name]!)
  const wrong: unknown[] = []
  // A filtered list leaves the item out instead of answering 404.
  const status = expected === 'ok' || (!path.includes('{') && expected.startsWith('404')) ? 'ok' : Number(expected.slice(0, 3))
  for (const { name, method, headers, success } of READ_VARIANTS) {
    const reply = await world.service.send(caller[scope], method, target, undefined, headers)
    const fits = status === 'ok' ? (success as readonly number[]).includes(reply.status) : reply.status === status
    const bodyFits = method === 'HEAD' || reply.status === 304 ? reply.text === '' : reply.text !== ''
    if (!fits || (!bodyFits && !path.endsWith('/content')))
      wrong.push({ ...cell, scope, variant: name, expected, actual: [reply.status, reply.text] })
  }
  return wrong
}

test('the operations table and the oracle have the same operations, methods, paths, permissions and rows', () => {
  const table = operations.map(({ id, method, path, needs, row }) => [id, method, path, needs.join(' '), row])
  const oracle = oracleOperations.map(({ id, method, path, permission, row }) => [id, method, path, permission, row])
  expect(table.toSorted()).toEqual(oracle.toSorted())
})

describe.each(drivers)('the permission matrix over HTTP, on $name', (driver) => {
  let service: Service
  let world: World
  let requests = 0
  beforeAll(async () => {
    service = await Service.start(driver)
    world = await buildWorld(service)
  })
  afterAll(async () => {
    await service.stop()
    console.log(`matrix on ${driver.name}: ${requests} requests`)
  })

  test.each(oracleOperations.map((operation) => [operation.id, operation] as const))(
    'every cell of %s is answered as the oracle expects',
    async (_id, operation) => {
      const wrong: unknown[] = []
      const impossible: Facts[] = []
      const check = async (cell: OracleCell): Promise<void> => {
        let scenario: Scenario | undefined
        for (const scope of SCOPES) {
          scenario ??= await createScenario(world, cell.facts, { related: operation.method === 'DELETE' })
          if (scenario === undefined) {
            impossible.push(cell.facts)
            return
          }
          const expected = expectedOutcome(operation, cell, scope)
          const actual = outcome(await send(world, operation, cell, scenario, scope), listedId(operation, cell, scenario))
          requests++
          if (actual !== expected) wrong.push({ ...cell, scope, expected, actual })
          // The variants differ from a GET before and after the storage is accessed, so one driver is enough.
          if (operation.method === 'GET' && driver === drivers[0])
            wrong.push(...(await sendReadVariants(world, operation, cell, scenario, scope, expected)))
          // A write that succeeded has changed the scenario.
          if (expected === 'ok' && operation.method !== 'GET') scenario = undefined
        }
      }
      const cells = [...oracleCells(operation)]
      const checkNext = async (): Promise<void> => {
        for (let cell = cells.shift(); cell !== undefined; cell = cells.shift()) await check(cell)
      }
      // Each cell has its own resources. Several at the same time share the round trips to Redis.
      await Promise.all(Array.from({ length: CONCURRENCY }, checkNext))
      expect(wrong).toEqual([])
      expect(impossible.filter((facts) => !isContradiction(facts))).toEqual([])
      expect(impossible).toHaveLength(IMPOSSIBLE[operation.id] ?? 0)
    },
  )
})

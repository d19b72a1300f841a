import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { drivers } from '../support/drivers.ts'
import { oracleCells, oracleOperations, type OracleCell, type OracleOperation } from '../support/oracle.ts'
import { requestExamples } from '../support/request-examples.ts'
import { Service, type Reply } from '../support/service.ts'
import { buildWorld, createScenario, type Scenario, type World } from '../support/scenario.ts'

const SCOPES = ['none', 'read', 'write', 'admin'] as const
const exists = (id: string) => operations.some((row) => row.id === id)
const untouchable = ({ grid }: OracleOperation, field: string | undefined) => typeof grid === 'object' && grid[field!] === 'untouchable'

/** What the oracle expects of a request: a status, and for a failure its code. */
function expectation(operation: OracleOperation, { expected, field }: OracleCell, scope: (typeof SCOPES)[number]): string {
  if (expected === 401) return '401 unauthorized'
  if (SCOPES.indexOf(scope) < SCOPES.indexOf(operation.scope)) return '403 insufficient_scope'
  // Over HTTP such a field is no member of the body, which is said before any resource is read.
  if (untouchable(operation, field)) return '422 validation_failed'
  return { ok: 'ok', 403: '403 forbidden', 404: '404 not_found' }[expected]
}

function seen({ status, body }: Reply, operation: OracleOperation, stage: Scenario): string {
  if (status >= 300) return `${status} ${body.error?.code}`
  const listed = requestExamples[operation.id]!.listed?.(stage)
  return listed === undefined || body.data.some(({ id }: { id: string }) => id === listed) ? 'ok' : '404 not_found'
}

async function ask(
  world: World,
  operation: OracleOperation,
  stage: Scenario,
  scope: (typeof SCOPES)[number],
  field: string | undefined,
): Promise<Reply> {
  const recipe = requestExamples[operation.id]!
  const path = operation.path.replace(/\{(\w+)\}/g, (_all, name: string) => stage.params[name]!)
  const reply = await world.service.send(stage.caller[scope], operation.method, path, recipe.body?.(stage, field))
  for (let cursor = reply.body.page?.next_cursor; recipe.listed !== undefined && cursor;) {
    const next = await world.service.send(stage.caller[scope], operation.method, `${path}?cursor=${cursor}`)
    reply.body.data.push(...next.body.data)
    cursor = next.body.page.next_cursor
  }
  return reply
}

test('every operation of the table is one of the oracle, with the same words, and has a recipe', () => {
  const said = operations.map(({ id, method, path, needs, row }) => [id, method, path, needs.join(' '), row])
  const expected = oracleOperations.filter(({ id }) => exists(id)).map(({ id, method, path, pair, row }) => [id, method, path, pair, row])
  expect(said.toSorted()).toEqual(expected.toSorted())
  expect(Object.keys(requestExamples).toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
})

describe.each(drivers)('over HTTP, on $name', (driver) => {
  let service: Service
  let world: World
  let requests = 0
  let impossible = 0
  beforeAll(async () => {
    service = await Service.start(driver)
    world = await buildWorld(service)
  })
  afterAll(async () => {
    await service.stop()
    console.log(`matrix on ${driver.name}: ${requests} requests; ${impossible} situations cannot be brought about`)
  })

  test.each(oracleOperations.filter(({ id }) => exists(id)).map((operation) => [operation.id, operation] as const))(
    '%s',
    async (_id, operation) => {
      const wrong: unknown[] = []
      for (const cell of oracleCells(operation)) {
        let stage: Scenario | undefined
        for (const scope of SCOPES) {
          const expected = expectation(operation, cell, scope)
          if (stage === undefined) {
            stage = await createScenario(world, cell.facts)
            if (stage === undefined) {
              impossible++
              break
            }
            await requestExamples[operation.id]!.prepare?.(stage, service)
          }
          const got = seen(await ask(world, operation, stage, scope, cell.field), operation, stage)
          requests++
          if (got !== expected) wrong.push({ ...cell, scope, expected, got })
          if (expected === 'ok' && requestExamples[operation.id]!.changes) stage = undefined
        }
      }
      expect(wrong).toEqual([])
    },
  )
})

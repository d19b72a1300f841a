import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { conflict } from '../../src/model/errors.ts'
import type { Operation } from '../../src/resources/operation.ts'
import { operations } from '../../src/resources/table.ts'
import { memory } from '../support/memory.ts'
import { checkResponse } from '../support/response-check.ts'
import { Service, type Person } from '../support/service.ts'

// Every response of the suite is checked against the row of its operation. These tests show that the check can fail.

type Single = Operation & { kind: 'single' }

/** The operations table with one row changed. */
function withRow(id: string, change: (row: Single) => Partial<Single>): readonly Operation[] {
  return operations.map((row) => (row.id === id && row.kind === 'single' ? ({ ...row, ...change(row) } as Operation) : row))
}

describe('the response check', () => {
  let service: Service | undefined
  beforeEach(() => (service = undefined))
  afterEach(() => service?.stop())

  /** Sends a request to a service with these rows. @returns a function that checks its response against the real table */
  const respond = async (rows: readonly Operation[], send: (person: Person) => readonly [method: string, path: string, body?: unknown]) => {
    service = await Service.start(memory, { operations: rows })
    const person = await service.person(await service.workspace(), 'owner')
    const [method, path, body] = send(person)
    const reply = await service.send(person.admin, method, path, body)
    return { reply, check: () => checkResponse(method, path, reply.status, reply.body) }
  }
  const createBoard = () => ['POST', '/boards', { name: 'Board' }] as const
  const readAccount = () => ['GET', '/account'] as const
  const listMembers = () => ['GET', '/members'] as const

  test.each([
    ['creation', createBoard, 201],
    ['read', readAccount, 200],
    ['list', listMembers, 200],
  ] as const)('the response check accepts the response to a %s', async (_kind, send, status) => {
    const { reply, check } = await respond(operations, send)
    expect(reply.status).toBe(status)
    check()
  })

  test('the response check refuses a 409 with a message that the row does not state', async () => {
    const rows = withRow('boards.create', () => ({ run: () => Promise.reject(conflict('There are too many boards.')) }))
    const { reply, check } = await respond(rows, createBoard)
    expect([reply.status, reply.body.error.message]).toEqual([409, 'There are too many boards.'])
    expect(check).toThrow(/boards\.create: the conflicts that its row states/)
  })

  test('the response check refuses a failure with another envelope', () => {
    const error = { code: 'not_found', message: 'There is no such resource.', request_id: '4a2f0c1e-8f0b-4a57-9f0e-2f6d4f3b1c55' }
    const check = (body: unknown) => () => checkResponse('GET', '/boards/brd_00000000000000000000', 404, body)
    check({ error })()
    expect(check({ error, data: {} })).toThrow(/the members of a failure/)
    expect(check({ error: { ...error, request_id: undefined } })).toThrow(/request_id/)
  })

  test('the test client checks each response of a service with the real operations table', async () => {
    service = await Service.start(memory)
    const person = await service.person(await service.workspace())
    // The application answers as a service with a wrong row would.
    const wrong = new Response('{"data":{"nonsense":true}}', { headers: { 'content-type': 'application/json' } })
    Object.assign(service.app, { fetch: async () => wrong })
    await expect(service.send(person.read, 'GET', '/account')).rejects.toThrow(/GET \/account 200: the header /)
  })
})

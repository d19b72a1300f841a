import { afterAll, beforeAll, expect, test } from 'vitest'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'

let service: Service
let ann: Person
let bob: Person
let path: string
beforeAll(async () => {
  service = await Service.start(memory)
  const workspaceId = await service.workspace()
  ann = await service.person(workspaceId)
  bob = await service.person(workspaceId)
  path = `/boards/${(await service.send(ann.write, 'POST', '/boards', { name: 'One' })).body.data.id}`
})
afterAll(() => service.stop())

test('a 403 for the role names the row of the table and its reason, and nothing else', async () => {
  const reply = await service.send(bob.admin, 'PUT', `${path}/visibility`, { visibility: 'private' })
  expect([reply.status, reply.body]).toEqual([
    403,
    {
      error: {
        code: 'forbidden',
        message: expect.any(String),
        request_id: reply.headers.get('x-request-id'),
        row: 'P5',
        reason: 'P5: Only the creator decides who can see a board.',
      },
    },
  ])
})

test('a 403 for the scope names the row of the table and the scopes, and nothing else', async () => {
  const reply = await service.send(ann.read, 'PATCH', path, { name: 'Two' })
  expect([reply.status, reply.body]).toEqual([
    403,
    {
      error: {
        code: 'insufficient_scope',
        message: expect.any(String),
        request_id: reply.headers.get('x-request-id'),
        row: 'S2',
        required_scope: 'kanban:write',
        granted_scopes: ['kanban:read'],
      },
    },
  ])
})

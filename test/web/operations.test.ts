import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'
import { signedIn, textOf, type Visitor } from '../support/visitor.ts'

let service: Service
let owner: Person
let visitor: Visitor
let base: string
let boardId: string
let columnId: string
const api = async (method: string, path: string, body?: unknown) => {
  const reply = await service.send(owner.admin, method, path, body)
  expect([method, path, reply.status < 300, reply.text]).toEqual([method, path, true, reply.text])
  return reply.body.data
}
beforeAll(async () => {
  service = await Service.start(memory, { proxies: 1 })
  owner = await service.person(await service.workspace('Acme'), 'owner', 'Olivia Stone')
  visitor = await signedIn(service, owner)
  base = `/app/${owner.workspaceId}`
  boardId = (await api('POST', '/boards', { name: 'Spring' })).id
  columnId = (await api('POST', `/boards/${boardId}/columns`, { name: 'To do' })).id
})
afterAll(() => service.stop())

describe('the form of an operation', () => {
  test('creates a card and returns to its board', async () => {
    await visitor.open(`${base}/do/cards.create?board_id=${boardId}&column_id=${columnId}`)
    const page = await visitor.submit({ column_id: columnId, title: 'By hand' }, `${base}/do`)
    expect([page.status, textOf(page.text).includes('By hand')]).toEqual([200, true])
  })
})

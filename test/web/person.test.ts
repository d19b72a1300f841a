import { afterAll, beforeAll, expect, test } from 'vitest'
import { readAsPerson } from '../../src/http/person.ts'
import { operations } from '../../src/resources/table.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'

let service: Service
let person: Person
beforeAll(async () => {
  service = await Service.start(memory)
  person = await service.person(await service.workspace())
})
afterAll(() => service.stop())

const read = (operation: string, { id: userId, workspaceId } = person) =>
  readAsPerson(service.app.services, {
    userId,
    workspaceId,
    operation,
    requestId: 'a request',
    request: new Request('http://localhost/app') as never,
  })

test('a person in the web app can use no operation that writes, and none that is about a token', async () => {
  const refused = operations.filter(({ method, id }) => method !== 'GET' || id === 'account.read').map(({ id }) => id)
  expect(refused.length).toBeGreaterThan(30)
  for (const id of [...refused, 'absent.read']) await expect(read(id), id).rejects.toThrow(TypeError)
})

test('each operation that reads needs no token: it answers, or says that what it is about does not exist', async () => {
  const reads = operations.filter(({ method, id }) => method === 'GET' && id !== 'account.read')
  expect(reads.length).toBeGreaterThan(15)
  for (const { id, path } of reads) {
    const result = await read(id).then(
      () => 'ok',
      ({ code }) => code,
    )
    expect([id, result]).toEqual([id, path.includes('{') ? 'not_found' : 'ok'])
  }
})

test('a person whose membership has ended reads nothing, not even lists', async () => {
  const former = await service.person(person.workspaceId)
  await service.leaveOnly(person.workspaceId, former.id)
  for (const { id } of operations.filter(({ method, id }) => method === 'GET' && id !== 'account.read')) {
    const result = await read(id, former).then(
      () => 'ok',
      ({ code }) => code,
    )
    expect([id, result]).toEqual([id, 'not_found'])
  }
})

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

const read = (operation: string) =>
  readAsPerson(service.app.services, {
    userId: person.id,
    workspaceId: person.workspaceId,
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

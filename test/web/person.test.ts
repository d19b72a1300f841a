import { afterAll, beforeAll, expect, test } from 'vitest'
import { readAsPerson } from '../../src/http/person.ts'
import { operations } from '../../src/resources/table.ts'
import { linesOf, logDisk, openLog } from '../support/decision-log.ts'
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

test('each read, allowed or denied, is in the decision log with the surface and without a scope', async () => {
  const disk = await logDisk()
  const log = await openLog(disk)
  const own = await Service.start(memory, { decisionLog: log })
  const member = await own.person(await own.workspace())
  const other = await own.person(member.workspaceId)
  const board = (await own.send(other.write, 'POST', '/boards', { name: 'Hiring' })).body.data
  await own.send(other.admin, 'PUT', `/boards/${board.id}/visibility`, { visibility: 'private' })
  for (const { id: userId } of [member, other]) {
    const request = new Request('http://localhost/app') as never
    const one = {
      userId,
      workspaceId: member.workspaceId,
      operation: 'boards.read',
      params: { board_id: board.id },
      requestId: 'r',
      request,
    }
    await readAsPerson(own.app.services, one).catch(() => undefined)
  }
  await log.close()
  const lines = (await linesOf(disk)).filter(({ surface }) => surface !== undefined)
  const common = { surface: 'web_app', operation: 'boards.read', resource_id: board.id, token_id: null, effect: 'none' }
  expect(lines).toMatchObject([
    { ...common, user_id: member.id, status: 404, code: 'not_found' },
    { ...common, user_id: other.id, status: 200, code: null },
  ])
  expect(lines.map(({ scope }) => scope)).toEqual([undefined, undefined])
  await own.stop()
})

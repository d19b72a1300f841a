import type { ServerRequest } from 'srvx'
import { expect, test } from 'vitest'
import { readerOf } from '../../src/web/reader.ts'
import { PageWork } from '../../src/web/page-work.ts'
import { startForSuite } from '../support/board-team.ts'
import { operations } from '../../src/resources/table.ts'
import { TestBoard } from '../support/board.ts'
import { linesOf, logDisk, openLog } from '../support/decision-log.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'

const service = await startForSuite()
const person = await service.person(await service.workspace())
const reads = operations.filter(({ method, id }) => method === 'GET' && id !== 'account.read')
const outcome = (reading: Promise<unknown>): Promise<string> =>
  reading.then(
    () => 'ok',
    ({ code }: { code: string }) => code,
  )

/** Reads for a person as a page does. */
const read = (operation: string, { id, workspaceId } = person, of: Readonly<Record<string, string>> = {}, at = service) => {
  const request = new Request('http://localhost/app')
  const work = new PageWork(at.app.services, id, workspaceId, request as ServerRequest)
  const context = { web: { services: () => at.app.services }, session: { user_id: id }, requestId: 'a request', request, work }
  const params = new Proxy(of, { get: (known, name) => known[name as string] ?? 'absent' })
  const answer = readerOf(context as never, workspaceId).answer(operation, { params })
  return answer.finally(() => work.turn.end())
}

test.each(['account.read', 'absent.read'])('a person in the web app cannot use %s', async (id) => {
  await expect(read(id)).rejects.toThrow('the web app cannot do this')
})

test('each operation that reads needs no token: it answers, or says that what it is about does not exist', async () => {
  expect(reads.length).toBeGreaterThan(15)
  for (const { id, path } of reads) {
    expect([id, await outcome(read(id))]).toEqual([id, path.includes('{') ? 'not_found' : 'ok'])
  }
})

test('a person whose membership has ended reads nothing, not even lists', async () => {
  const former = await service.person(person.workspaceId)
  const board = await TestBoard.create(service, person)
  const column_id = await board.column()
  const card_id = await board.card(column_id)
  const { id: attachment_id, file_id } = (await board.attach(card_id)).body.data
  const params = {
    board_id: board.id,
    column_id,
    card_id,
    attachment_id,
    file_id,
    label_id: await board.label(),
    subtask_id: await board.subtask(card_id),
    comment_id: await board.comment(card_id),
    webhook_id: (await board.send('POST', `/boards/${board.id}/webhooks`, { url: 'https://hooks.example' })).body.data.id,
  }
  const results = () => Promise.all(reads.map(({ id }) => outcome(read(id, former, params))))
  expect(await results()).toEqual(reads.map(() => 'ok'))
  await service.leaveOnly(person.workspaceId, former.id)
  expect(await results()).toEqual(reads.map(() => 'not_found'))
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
    await read('boards.read', { id: userId, workspaceId: member.workspaceId } as Person, { board_id: board.id }, own).catch(() => undefined)
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

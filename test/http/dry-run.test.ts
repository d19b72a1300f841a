import { describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { memory } from '../support/memory.ts'
import { createAllowed, exampleBody, pathOf } from '../support/scenario.ts'
import { setUpObservedWorld } from './observed-commits.ts'

const writes = operations.filter(({ isRead }) => !isRead).map((row) => [row.id, row] as const)
const ZEROS = /^[a-z]{3}_0{20}$/

/** The results of a batch, without what is new of each. */
function withoutIds(body: object): unknown {
  const text = JSON.stringify(body).replaceAll(/"etag":("[^,]*"|null)/g, '"etag":null')
  return JSON.parse(text.replaceAll(/"([a-z]{3})_[0-9a-z]{20}"/g, '"$1"'))
}

describe.each(drivers)('a dry run, on $name', (driver) => {
  const setup = setUpObservedWorld(driver)

  test.each(writes)('%s answers what the write answers, and changes nothing', async (id, row) => {
    const { service, world, changes } = setup
    const scenario = await createAllowed(world, row)
    const send = (query: string, headers = {}) =>
      service.send(scenario.caller.admin, row.method, `${pathOf(row.path, scenario)}${query}`, exampleBody(id, scenario), headers)
    const commits = changes.length
    const dry = await send('?dry_run=true', { 'idempotency-key': id })
    expect([changes.length, dry.headers.get('dry-run'), dry.headers.get('location'), dry.headers.get('etag')]).toEqual([
      commits,
      'true',
      null,
      null,
    ])
    const made = await send('?dry_run=false', { 'idempotency-key': id })
    expect([made.headers.get('dry-run'), made.headers.get('idempotent-replayed'), changes.length > commits]).toEqual([null, null, true])
    expect(dry.status).toBe(made.status)
    // The next card is one that exists.
    const created = row.status === 201 && id !== 'claims.take_next' ? { id: expect.stringMatching(ZEROS) } : {}
    if (id === 'boards.batch') expect(withoutIds(dry.body)).toEqual(withoutIds(made.body))
    else expect(dry.body).toEqual({ data: { ...made.body.data, ...created } })
  })
})

describe('a dry run', () => {
  const setup = setUpBoard(memory)

  test('is refused as the write is refused', async () => {
    const { service, ann, bob, board, cardId } = setup
    const refused = [
      [bob.read, 'PATCH', `/cards/${cardId}`, { title: 'x' }, 403],
      [bob.admin, 'PUT', `/boards/${board.id}/visibility`, { visibility: 'private' }, 403],
      [ann.write, 'PATCH', `/cards/${cardId}`, {}, 422],
      [ann.write, 'POST', `/boards/${board.id}/cards`, { title: 'x', column_id: 'x' }, 404],
      [ann.admin, 'DELETE', `/boards/${board.id}/members/${ann.id}`, undefined, 409],
    ] as const
    for (const [token, method, path, body, status] of refused) {
      const [dry, made] = [await service.send(token, method, `${path}?dry_run=true`, body), await service.send(token, method, path, body)]
      expect([dry.status, dry.body.error.code, dry.body.error.message]).toEqual([status, made.body.error.code, made.body.error.message])
    }
    const { status } = await board.send('PATCH', `/cards/${cardId}?dry_run=true`, { title: 'x' }, { 'if-match': '"0"' })
    expect(status).toBe(412)
  })

  test('keeps no bytes of an upload', async () => {
    const { service, workspaceId, ann, board, cardId } = setup
    const form = new FormData()
    form.set('file', new File(['text'], 'a.txt'))
    const dry = await service.upload(ann.write, `/cards/${cardId}/attachments?dry_run=true`, form)
    expect([dry.status, dry.body.data]).toMatchObject([201, { name: 'a.txt', size: 4, file_id: expect.stringMatching(ZEROS) }])
    expect(await service.blobKeys()).toEqual(await service.blobKeysInUse(workspaceId))
    expect(await board.all(`/cards/${cardId}/attachments`)).toEqual([])
  })

  test.each(['', '1', 'TRUE', 'yes'])('is not asked for with the value %j', async (value) => {
    const { board } = setup
    const { status, body } = await board.send('PATCH', `/boards/${board.id}?dry_run=${value}`, { name: 'x' })
    expect([status, body.error.issues[0].path]).toEqual([422, 'dry_run'])
  })

  test('is no parameter of a read', async () => {
    const { board } = setup
    expect((await board.send('GET', `/boards/${board.id}?dry_run=true`)).status).toBe(422)
  })
})

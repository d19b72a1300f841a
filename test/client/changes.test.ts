import { expect, test } from 'vitest'
import { createClient, type Change, type ChangeStream } from '../../src/client/client.ts'
import { FakeService, refused, success } from '../support/fake-service.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'

const change = (seq: number): Change => ({
  seq,
  at: '2026-11-20T12:00:00.000Z',
  kind: 'card',
  id: 'crd_1',
  action: 'updated',
  actor_id: 'usr_1',
  request_id: 'r',
  data: {},
})
const page = (cursor: string | null, ...seqs: readonly number[]) => success(seqs.map(change), { page: { next_cursor: cursor } })
const searches = (service: FakeService) => service.sent.map(({ url }) => new URL(url).search)

test('changes are yielded in order, and each request continues from the last page', async () => {
  const service = new FakeService(page('c2', 1, 2), page('c2'), 'cut', page('c4', 3, 4))
  const found: number[] = []
  for await (const { seq } of service.client().changes({ board_id: 'brd_1', after: 'c0', wait: 20 })) if (found.push(seq) === 4) break
  expect(found).toEqual([1, 2, 3, 4])
  expect(service.sent[0]!.url).toContain('/v1/boards/brd_1/changes?')
  expect(searches(service)).toEqual(['?wait=20&after=c0', '?wait=20&after=c2', '?wait=20&after=c2', '?wait=20&after=c2'])
})

test('the cursor of a stream never skips a change that the reader has not handled', async () => {
  const service = new FakeService(page('c2', 1, 2), page('c3', 3), refused(410, 'cursor_expired'))
  const stream = service.client().changes({ board_id: 'brd_1' })
  expect(stream.cursor).toBeUndefined()
  const cursors: [seq: number, cursor: string | undefined][] = []
  const reading = (async () => {
    for await (const { seq } of stream) cursors.push([seq, stream.cursor])
  })()
  await expect(reading).rejects.toMatchObject({ name: 'ApiError', code: 'cursor_expired', status: 410 })
  expect(cursors).toEqual([
    [1, undefined],
    [2, undefined],
    [3, 'c2'],
  ])
  expect(stream.cursor).toBe('c3')
  expect(searches(service)[0]).toBe('?wait=30')
})

test('a long poll has the time that the service may wait, beside the time of each attempt', async () => {
  const timeouts: number[] = []
  const service = new FakeService(page('c1', 1))
  const timers = { setTimeout: (_callback: unknown, milliseconds: number) => timeouts.push(milliseconds), clearTimeout: () => undefined }
  const lk = service.client({ timers, timeout: 5000 })
  for await (const { seq } of lk.changes({ board_id: 'brd_1', wait: 20 })) if (seq === 1) break
  for await (const { seq } of lk.changes({ board_id: 'brd_1' }, { timeout: 1000 })) if (seq === 1) break
  await lk.boards.changes({ board_id: 'brd_1' })
  expect(timeouts).toEqual([25_000, 31_000, 5000])
})

test('a signal ends a stream', async () => {
  const service = new FakeService(page('c1', 1))
  const controller = new AbortController()
  const reading = (async () => {
    for await (const { seq } of service.client().changes({ board_id: 'brd_1' }, { signal: controller.signal }))
      if (seq === 1) controller.abort()
  })()
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' })
  expect(service.sent.length).toBe(1)
})

test('the changes of a board are followed, and continued by another stream', async () => {
  const service = await Service.start(memory)
  const ann = await service.person(await service.workspace())
  const lk = createClient({
    url: 'http://localhost',
    token: ann.admin,
    fetch: async (url, init) => service.app.fetch(new Request(url as string, init)),
  })
  const board_id = (await lk.boards.create({ name: 'Garden' })).data.id
  const column_id = (await lk.columns.create({ board_id, name: 'To do' })).data.id
  const card_id = (await lk.cards.create({ board_id, column_id, title: 'Sow' })).data.id
  /** Reads a number of changes. */
  const read = async (stream: ChangeStream<Change>, count: number) => {
    const found: unknown[] = []
    const iterator = stream[Symbol.asyncIterator]()
    while (found.length < count) {
      const { kind, action, id } = (await iterator.next()).value as Change
      found.push([kind, action, id])
    }
    await iterator.return?.(undefined as never)
    return found
  }
  expect(await read(lk.changes({ board_id, wait: 0 }), 3)).toEqual([
    ['board', 'created', board_id],
    ['column', 'created', column_id],
    ['card', 'created', card_id],
  ])
  const page = await lk.boards.changes({ board_id })
  await lk.cards.complete({ card_id, completed: true })
  await lk.cards.delete({ card_id })
  const stream = lk.changes({ board_id, after: page.nextCursor!, wait: 0 })
  expect(await read(stream, 2)).toEqual([
    ['card', 'updated', card_id],
    ['card', 'deleted', card_id],
  ])
  await service.stop()
})

import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { setUpBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { admitAtOnce } from '../support/no-admission.ts'

const setup = setUpBoard(memory)
const send = (items: readonly object[]) =>
  setup.service.send(setup.ann.write, 'POST', `/boards/${setup.board.id}/batch`, { operations: items })
const update = (body: object, card_id = setup.cardId) => ({ operation: 'cards.update', params: { card_id }, body })
const labels = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ operation: 'labels.create', body: { name: `${i}`, color: '#000000' } }))

test.each([
  [10, 0],
  [11, 1],
  [20, 1],
  [21, 2],
])('a batch of %i operations pauses %i times for other requests', async (count, expected) => {
  admitAtOnce(setup.service)
  const { scheduler } = setup.service.app.services
  const original = scheduler.slice
  let pauses = 0
  let release: (() => void) | undefined
  scheduler.slice = () => (pauses++, new Promise((resolve) => (release = resolve)))
  try {
    const answered = setup.service.records.length
    const reply = send(labels(count))
    for (let i = 1; i <= expected; i++) {
      await expect.poll(() => pauses, { interval: 1 }).toBe(i)
      await nextTurn()
      expect([pauses, setup.service.records.length]).toEqual([i, answered])
      release!()
    }
    expect([(await reply).status, pauses]).toEqual([200, expected])
  } finally {
    scheduler.slice = original
  }
})

test('a batch reads the targets of all its operations in one snapshot', async () => {
  const cards: string[] = []
  for (let i = 0; i < 10; i++) cards.push(await setup.board.card(setup.columnId))
  const tripsOf = async (ids: readonly string[]) => {
    const before = setup.service.store.trips
    expect((await send(ids.map((id) => update({ title: `${ids.length}` }, id)))).status).toBe(200)
    return setup.service.store.trips - before
  }
  // The first one tells the process what the token may do.
  await tripsOf(cards.slice(0, 1))
  expect(await tripsOf(cards)).toBe(await tripsOf(cards.slice(0, 2)))
})

test('a failure of storage is not that of an operation', async () => {
  const { store } = setup.service
  const items = [update({ title: 'x' }), { operation: 'cards.create', body: { column_id: setup.columnId, title: 'y' } }]
  let reads = 0
  for (let failing = 1; failing === 1 || reads >= failing - 1; failing++) {
    reads = 0
    store.beforeRead = async () => {
      if (++reads === failing) throw new StorageUnavailable('away')
    }
    const { status, body } = await send(items)
    store.beforeRead = undefined
    if (reads < failing) return expect([status, failing]).toEqual([200, expect.toSatisfy((count: number) => count > 2)])
    expect([status, body.error.code, body.error.index]).toEqual([503, 'unavailable', undefined])
  }
})

test('the ETag that was expected and the current one are those of the failed operation', async () => {
  const etag = (await setup.board.get(`/cards/${setup.cardId}`)).headers.get('etag')
  const { status, body, headers } = await send([...labels(1), { ...update({ title: 'x' }), if_match: '"0"' }])
  expect([status, body.error.index, body.error.current_etag, headers.get('etag')]).toEqual([412, 1, etag, etag])
})

test('the response may have exactly as many bytes as a page, and no more', async () => {
  const { data } = (await send([update({ title: 'x', description: '' })])).body.data.results[0]
  const base = JSON.stringify(data).length
  const description = 'd'.repeat(49_600)
  const repeated = Array.from({ length: 19 }, (_, i) => update({ title: i % 2 === 0 ? 'y' : 'x' }))
  const rest = limits.pageBytes - 20 * (base + description.length) - base
  const reply = (length: number) => send([update({ title: 'x', description }), ...repeated, update({ description: 'd'.repeat(length) })])
  expect(rest).toBeGreaterThan(0)
  expect((await reply(rest)).status).toBe(200)
  const refused = await reply(rest + 1)
  expect([refused.status, refused.body.error.issues]).toEqual([422, [expect.objectContaining({ path: 'operations.20' })]])
})

import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { Turns } from '../../src/governor/turns.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'

const setup = setUpBoard(memory)
const send = (items: readonly object[]) =>
  setup.service.send(setup.ann.write, 'POST', `/boards/${setup.board.id}/batch`, { operations: items })
const update = (body: object, card_id = setup.cardId) => ({ operation: 'cards.update', params: { card_id }, body })
const labels = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ operation: 'labels.create', body: { name: `${i}`, color: '#000000' } }))

/** A service whose operations take a millisecond each, by the clock of its turns. */
async function startSlow() {
  let now = 0
  const pauses: (() => void)[] = []
  const turns = new Turns({ now: () => now++, afterPause: (work: () => void) => pauses.push(work) })
  const service = await Service.start(memory, { turns })
  const waiting = vi.spyOn(turns, 'enter')
  const ann = await service.person(await service.workspace())
  const board = await TestBoard.create(service, ann)
  const send = (count: number) => service.send(ann.write, 'POST', `/boards/${board.id}/batch`, { operations: labels(count) })
  return { service, board, pauses, waiting, send }
}

test('a batch pauses for other requests before it reads its targets, and whenever its operations have taken a millisecond', async () => {
  const { service, pauses, send } = await startSlow()
  const answered = service.records.length
  const reply = send(5)
  for (let i = 0; i < 1 + 5; i++) {
    await expect.poll(() => pauses.length, { interval: 1 }).toBe(1)
    await nextTurn()
    expect({ pauses: pauses.length, records: service.records.length }).toEqual({ pauses: 1, records: answered })
    pauses.shift()!()
  }
  expect((await reply).status).toBe(200)
  await service.stop()
})

test('a batch that holds a lease that others wait for makes no pause', async () => {
  const { service, board, pauses, waiting, send } = await startSlow()
  let leases = 0
  const { takeLease } = service.store
  service.store.takeLease = (partition) => (leases++, takeLease.call(service.store, partition))
  let conflicts = 3
  const conflict = async (): Promise<void> => {
    conflicts--
    await board.put(`/boards/${board.id}/visibility`, { visibility: conflicts % 2 === 0 ? 'private' : 'workspace' })
    if (conflicts > 0) service.store.beforeCommit = conflict
  }
  service.store.beforeCommit = conflict
  const reply = send(5)
  while (leases === 0) {
    await nextTurn()
    for (const end of pauses.splice(0)) end()
  }
  // Three attempts of five operations, with a pause before each attempt; and one of each change of the visibility, which examines
  // assignments.
  expect({ status: (await reply).status, leases, pauses: waiting.mock.calls.length }).toEqual({ status: 200, leases: 1, pauses: 18 + 3 })
  await service.stop()
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

test('a failure of storage is not blamed on an operation', async () => {
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
    if (reads < failing)
      return expect({ status, failing }).toEqual({ status: 200, failing: expect.toSatisfy((count: number) => count > 2) })
    expect({ status, code: body.error.code, index: body.error.index }).toStrictEqual({ status: 503, code: 'unavailable', index: undefined })
  }
})

test("the ETag that was expected and the current one are the failed operation's", async () => {
  const etag = (await setup.board.get(`/cards/${setup.cardId}`)).headers.get('etag')
  const { status, body, headers } = await send([...labels(1), { ...update({ title: 'x' }), if_match: '"0"' }])
  expect({ status, index: body.error.index, currentEtag: body.error.current_etag, etag: headers.get('etag') }).toEqual({
    status: 412,
    index: 1,
    currentEtag: etag,
    etag,
  })
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
  expect({ status: refused.status, issues: refused.body.error.issues }).toEqual({
    status: 422,
    issues: [expect.objectContaining({ path: 'operations.20' })],
  })
})

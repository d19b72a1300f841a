import { setImmediate as nextRound } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Turns } from '../../src/governor/turns.ts'
import { TestBoard } from '../support/board.ts'
import { watchCards } from '../support/card-reads.ts'
import { redis } from '../support/redis-driver.ts'
import { Service } from '../support/service.ts'

// What a request asks of Redis is sent in one piece and decoded in one step. So a long one waits for a turn before it asks.

/** Each is longer than what the first step of a read reads. */
const LENGTH = 50_000
const EMOJI = '\u{1F600}'
const CARDS = 8

/** The pauses that were begun while they are held. Otherwise each ends at once. */
let pauses: (() => void)[]
let areHeld: boolean
/** The cards of lists that were read. */
let read: number
let service: Service
let board: TestBoard
let ids: string[]
beforeEach(async () => {
  pauses = []
  areHeld = false
  read = 0
  const afterPause = (end: () => void): unknown => (areHeld ? pauses.push(end) : setImmediate(end))
  service = await Service.start(redis, { turns: new Turns({ now: () => 0, afterPause }) })
  board = await TestBoard.create(service, await service.person(await service.workspace()))
  const column = await board.column()
  ids = []
  for (let i = 0; i < CARDS; i++) ids.push(await board.card(column, 'Card', { description: EMOJI.repeat(LENGTH) }))
  watchCards(service, (cards) => (read += cards))
  areHeld = true
})
afterEach(() => service.stop())

/** Lets all turns begin from now on. */
function endPauses(): void {
  areHeld = false
  for (const end of pauses.splice(0)) end()
}

/** A person of another workspace lists cards and comments on one. */
async function expectOthersAnswered(): Promise<void> {
  areHeld = false
  const other = await TestBoard.create(service, await service.person(await service.workspace('Other')))
  const card = await other.card(await other.column())
  areHeld = true
  expect((await other.get(`/boards/${other.id}/cards`)).status).toBe(200)
  expect((await other.send('POST', `/cards/${card}/comments`, { body: 'A comment' })).status).toBe(201)
}

test.each(['/cards?limit=100', '?include=cards'])(
  'a request for long cards, /boards/ID%s, waits before it reads them, and others do not',
  async (rest) => {
    const long = board.get(`/boards/${board.id}${rest}`)
    await expect.poll(() => pauses.length).toBe(1)
    const before = read
    await expectOthersAnswered()
    // The other board has one card.
    expect({ before, read }).toEqual({ before: 0, read: 1 })
    endPauses()
    expect((await long).status).toBe(200)
    expect(read).toBeGreaterThan(1)
  },
)

test('many requests of one token read their long cards one after the other', async () => {
  const all = Array.from({ length: 10 }, () => board.get(`/boards/${board.id}/cards?limit=100`))
  /** The most requests that have read cards and are not answered yet. */
  let most = 0
  let answered = 0
  for (const one of all) void one.then(() => answered++)
  let begun = 0
  watchCards(service, () => (most = Math.max(most, ++begun - answered)))
  while (answered < all.length) {
    await nextRound()
    pauses.shift()?.()
  }
  expect(begun).toBeGreaterThanOrEqual(all.length)
  expect(most).toBe(1)
})

test('a request that has a lease does not wait before it reads long cards', async () => {
  const { read: readStore, takeLease } = service.store
  let conflicts = 0
  let leases = 0
  service.store.read = async (partition, request) => {
    if (request.ranges.some(({ fetch }) => fetch === 'card:') && conflicts++ < 3) return null
    return readStore.call(service.store, partition, request)
  }
  service.store.takeLease = (partition) => {
    leases++
    return takeLease.call(service.store, partition)
  }
  const long = board.get(`/boards/${board.id}/cards?limit=100`)
  await expect.poll(() => read).toBeGreaterThan(0)
  expect(leases).toBe(1)
  endPauses()
  expect((await long).status).toBe(200)
})

test('a batch waits before it reads the cards that it names', async () => {
  const operations = ids.slice(0, 5).map((card_id) => ({ operation: 'cards.complete', params: { card_id }, body: { completed: true } }))
  const { read: readStore } = service.store
  const keys: string[] = []
  service.store.read = (partition, request) => {
    keys.push(...request.records.flatMap((key) => (typeof key === 'string' ? key : (key[0] as string))))
    return readStore.call(service.store, partition, request)
  }
  const batch = board.send('POST', `/boards/${board.id}/batch`, { operations })
  await expect.poll(() => pauses.length).toBe(1)
  const cardsRead = () => new Set(keys.filter((key) => key.startsWith('card:'))).size
  expect(cardsRead()).toBe(0)
  endPauses()
  expect((await batch).status).toBe(200)
  expect(cardsRead()).toBe(5)
})

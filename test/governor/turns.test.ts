import { request as httpRequest } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Turn, Turns } from '../../src/governor/turns.ts'
import { startListener } from '../../src/listener/listener.ts'
import type { Card } from '../../src/model/card.ts'
import { Examination } from '../../src/resources/cards/examination.ts'
import type { Index } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { change } from '../support/changes.ts'
import { TestBoard } from '../support/board.ts'
import { watchCards } from '../support/card-reads.ts'
import { drivers } from '../support/drivers.ts'
import { memory } from '../support/memory.ts'
import { setUpRecords } from '../support/memory-records.ts'
import { Service } from '../support/service.ts'

/** Turns whose pauses end when the test says so. Each question about the time takes some milliseconds. */
function heldTurns(milliseconds = 1) {
  const pauses: { readonly end: () => void; readonly length: number }[] = []
  let now = 0
  const work = (time: number): void => void (now += time)
  const turns = new Turns({ now: () => (now += milliseconds), afterPause: (end, length) => pauses.push({ end, length }) })
  /** @returns how long the pause was */
  const endPause = async (): Promise<number> => {
    const { end, length } = pauses.shift()!
    end()
    await nextTurn()
    return length
  }
  return { turns, pauses, endPause, work }
}

const forever = new AbortController().signal
const worker = (workspaceId: string, id: string, signal = forever) => ({ workspaceId, id, signal })

describe('the turns of the event loop', () => {
  test('are measured by the monotonic clock of the process', () => {
    const before = performance.now()
    const now = new Turns().now()
    expect(before).toBeLessThanOrEqual(now)
    expect(now).toBeLessThanOrEqual(performance.now())
  })

  test('a turn whose client leaves while it works still ends before the next one of its token', async () => {
    const { turns, endPause } = heldTurns(0)
    const client = new AbortController()
    const [first, second] = [client.signal, forever].map((signal) => new Turn(turns, worker('a', 'ann', signal)))
    const working = first!.take()
    await endPause()
    await working
    let isWorking = false
    void second!.take().then(() => (isWorking = true))
    client.abort()
    await endPause()
    expect(isWorking).toBe(false)
    first!.leave()
    await endPause()
    expect(isWorking).toBe(true)
  })

  test('the wait of a client that leaves is no work', async () => {
    const { turns, pauses, endPause, work } = heldTurns(0)
    const client = new AbortController()
    const left = new Turn(turns, worker('a', 'ann', client.signal)).take()
    work(8)
    client.abort()
    await expect(left).rejects.toThrow()
    await endPause()
    void new Turn(turns, worker('a', 'ann')).take()
    expect(pauses.map(({ length }) => length)).toEqual([1])
  })

  test('parts of one request wait together, and one that ends takes the turn from no other', async () => {
    const { turns, pauses, endPause } = heldTurns(0)
    const turn = new Turn(turns, worker('a', 'ann'))
    const parts = [turn.take(), turn.take()]
    turn.leave()
    await endPause()
    await Promise.all(parts)
    const again = turn.take()
    turn.leave()
    while (pauses.length > 0) await endPause()
    await again
    turn.leave()
    const next = new Turn(turns, worker('a', 'ann')).take()
    while (pauses.length > 0) await endPause()
    await next
  })

  test('short work for pieces of data waits for a turn when its allowance is used up, and has none while it waits for data', async () => {
    const { turns, pauses, work, endPause } = heldTurns(0)
    const turn = new Turn(turns, worker('a', 'ann'))
    const pieces = turn.share(of([1, 2, 3]), turns.forUploads)
    expect((await pieces.next()).value).toBe(1)
    work(0.8)
    expect({ value: (await pieces.next()).value, pauses: pauses.length }).toEqual({ value: 2, pauses: 0 })
    work(0.8)
    const next = pieces.next()
    await expect.poll(() => pauses.length).toBe(1)
    await endPause()
    expect((await next).value).toBe(3)
    // Another request of the token can have its turn.
    const other = new Turn(turns, worker('a', 'ann')).take()
    while (pauses.length > 0) await endPause()
    await other
    await pieces.return(undefined)
  })

  test('an allowance is a fourth of the time, also of work in long pieces', () => {
    const { turns, work } = heldTurns(0)
    const { forUploads } = turns
    const after = (time: number) => (work(time), forUploads.isLeft)
    expect(forUploads.isLeft).toBe(true)
    forUploads.add(6)
    expect([after(6), after(13), after(2)]).toEqual([false, false, true])
    // However long a piece was, the allowance is there again after a tenth of a second.
    forUploads.add(1000)
    expect([after(90), after(10)]).toEqual([false, true])
  })

  test('a request that has worked for less than a millisecond goes on', () => {
    const { turns, pauses, work } = heldTurns(0)
    const turn = new Turn(turns, worker('a', 'ann'))
    work(0.9)
    expect({ spent: turn.spent(), pauses }).toStrictEqual({ spent: undefined, pauses: [] })
  })

  test('after a turn, others have three times as much time as it used, and at most 24 milliseconds', async () => {
    const { turns, endPause, work } = heldTurns(0)
    const lengths: number[] = []
    const turn = new Turn(turns, worker('a', 'ann'))
    for (const used of [1, 3.5, 20, 1]) {
      work(used)
      const pause = turn.spent()!
      lengths.push(await endPause())
      // The pause after a turn is the shortest one. Nobody waits then.
      lengths.push(await endPause())
      await pause
    }
    expect(lengths).toEqual([3, 1, 10.5, 1, 24, 1, 3, 1])
  })

  test('the time that was used at the end of a turn is paid for, too', async () => {
    const { turns, endPause, pauses, work } = heldTurns(0)
    const [first, second] = ['ann', 'bob'].map((id) => new Turn(turns, worker('a', id)))
    void first!.take()
    await endPause()
    await endPause()
    expect(pauses).toEqual([])
    const waiting = second!.take()
    await endPause()
    await waiting
    work(5)
    first!.leave()
    first!.leave()
    const next = second!.take()
    expect([await endPause(), await endPause()]).toEqual([1, 24])
    await next
  })

  test('the workspaces alternate, then the tokens, and a token has one request at a time', async () => {
    const { turns, endPause, pauses } = heldTurns()
    let order = ''
    const run = async (name: string, workspaceId: string, id: string): Promise<void> => {
      const turn = new Turn(turns, worker(workspaceId, id))
      for (let i = 0; i < 3; i++) {
        await turn.spent()
        order += name
      }
      turn.leave()
    }
    const all = [run('1', 'a', 'ann'), run('2', 'a', 'ann'), run('3', 'a', 'bob'), run('x', 'b', 'ann')]
    while (pauses.length > 0) await endPause()
    await Promise.all(all)
    expect(order).toBe('1x3x1x313222')
  })

  test('work that waits for storage holds up its own token only', async () => {
    const { turns, endPause } = heldTurns()
    const begun: string[] = []
    const take = (name: string, id: string) => {
      const turn = new Turn(turns, worker('a', id))
      void turn.take().then(() => begun.push(name))
      return turn
    }
    const first = take('first', 'ann')
    take('second', 'ann')
    take('other', 'bob')
    for (let i = 0; i < 3; i++) await endPause()
    expect(begun).toEqual(['first', 'other'])
    first.leave()
    await endPause()
    expect(begun).toEqual(['first', 'other', 'second'])
  })

  test('work that goes on after the end of its request waits for nobody, and holds up nobody', async () => {
    const { turns, endPause, pauses } = heldTurns()
    const ended = new Turn(turns, worker('a', 'ann'))
    const waiting = ended.take()
    ended.end()
    await waiting
    await ended.take()
    let isGranted = false
    void new Turn(turns, worker('a', 'ann')).take().then(() => (isGranted = true))
    for (let i = 0; i < 2 && pauses.length > 0; i++) await endPause()
    expect(isGranted).toBe(true)
  })

  test('a request that has a lease waits for nobody', async () => {
    const { turns, pauses } = heldTurns()
    const turn = new Turn(turns, worker('a', 'ann'))
    turn.hasLease = true
    await turn.spent()
    expect(pauses).toEqual([])
  })

  test('a thousand requests whose clients leave, before they wait or while they do, hold up nobody', async () => {
    const { turns, endPause, pauses } = heldTurns()
    const clients = Array.from({ length: 1000 }, () => new AbortController())
    const refused: unknown[] = []
    const all = clients.map(({ signal }, i) => new Turn(turns, worker(`w${i % 3}`, `t${i % 7}`, signal)))
    for (const one of all) void one.take().catch(({ code }) => refused.push(code))
    for (const client of clients) client.abort()
    for (const one of all) void one.take().catch(({ code }) => refused.push(code))
    await nextTurn()
    expect({ count: refused.length, codes: new Set(refused) }).toEqual({ count: 2000, codes: new Set(['request_timeout']) })
    let isGranted = false
    void new Turn(turns, worker('w0', 't0')).take().then(() => (isGranted = true))
    await endPause()
    expect({ isGranted, pauses: pauses.length }).toEqual({ isGranted: true, pauses: 1 })
    await endPause()
    expect(pauses).toEqual([])
  })

  test('a request whose client leaves during its turn is refused at its next step', async () => {
    const { turns, endPause } = heldTurns()
    const client = new AbortController()
    const turn = new Turn(turns, worker('a', 'ann', client.signal))
    const begun = turn.take()
    await endPause()
    await begun
    client.abort()
    await expect(turn.spent()).rejects.toMatchObject({ code: 'request_timeout' })
  })
})

/** A board with many cards without the letter q. */
async function largeBoard(service: Service, cards: number): Promise<TestBoard> {
  const board = await TestBoard.create(service, await service.person(await service.workspace()))
  const columns = [await board.column(), await board.column()]
  for (let i = 0; i < cards; i++) await board.card(columns[i % 2]!, 'A card', { description: 'x'.repeat(1000) })
  return board
}

describe.each(drivers)('a search on $name', (driver) => {
  test('between two pauses, few cards are read and examined', async () => {
    let read = 0
    const perPause: number[] = []
    const afterPause = (work: () => void): void => {
      perPause.push(read)
      read = 0
      setImmediate(work)
    }
    let now = 0
    // Ten questions about the time take a millisecond.
    const service = await Service.start(driver, { turns: new Turns({ now: () => (now += 0.1), afterPause }) })
    const board = await largeBoard(service, 150)
    watchCards(service, (records) => (read += records))
    for (const path of [`/boards/${board.id}/cards?q=q`, '/cards?q=q', '/cards?q=q&sort=position', '/cards?archived=true']) {
      perPause.length = read = 0
      expect((await board.get(path)).body.data).toEqual([])
      expect(perPause.length, path).toBeGreaterThanOrEqual(10)
      expect(Math.max(...perPause), path).toBeLessThanOrEqual(32)
    }
    await service.stop()
  })
})

const card = (id: string, description: string) => ({ id: `crd_${id.repeat(20)}`, title: id, description }) as unknown as Card

describe('the examination of cards', () => {
  const free = () => undefined
  const records = setUpRecords()

  test('the transaction forgets the cards that do not match', async () => {
    const cards = [card('a', ''), card('b', ''), card('c', '')]
    const put = Object.fromEntries(cards.map((one) => [keys.card(one.id), { ...one }]))
    await records.store.commit('w', change({ put, index: { i: { add: cards.map(({ id }) => `x ${id}`) } } }))
    const tx = records.begin()
    const index: Index<Card> = { name: 'i', fetch: 'card:' }
    const { values } = await tx.range(index, { limit: 3, weak: 'records' })
    const examination = new Examination(tx, free, ({ title }) => title === 'b')
    expect(await examination.matching(values as Card[])).toEqual([cards[1]])
    expect(cards.map(({ id }) => typeof tx.revisionOf(keys.card(id)))).toEqual(['undefined', 'string', 'undefined'])
  })

  test('the longer the cards are, the fewer are read at once', async () => {
    const steps: number[] = []
    for (const length of [0, 1000, 10_000, 50_000, 1_000_000]) {
      const examination = new Examination(records.begin(), free, () => false)
      steps.push(examination.step)
      await examination.matching([card('a', 'x'.repeat(length)), card('b', 'x'.repeat(length))])
      steps.push(examination.step)
    }
    expect(steps).toEqual([32, 32, 32, 32, 32, 6, 32, 1, 32, 1])
  })
})

test('a search that waits ends when its client closes the connection', async () => {
  const { turns, pauses } = heldTurns()
  const service = await Service.start(memory, { turns })
  const board = await largeBoard(service, 1)
  const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  const headers = { authorization: `Bearer ${board.creator.read}` }
  const sent = httpRequest(`${listener.url}/v1/boards/${board.id}/cards?q=q`, { headers, agent: false })
  sent.on('error', () => undefined).end()
  await expect.poll(() => pauses.length).toBe(1)
  sent.destroy()
  const statuses = () => service.records.filter(({ operation }) => operation === 'cards.list').map(({ status }) => status)
  await expect.poll(statuses).toEqual([408])
  await listener.close()
  await service.stop()
})

test('large bodies are parsed one at a time, with pauses between them, and small ones do not wait', async () => {
  const { turns, endPause, pauses } = heldTurns(0)
  const service = await Service.start(memory, { turns })
  const workspaceId = await service.workspace()
  const people = [await service.person(workspaceId), await service.person(workspaceId)]
  const answered: number[] = []
  const create = async (members: number, { write } = people[0]!): Promise<void> => {
    const unknown = Object.fromEntries(Array.from({ length: members }, (_, i) => [`m${i}`, 1]))
    answered.push((await service.send(write, 'POST', '/boards', { name: 'x', ...unknown })).status)
  }
  const large = [create(5000), create(5000), create(5000, people[1])]
  await expect.poll(() => pauses.length).toBe(1)
  await create(10)
  expect(answered).toEqual([422])
  for (let parsed = 1; parsed <= 3; parsed++) {
    await expect.poll(() => pauses.length).toBe(1)
    await endPause()
    await expect.poll(() => answered.length).toBe(1 + parsed)
  }
  await Promise.all(large)
  await service.stop()
})

async function* of<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items
}

import { request as httpRequest } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { startListener } from '../../src/listener/listener.ts'
import type { Card } from '../../src/model/card.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { Examination } from '../../src/resources/cards/examination.ts'
import { Scheduler, type Scan, type Scanner } from '../../src/resources/scheduler.ts'
import type { Index } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { Transaction } from '../../src/store/transaction.ts'
import { change } from '../support/changes.ts'
import { TestBoard } from '../support/board.ts'
import { watchCards } from '../support/card-reads.ts'
import { drivers } from '../support/drivers.ts'
import { effort } from '../support/effort.ts'
import { memory } from '../support/memory.ts'
import { admitAtOnce } from '../support/no-admission.ts'
import { Service } from '../support/service.ts'

/** Scheduler whose pauses end when the test says so. */
function heldScheduler(slice: number, now?: () => number) {
  const pauses: (() => void)[] = []
  let turns = 0
  const options = { slice, afterPause: (work: () => void) => pauses.push(work), nextTurn: async () => void turns++, ...(now && { now }) }
  const endPause = async (): Promise<void> => {
    pauses.shift()!()
    await nextTurn()
  }
  return { scheduler: new Scheduler(options), pauses, endPause, turns: () => turns }
}

const forever = new AbortController().signal
const user = (workspaceId: string, userId: string, members: Partial<Scanner> = {}): Scanner => ({
  workspaceId,
  userId,
  hasLease: false,
  signal: forever,
  ...members,
})
/** Examines one unit after the other, and notes each. */
async function examineAll(scan: Scan, units: number, note: () => void): Promise<void> {
  for (let i = 0; i < units; i++) {
    await scan.examine(1)
    note()
  }
  scan.end()
}

describe('the scheduler', () => {
  test('a scan examines one slice between two pauses', async () => {
    const { scheduler, endPause, pauses } = heldScheduler(10)
    let examined = 0
    const done = scheduler.begin(user('a', 'ann')).then((scan) => examineAll(scan, 35, () => examined++))
    const progress: number[] = []
    for (await nextTurn(); pauses.length > 0; await endPause()) progress.push(examined)
    await done
    expect([...progress, examined]).toEqual([10, 20, 30, 35])
  })

  test('what is larger than a slice is examined alone', async () => {
    const { scheduler, endPause } = heldScheduler(10)
    const scan = await scheduler.begin(user('a', 'ann'))
    const large = scan.examine(25)
    expect(large).toBeInstanceOf(Promise)
    await Promise.all([large, endPause()])
    expect(scan.examine(1)).toBeInstanceOf(Promise)
  })

  test('between two pauses only one scan examines, and the workspaces alternate', async () => {
    const { scheduler, endPause, pauses } = heldScheduler(10)
    let order = ''
    const examine = async (workspace: string, name: string) =>
      examineAll(await scheduler.begin(user(workspace, name)), 40, () => (order += workspace))
    const done = Promise.all(['ann', 'bob', 'cleo', 'dan'].map((name) => examine('a', name)))
    await nextTurn()
    const other = examine('b', 'eve')
    await nextTurn()
    order = ''
    while (pauses.length > 0) await endPause()
    await Promise.all([done, other])
    const slices = order.match(/.{10}/g)!.map(([first, ...rest]) => (rest.every((one) => one === first) ? first : 'mixed'))
    expect(slices.join('')).toBe('abababaaaaaaaaa')
  })

  test('a user has one scan at a time in a workspace, in the order of their requests', async () => {
    const { scheduler } = heldScheduler(10)
    const begun: string[] = []
    const begin = (name: string, workspaceId = 'a', userId = 'ann') =>
      scheduler.begin(user(workspaceId, userId)).then((scan) => (begun.push(name), scan))
    const first = await begin('first')
    void begin('second')
    void begin('third')
    await Promise.all([begin('other user', 'a', 'bob'), begin('other workspace', 'b', 'ann')])
    await nextTurn()
    expect(begun).toEqual(['first', 'other user', 'other workspace'])
    first.end()
    first.end()
    await nextTurn()
    expect(begun).toHaveLength(3)
  })

  test('a scan that waited for another one begins after a pause', async () => {
    const { scheduler, endPause, pauses } = heldScheduler(10)
    const first = await scheduler.begin(user('a', 'ann'))
    let hasBegun = false
    const second = scheduler.begin(user('a', 'ann')).then((scan) => ((hasBegun = true), scan))
    first.end()
    await nextTurn()
    expect([hasBegun, pauses.length]).toEqual([false, 1])
    await endPause()
    expect(hasBegun).toBe(true)
    ;(await second).end()
    // None waits any more: the next one begins at once.
    await scheduler.begin(user('a', 'ann'))
    expect(pauses).toHaveLength(0)
  })

  test('a scan with a lease waits for no other scan and makes no pause, but lets others run', async () => {
    const { scheduler, pauses, turns } = heldScheduler(10)
    const first = await scheduler.begin(user('a', 'ann'))
    const scan = await scheduler.begin(user('a', 'ann', { hasLease: true }))
    let examined = 0
    await examineAll(scan, 30, () => examined++)
    expect([examined, turns(), pauses.length]).toEqual([30, 2, 0])
    let hasBegun = false
    void scheduler.begin(user('a', 'ann')).then(() => (hasBegun = true))
    await nextTurn()
    expect(hasBegun).toBe(false)
    first.end()
  })

  test('work in steps makes no pause before a millisecond is over, and pauses as long as it has worked', async () => {
    let now = 0
    const pauses: number[] = []
    const afterPause = (work: () => void, count: number) => (pauses.push(count), setImmediate(work))
    const scheduler = new Scheduler({ now: () => now, afterPause })
    const stint = scheduler.stint(user('a', 'ann'))
    const after = async (milliseconds: number) => {
      pauses.length = 0
      now += milliseconds
      await stint.next()
      await nextTurn()
      return [...pauses]
    }
    expect([await after(0.5), await after(0.5), await after(0.9), await after(5), await after(0)]).toEqual([[], [1], [], [1, 5], []])
  })

  test('what has a lease makes no pause, but lets others run', async () => {
    let now = 0
    const { scheduler, pauses, turns } = heldScheduler(10, () => now++)
    const holder = user('a', 'ann', { hasLease: true })
    await Promise.all([scheduler.slice(holder, 5), scheduler.stint(holder).next()])
    expect([turns(), pauses.length]).toEqual([2, 0])
  })

  test('a thousand that wait for slices leave no queue behind when their clients leave', async () => {
    const { scheduler, endPause, pauses } = heldScheduler(10)
    const clients = Array.from({ length: 1000 }, () => new AbortController())
    const refused: unknown[] = []
    for (const [i, { signal }] of clients.entries())
      void scheduler.slice(user(`w${i % 3}`, 'ann', { signal }), 100).catch(({ code }) => refused.push(code))
    for (const client of clients) client.abort()
    await expect(scheduler.slice(user('w0', 'ann', { signal: clients[0]!.signal }))).rejects.toMatchObject({ code: 'request_timeout' })
    expect([refused.length, new Set(refused)]).toEqual([1000, new Set(['request_timeout'])])
    let isGranted = false
    void scheduler.slice(user('w0', 'bob')).then(() => (isGranted = true))
    await endPause()
    expect([isGranted, pauses.length]).toEqual([true, 0])
  })

  test('a scan whose client leaves is dropped: before it begins, while it waits, and while it examines', async () => {
    const { scheduler, endPause } = heldScheduler(10)
    const clients = Array.from({ length: 3 }, () => new AbortController())
    const refused = { code: 'request_timeout' }
    const running = await scheduler.begin(user('a', 'ann', { signal: clients[0]!.signal }))
    const waiting = scheduler.begin(user('a', 'ann', { signal: clients[1]!.signal }))
    clients[1]!.abort()
    await expect(waiting).rejects.toMatchObject(refused)
    clients[2]!.abort()
    await expect(scheduler.begin(user('b', 'bob', { signal: clients[2]!.signal }))).rejects.toMatchObject(refused)
    const pause = running.examine(11)!
    clients[0]!.abort()
    await Promise.all([expect(pause).rejects.toMatchObject(refused), endPause()])
    expect(() => running.examine(1)).toThrow(expect.objectContaining(refused))
    running.end()
    // The dropped ones left no place occupied.
    await Promise.all([scheduler.begin(user('a', 'ann')), scheduler.begin(user('b', 'bob'))])
  })
})

/** A board with many cards, none of which has the letter q. */
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
    const service = await Service.start(driver, { scheduler: new Scheduler({ slice: 30_000, afterPause }) })
    admitAtOnce(service)
    const board = await largeBoard(service, 150)
    watchCards(service, (records) => (read += records))
    for (const path of [`/boards/${board.id}/cards?q=q`, '/cards?q=q', '/cards?q=q&sort=position', '/cards?archived=true']) {
      perPause.length = read = 0
      expect((await board.get(path)).body.data).toEqual([])
      expect([path, perPause.length >= 10, Math.max(...perPause) <= 32]).toEqual([path, true, true])
    }
    await service.stop()
  })
})

const card = (id: string, description: string) => ({ id: `crd_${id.repeat(20)}`, title: id, description }) as unknown as Card

describe('the examination of cards', () => {
  const free: Scan = { examine: () => undefined, end: () => undefined }

  test('the transaction forgets the cards that do not match', async () => {
    const cards = [card('a', ''), card('b', ''), card('c', '')]
    const store = createMemoryStore()
    const entries = cards.map(({ id }) => `x ${id}`)
    const put = Object.fromEntries(cards.map((one) => [keys.card(one.id), { ...one }]))
    await store.commit('w', change({ put, index: { i: { add: entries } } }))
    const tx = new Transaction(store, 'w', systemRandom)
    const index: Index<Card> = { name: 'i', fetch: 'card:' }
    const { values } = await tx.range(index, { limit: 3, weak: 'records' })
    const examination = new Examination(tx, free, ({ title }) => title === 'b')
    expect(await examination.matching(values as Card[])).toEqual([cards[1]])
    expect(cards.map(({ id }) => typeof tx.revisionOf(keys.card(id)))).toEqual(['undefined', 'string', 'undefined'])
  })

  test('the longer the cards are, the fewer are read at once', async () => {
    const steps: number[] = []
    for (const length of [0, 1000, 10_000, 50_000, 1_000_000]) {
      const examination = new Examination(new Transaction(createMemoryStore(), 'w', systemRandom), free, () => false)
      steps.push(examination.step)
      await examination.matching([card('a', 'x'.repeat(length)), card('b', 'x'.repeat(length))])
      steps.push(examination.step)
    }
    expect(steps).toEqual([32, 32, 32, 32, 32, 6, 32, 1, 32, 1])
  })
})

test('a search that waits ends when its client closes the connection', async () => {
  const { scheduler, pauses } = heldScheduler(10)
  const { begin } = scheduler
  let begun = 0
  scheduler.begin = (scanner) => (begun++, begin.call(scheduler, scanner))
  const service = await Service.start(memory, { scheduler })
  const board = await largeBoard(service, 1)
  const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  const send = () => {
    const headers = { authorization: `Bearer ${board.creator.read}` }
    const sent = httpRequest(`${listener.url}/v1/boards/${board.id}/cards?q=q`, { headers, agent: false })
    return sent.on('error', () => undefined).end()
  }
  const statuses = () => service.records.filter(({ operation }) => operation === 'cards.list').map(({ status }) => status)
  const first = send()
  await expect.poll(() => pauses.length).toBe(1)
  const second = send()
  await expect.poll(() => begun).toBe(2)
  second.destroy()
  await expect.poll(statuses).toEqual([408])
  first.destroy()
  const endPauses = () => {
    for (const end of pauses.splice(0)) end()
  }
  await expect.poll(() => (endPauses(), statuses())).toEqual([408, 408])
  await listener.close()
  await service.stop()
})

test('expensive requests whose clients close their connections leave no queue behind', async () => {
  const { scheduler, pauses, endPause } = heldScheduler(10)
  const service = await Service.start(memory, { scheduler })
  const board = await largeBoard(service, 1)
  const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  const question = { subject: { type: 'user', id: 'me' }, action: { name: 'boards.read' }, resource: { type: 'board', id: board.id } }
  const body = JSON.stringify({ evaluations: Array.from({ length: 100 }, () => question) })
  const count = effort(200)
  const waiting = vi.spyOn(scheduler, 'slice')
  const sent = Array.from({ length: count }, () => {
    const headers = { authorization: `Bearer ${board.creator.read}`, 'content-type': 'application/json' }
    const request = httpRequest(`${listener.url}/v1/access/evaluations`, { method: 'POST', headers, agent: false })
    return request.on('error', () => undefined).end(body)
  })
  await expect.poll(() => waiting.mock.calls.length, { timeout: 60_000 }).toBe(count)
  for (const one of sent) one.destroy()
  const statuses = () => service.records.filter(({ operation }) => operation === 'access.evaluate_all').map(({ status }) => status)
  await expect.poll(() => statuses().length, { timeout: 60_000 }).toBe(count)
  expect(new Set(statuses())).toEqual(new Set([408]))
  await endPause()
  expect(pauses.length).toBe(0)
  await listener.close()
  await service.stop()
})

test('large bodies are parsed one at a time, with pauses between them, and small ones do not wait', async () => {
  const { scheduler, endPause, pauses } = heldScheduler(10)
  const service = await Service.start(memory, { scheduler })
  const { write } = await service.person(await service.workspace())
  const answered: number[] = []
  const create = async (members: number): Promise<void> => {
    const unknown = Object.fromEntries(Array.from({ length: members }, (_, i) => [`m${i}`, 1]))
    answered.push((await service.send(write, 'POST', '/boards', { name: 'x', ...unknown })).status)
  }
  const large = Array.from({ length: 3 }, () => create(5000))
  await expect.poll(() => pauses.length).toBe(1)
  await create(10)
  expect(answered).toEqual([422])
  for (let parsed = 1; parsed <= 3; parsed++) {
    await endPause()
    await expect.poll(() => answered.length).toBe(1 + parsed)
  }
  await Promise.all(large)
  await service.stop()
})

test('a large body is received in parts, with a pause after each', async () => {
  const { scheduler, endPause, pauses } = heldScheduler(10)
  const service = await Service.start(memory, { scheduler })
  const { write } = await service.person(await service.workspace())
  const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  let status: number | undefined
  const headers = { authorization: `Bearer ${write}`, 'content-type': 'application/json' }
  const sent = httpRequest(
    `${listener.url}/v1/boards`,
    { method: 'POST', headers, agent: false },
    (response) => (status = response.statusCode),
  )
  sent.end(JSON.stringify({ name: 'x', description: 'x'.repeat(500_000) }))
  let parts = 0
  for (; status === undefined; parts++) {
    await expect.poll(() => pauses.length + (status === undefined ? 0 : 1)).toBe(1)
    if (status === undefined) await endPause()
  }
  // A part has at most 64 KiB.
  expect([status, parts > 7]).toEqual([422, true])
  await listener.close()
  await service.stop()
})

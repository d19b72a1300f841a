import { beforeEach, describe, expect, test } from 'vitest'
import { Recalls } from '../../src/http/recalls.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { StorageUnavailable, type Stored } from '../../src/store/port.ts'
import { resolveTemplates } from '../../src/store/templates.ts'
import { transact } from '../../src/store/transact.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'

// A write begins with what its process remembers, which may not be true any more. Nothing that anybody gets to know may show that.

let sent = 0
const service = await Service.forSuite(undefined, {
  sendDelivery: async () => (sent++, { status: 204 }),
  rateLimits: { quotas: { token: 60, workspace: 1000, address: 1000 } },
})
const workspaceId = await service.workspace()
let person: Person
let board: TestBoard
let column: string
let card: string

/** The records that the process has read and written, as they were then. */
const remembered = new Map<string, Stored | null>()
const read = service.store.read.bind(service.store)
service.store.read = async (partition, request) => {
  const snapshot = await read(partition, request)
  for (const { key, stored } of snapshot?.records ?? []) if (key !== null) remembered.set(key, stored)
  return snapshot
}
const commit = service.store.commit.bind(service.store)
service.store.commit = async (partition, change) => {
  const outcome = await commit(partition, change)
  if (outcome === 'done') for (const [key, value] of change.put) remembered.set(key, { revision: change.revision, value })
  return outcome
}
let recalled = 0
service.store.recall = (_partition, templates) => {
  let isKnown = true
  const found = resolveTemplates(templates, (key) => {
    isKnown &&= remembered.has(key)
    return remembered.get(key) ?? null
  })
  if (!isKnown) return undefined
  recalled++
  return found
}

/** Another process changes a record, and this one does not know. Undefined removes it. */
const elsewhere = <T>(key: Key<T>, change: (value: T) => T | undefined) =>
  transact(service.place.store, workspaceId, service.deps.random, async (tx) => {
    const changed = change((await tx.get(key))!)
    if (changed === undefined) tx.remove(key)
    else tx.put(key, changed)
  })
const now = () => new Date(service.now).toISOString()
const patch = (body: object = { title: 'New' }, query = '') => service.send(person.write, 'PATCH', `/cards/${card}${query}`, body)
const stored = () => service.write(workspaceId, (tx) => tx.get(keys.card(card)))
const attempts = () => service.records.at(-1)!.attempts
/** Sends a request, and counts the accesses to the storage. */
const counted = async <T>(work: () => Promise<T>): Promise<readonly [result: T, trips: number]> => {
  const before = service.store.trips
  const result = await work()
  return [result, service.store.trips - before]
}

beforeEach(async () => {
  service.now += 60_000
  person = await service.person(workspaceId, 'owner')
  board = await TestBoard.create(service, person)
  column = await board.column()
  card = await board.card(column)
  await patch({ title: 'First' })
  Object.assign(service.app.services, { recalls: new Recalls() })
  recalled = 0
})

describe('a list that begins with what its process remembers', () => {
  const list = () => service.send(person.read, 'GET', `/boards/${board.id}/cards`)
  beforeEach(async () => {
    await list()
    recalled = 0
  })

  test('is one access to the storage if all of it is true', async () => {
    const [{ status, body }, trips] = await counted(list)
    expect({ status, cards: body.data.length, trips, recalled }).toEqual({ status: 200, cards: 1, trips: 1, recalled: 1 })
  })

  test.each<[what: string, change: () => Promise<unknown>, status: number]>([
    ['a revoked token', () => elsewhere(keys.token(sha256Hex(person.read)), (value) => ({ ...value, revoked_at: now() })), 401],
    ['the token of a former member', () => elsewhere(keys.membership(person.id), (value) => ({ ...value, ended_at: now() })), 401],
    ['a removed board', () => elsewhere(keys.board(board.id), () => undefined), 404],
    ['a private board of another person', () => hide(), 404],
  ])('is refused for %s', async (_what, change, status) => {
    await change()
    expect({ status: (await list()).status, recalled }).toEqual({ status, recalled: 1 })
  })

  test('is not refused for what is not true any more', async () => {
    remembered.set(keys.token(sha256Hex(person.read)), null)
    expect({ status: (await list()).status, recalled }).toEqual({ status: 200, recalled: 1 })
  })
})

test('a read of a single resource does not begin with what its process remembers', async () => {
  const read = () => service.send(person.read, 'GET', `/cards/${card}`)
  await read()
  const [{ status }, trips] = await counted(read)
  expect({ status, trips, recalled }).toEqual({ status: 200, trips: 1, recalled: 0 })
})

/** Another person's board that nobody else may read. */
async function hide(): Promise<void> {
  const other = await service.person(workspaceId)
  await elsewhere(keys.membership(person.id), (value) => ({ ...value, role: 'member' as const }))
  await elsewhere(keys.board(board.id), (value) => ({ ...value, visibility: 'private' as const, creator_id: other.id }))
  await elsewhere(keys.boardMember(board.id, person.id), () => undefined)
}

describe('a write that begins with what its process remembers', () => {
  test('is one access to the storage if all of it is true', async () => {
    const [{ status }, trips] = await counted(() => patch())
    expect({ status, trips, recalled, attempts: attempts() }).toEqual({ status: 200, trips: 1, recalled: 1, attempts: 1 })
    expect((await stored())!.title).toBe('New')
  })

  let labels = 0
  const create = (query = '') =>
    service.send(person.write, 'POST', `/boards/${board.id}/cards${query}`, { column_id: column, title: 'Card' })

  test.each<[what: string, write: () => ReturnType<typeof patch>, expected: number]>([
    ['a card, which is placed behind the last one', create, 2],
    ['a label', () => service.send(person.write, 'POST', `/boards/${board.id}/labels`, { name: `L${labels++}`, color: '#ff0000' }), 1],
  ])('leaves it to the commit to count: %s', async (_what, write, expected) => {
    await write()
    recalled = 0
    const [{ status }, trips] = await counted(write)
    expect({ status, trips, recalled }).toEqual({ status: 201, trips: expected, recalled: 1 })
  })

  test.each(['', '?dry_run=true'])('is refused if there is no room: %j', async (query) => {
    await elsewhere(keys.column(column), (value) => ({ ...value, wip_limit: 2 }))
    expect((await create()).status).toBe(201)
    recalled = 0
    const { status, body } = await create(query)
    expect({ status, limit: body.error.limit, recalled, attempts: attempts() }).toEqual({
      status: 409,
      limit: 'wip_limit',
      recalled: 1,
      attempts: 1,
    })
  })

  test('has what another process has written', async () => {
    await elsewhere(keys.card(card), (value) => ({ ...value, description: 'Elsewhere' }))
    const reply = await patch()
    expect(reply.body.data).toMatchObject({ title: 'New', description: 'Elsewhere' })
    expect({ recalled, attempts: attempts() }).toEqual({ recalled: 1, attempts: 1 })
  })

  test.each<[what: string, change: () => Promise<unknown>, status: number]>([
    ['a revoked token', () => elsewhere(keys.token(sha256Hex(person.write)), (value) => ({ ...value, revoked_at: now() })), 401],
    ['the token of a former member', () => elsewhere(keys.membership(person.id), (value) => ({ ...value, ended_at: now() })), 401],
    ['a removed card', () => elsewhere(keys.card(card), () => undefined), 404],
    ['a card on a removed board', () => elsewhere(keys.board(board.id), () => undefined), 404],
    ['a private board of another person', () => hide(), 404],
  ])('is refused for %s, and changes nothing', async (_what, change, status) => {
    await change()
    const before = await stored()
    expect({ status: (await patch()).status, recalled, stored: await stored() }).toEqual({ status, recalled: 1, stored: before })
  })

  test('is not refused for what is not true any more', async () => {
    await elsewhere(keys.card(card), (value) => ({ ...value, title: 'Same' }))
    remembered.set(keys.token(sha256Hex(person.write)), null)
    expect({ status: (await patch({ title: 'Same' })).status, recalled }).toEqual({ status: 200, recalled: 1 })
  })

  test('reads before it answers without a change', async () => {
    await elsewhere(keys.card(card), (value) => ({ ...value, title: 'Elsewhere' }))
    expect((await patch({ title: 'First' })).body.data.title).toBe('First')
    expect((await stored())!.title).toBe('First')
  })

  test('reads before it answers a dry run', async () => {
    await elsewhere(keys.card(card), (value) => ({ ...value, description: 'Elsewhere' }))
    expect((await patch({ title: 'New' }, '?dry_run=true')).body.data.description).toBe('Elsewhere')
  })

  test('has no effect outside of the storage before it has read', async () => {
    const created = await board.post(`/boards/${board.id}/webhooks`, { url: 'https://receiver.example/' })
    const send = () => service.send(person.admin, 'POST', `/webhooks/${created.body.data.id}/test`)
    expect((await send()).status).toBe(200)
    await elsewhere(keys.token(sha256Hex(person.admin)), (value) => ({ ...value, revoked_at: now() }))
    const before = sent
    Object.assign(service.app.services, { recalls: new Recalls() })
    recalled = 0
    expect({ status: (await send()).status, recalled, sent: sent - before }).toEqual({ status: 401, recalled: 1, sent: 0 })
  })

  test('beyond the quota of its token is refused by each of its attempts', async () => {
    let status = 200
    for (let i = 0; i < 61 && status === 200; i++) status = (await patch({ title: `New ${i}` })).status
    expect({ status, isDone: (await stored())!.title === 'New 60' }).toEqual({ status: 429, isDone: false })
    expect(recalled).toBeGreaterThan(50)
  })

  test('is not repeated if nobody knows whether it was done', async () => {
    service.store.afterCommit = async () => {
      throw new StorageUnavailable('lost', { outcomeKnown: false })
    }
    const [{ status, body }, trips] = await counted(() => patch())
    expect({ status, outcome: body.error.outcome, trips }).toEqual({ status: 503, outcome: 'unknown', trips: 1 })
  })

  test('reads again if something changes after it has read', async () => {
    await elsewhere(keys.card(card), (value) => ({ ...value, description: 'Elsewhere' }))
    let commits = 0
    const change = async (): Promise<void> => {
      if (commits++ === 1) await elsewhere(keys.card(card), (value) => ({ ...value, description: 'Again' }))
      else service.store.beforeCommit = change
    }
    service.store.beforeCommit = change
    expect((await patch()).body.data).toMatchObject({ title: 'New', description: 'Again' })
    expect(attempts()).toBe(2)
  })
})

describe('after an attempt that was wrong', () => {
  const pauseOf = (recalls: Recalls) => {
    for (let reads = 0; ; reads++) if (recalls.mayNext('a')) return reads
  }

  test('some attempts of the operation read first: twice as many after each, and at most 64', () => {
    const recalls = new Recalls()
    const pauses = Array.from({ length: 8 }, () => (recalls.note('a', false), pauseOf(recalls)))
    expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 64, 64])
    expect(recalls.mayNext('b')).toBe(true)
  })

  test('one that is right ends the pause', () => {
    const recalls = new Recalls()
    recalls.note('a', false)
    recalls.note('a', true)
    recalls.note('a', false)
    expect(pauseOf(recalls)).toBe(2)
  })
})

describe.each(drivers)('what a process remembers, on $name', async (driver) => {
  const own = await Service.forSuite(driver)
  const owner = await own.person(await own.workspace(), 'owner')

  test('makes a repeated write one access on Redis, and changes nothing elsewhere', async () => {
    const made = await TestBoard.create(own, owner)
    const id = await made.card(await made.column())
    const trips: number[] = []
    for (const title of ['a', 'b', 'c']) {
      const before = own.store.trips
      await made.patch(`/cards/${id}`, { title })
      trips.push(own.store.trips - before)
    }
    expect(trips).toEqual(driver.name === 'redis' ? [2, 1, 1] : [2, 2, 2])
    expect((await made.get(`/cards/${id}`)).body.data.title).toBe('c')
  })
})

import { ReadableStream } from 'node:stream/web'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import memoryDriver from 'unstorage/drivers/memory'
import type { AdminDeps } from '../../src/admin/deps.ts'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { HOUR, MINUTE } from '../../src/model/time.ts'
import { createBlobs } from '../../src/store/blobs.ts'
import { decorateStore, StorageUnavailable, type Change, type Store, type Value } from '../../src/store/port.ts'
import { recordUses, TestBoard } from '../support/board.ts'
import { collectAll } from '../support/collections.ts'
import { drivers, type Driver, type OpenDriver } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'
import { findByteDifferences } from '../support/stored-bytes.ts'

/** A storage operation that an {@link Interceptor} replaces. */
type Operation<T> = () => Promise<T>

/** Replaces one operation of a series by another one, which may perform it. */
class Interceptor {
  #operations = 0
  readonly #at: number
  readonly #action: <T>(operation: Operation<T>) => Promise<T>

  /** @param at the number of the operation, from 1 */
  constructor(at: number, action: <T>(operation: Operation<T>) => Promise<T>) {
    this.#at = at
    this.#action = action
  }

  /** Whether the series has had the operation. */
  get reached(): boolean {
    return this.#operations >= this.#at
  }

  run<T>(operation: Operation<T>): Promise<T> {
    return ++this.#operations === this.#at ? this.#action(operation) : operation()
  }

  /** Intercepts the reads, the commits and the removals of bytes. */
  intercept(deps: AdminDeps): AdminDeps {
    const { store, blobs } = deps
    return {
      ...deps,
      store: decorateStore(store, {
        read: (partition, request) => this.run(async () => store.read(partition, request)),
        commit: (partition, change) => this.run(async () => store.commit(partition, change)),
      }),
      blobs: { ...blobs, remove: (id) => this.run(() => blobs.remove(id)) },
    }
  }
}

const failure = new StorageUnavailable('a planted failure')
const failBefore = (): Promise<never> => Promise.reject(failure)
const failAfter = (operation: Operation<unknown>): Promise<never> => operation().then(failBefore)

/** Whether a change claims bytes whose tombstone exists already, from an unfinished upload. */
const claims = (change: Change, key: string, value: Value): boolean =>
  key.startsWith('tombstone:') && value['claimed'] === true && typeof change.expect.records.get(key) === 'string'

/** Changes a commit so that the tombstone of bytes is removed, not marked, when their removal begins. */
function removeClaimed(change: Change): Change {
  const [put, remove, indexes] = [new Map(change.put), new Set(change.remove), new Map(change.indexes)]
  for (const [key, value] of change.put) {
    if (!claims(change, key, value)) continue
    put.delete(key)
    remove.add(key)
    indexes.set('tombstones', { add: [], remove: [`${String(value['not_before'])} ${String(value['id'])}`] })
  }
  return { ...change, put, remove, indexes }
}

const withCommit = (store: Store, change: (change: Change) => Change): Store =>
  decorateStore(store, { commit: (partition, original) => store.commit(partition, change(original)) })

/**
 * A bug of the protocol between an upload and a garbage collection, planted in the storage of both: bytes that are being removed are not
 * marked.
 */
const withoutMarks = (store: Store): Store =>
  withCommit(store, (change) => {
    const unmarked = [...change.put].map(([key, { claimed: _claimed, ...value }]) => [key, value] as const)
    return { ...change, put: new Map(unmarked) }
  })

const opened = (driver: Driver, change: (storage: OpenDriver) => OpenDriver): Driver => ({
  name: driver.name,
  open: async () => change(await driver.open()),
})

describe.each(drivers)('the bytes of files on $name', (driver) => {
  let service: Service
  let ann: Person
  beforeEach(async () => {
    service = await Service.start(driver)
    ann = await service.person(await service.workspace(), 'owner', 'Ann')
    await recordUses(service, ann)
  })
  afterEach(() => service.stop())

  /** Deletes a card with a file, and fails each operation of the collection once. @returns what is left */
  const findLeftoversAfterFailures = async (plant: (deps: AdminDeps) => AdminDeps): Promise<{ failures: number; left: string[] }> => {
    const board = await TestBoard.create(service, ann)
    const column = await board.column()
    // Each tombstone is due later than those before it, so that every collection has the same operations in the same order.
    const clock = () => ++service.now
    const collect = (deps: AdminDeps) => collectAll({ ...plant(deps), clock }, ann.workspaceId)
    let failures = 0
    for (const fail of [failBefore, failAfter]) {
      for (let at = 1, reached = true; reached; at++) {
        const card = await board.card(column)
        await board.attach(card)
        await board.delete(`/cards/${card}`)
        const interceptor = new Interceptor(at, fail)
        await collect(interceptor.intercept(service.adminDeps)).catch((error: unknown) => expect(error).toBe(failure))
        await collect(service.adminDeps)
        const records = (await service.keysBesidesFeeds(ann.workspaceId)).filter((key) => /^(card|attachment|file|tombstone):/.test(key))
        const left = [...records, ...(await findByteDifferences(service))]
        if (left.length > 0) return { failures, left }
        reached = interceptor.reached
        failures += Number(reached)
      }
    }
    return { failures, left: [] }
  }

  test('when an operation of a collection fails, the next collection removes what is left', async () => {
    const { failures, left } = await findLeftoversAfterFailures((deps) => deps)
    expect(left).toEqual([])
    expect(failures).toBeGreaterThan(1)
    console.log(`${failures} operations failed on ${driver.name}`)
  })

  test('the seeded bug is found: a tombstone is removed before its bytes', async () => {
    const plant = (deps: AdminDeps) => ({ ...deps, store: withCommit(deps.store, removeClaimed) })
    expect((await findLeftoversAfterFailures(plant)).left).toEqual([expect.stringMatching(/^no file names the bytes blb_/)])
  })

  /**
   * Delays an upload until its bytes are due for removal, and finishes it before the nth operation of the
   * collection, or after the collection.
   */
  const uploadDuringCollection = async (on: Service, person: Person, at: number) => {
    let resume: () => void = () => undefined
    const resumed = new Promise<void>((resolve) => (resume = resolve))
    const board = await TestBoard.create(on, person)
    const card = await board.card(await board.column())
    const stored = new Promise<void>((resolve) => {
      // The first commit of an upload writes the tombstone of its bytes, the second one creates the file.
      on.store.beforeCommit = async () => {
        on.store.beforeCommit = () => (resolve(), resumed)
      }
    })
    const upload = board.attach(card)
    await stored
    on.now += HOUR + MINUTE
    const finish = () => (resume(), upload)
    const interceptor = new Interceptor(at, async (operation) => (await finish(), operation()))
    await collectGarbage(interceptor.intercept(on.adminDeps), person.workspaceId)
    const { status, body } = await finish()
    on.now -= HOUR + MINUTE
    const differences = await findByteDifferences(on)
    if (status === 201) await board.delete(`/attachments/${body.data.id}`)
    return { status, differences, reached: interceptor.reached }
  }

  /** Finishes an upload at every moment of the collection of its bytes. @returns the outcomes in order */
  const finishAtEveryMoment = async (on: Service, person: Person) => {
    const statuses: number[] = []
    for (let at = 1; ; at++) {
      const { status, differences, reached } = await uploadDuringCollection(on, person, at)
      if (differences.length > 0) return { statuses, differences }
      statuses.push(status)
      if (!reached) return { statuses, differences }
    }
  }

  test('an upload that ends while its bytes are removed fails, and one that ends before keeps its bytes', async () => {
    const { statuses, differences } = await finishAtEveryMoment(service, ann)
    expect(differences).toEqual([])
    // An upload never fails at one moment of the collection and succeeds at a later one.
    expect(statuses).toEqual(statuses.toSorted())
    expect(new Set(statuses)).toEqual(new Set([201, 409]))
  })

  test('the seeded bug is found: a collection does not mark the bytes that it removes', async () => {
    const planted = await Service.start(opened(driver, (storage) => ({ ...storage, store: withoutMarks(storage.store) })))
    const person = await planted.person(await planted.workspace(), 'owner')
    await recordUses(planted, person)
    const { differences } = await finishAtEveryMoment(planted, person)
    expect(differences).toEqual([expect.stringMatching(/^the bytes of fil_\w+ are unreadable/)])
    await planted.stop()
  })

  test('the bytes of an upload whose commit fails are removed after one hour, not before', async () => {
    const board = await TestBoard.create(service, ann)
    const card = await board.card(await board.column())
    service.store.beforeCommit = async () => {
      service.store.beforeCommit = failBefore
    }
    expect((await board.attach(card)).status).toBe(503)
    const [blobId, ...others] = await service.blobKeys()
    expect(others).toEqual([])
    for (const [wait, remaining] of [
      [0, [blobId]],
      [59 * MINUTE, [blobId]],
      [MINUTE, []],
    ] as const) {
      service.now += wait
      await collectGarbage(service.adminDeps, ann.workspaceId)
      expect(await service.blobKeys()).toEqual(remaining)
    }
    expect((await service.keysBesidesFeeds(ann.workspaceId)).filter((key) => key.startsWith('tombstone:'))).toEqual([])
  })

  test('an upload that is still receiving bytes when they are removed leaves no bytes', async () => {
    const board = await TestBoard.create(service, ann)
    const card = await board.card(await board.column())
    const part = new Uint8Array(300 * 1024)
    async function* form(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n')
      yield part
      while ((await service.blobKeys()).length === 0) await new Promise((resolve) => setImmediate(resolve))
      service.now += HOUR + MINUTE
      await collectGarbage(service.adminDeps, ann.workspaceId)
      yield part
      yield part
      yield Buffer.from('\r\n--x--\r\n')
    }
    const response = await service.app.fetch(
      new Request(`http://localhost/v1/cards/${card}/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ann.write}`, 'content-type': 'multipart/form-data; boundary=x' },
        // Readable.toWeb of Node.js 20 throws when it is cancelled while data flows.
        body: ReadableStream.from(form()),
        duplex: 'half',
      } as RequestInit),
    )
    expect({ status: response.status, code: ((await response.json()) as any).error.code }).toEqual({ status: 409, code: 'conflict' })
    expect(await service.blobKeys()).toEqual([])
  })
})

/** Fails one operation of a collection on the storage of the bytes. @returns the number of failures, and the chunks that are left */
async function findChunksAfterFailures(create: typeof createBlobs): Promise<{ failures: number; left: string[] }> {
  for (let at = 1; ; at++) {
    const bytes = memoryDriver()
    let interceptor: Interceptor | undefined
    const run = <T>(operation: () => T | Promise<T>): Promise<T> =>
      interceptor === undefined ? Promise.resolve(operation()) : interceptor.run(async () => operation())
    const blobs = create({
      ...bytes,
      hasItem: (key, options) => run(() => bytes.hasItem(key, options)),
      removeItem: (key, options) => run(() => bytes.removeItem!(key, options)),
    })
    const service = await Service.start(opened(drivers[0]!, (storage) => ({ ...storage, blobs })))
    const ann = await service.person(await service.workspace(), 'owner')
    const board = await TestBoard.create(service, ann)
    // Three chunks.
    const attached = await board.attach(await board.card(await board.column()), { text: 'x'.repeat(600 * 1024) })
    expect(attached.status).toBe(201)
    await board.delete(`/boards/${board.id}`)
    interceptor = new Interceptor(at, failBefore)
    await collectAll(service.adminDeps, ann.workspaceId).catch((error: unknown) => expect((error as Error).message).toBe(failure.message))
    await collectAll(service.adminDeps, ann.workspaceId)
    const left = (await bytes.getKeys('', {})) as string[]
    await service.stop()
    if (left.length > 0 || !interceptor.reached) return { failures: at - 1, left }
  }
}

test('when an operation on the storage of the bytes fails, the next collection removes all chunks', async () => {
  // The preview is looked for; each of the three chunks is looked for and removed, and the chunk after them is looked for.
  expect(await findChunksAfterFailures(createBlobs)).toEqual({ failures: 8, left: [] })
})

test('the seeded bug is found: the chunks of a blob are removed from the first one', async () => {
  const { left } = await findChunksAfterFailures((driver) => ({
    ...createBlobs(driver),
    async remove(id) {
      for (let index = 0; await driver.hasItem(`${id}:${index}`, {}); index++) await driver.removeItem!(`${id}:${index}`, {})
    },
  }))
  expect(left).toHaveLength(2)
})

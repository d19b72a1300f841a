import { beforeEach, describe, expect, test } from 'vitest'
import type { Attachment } from '../../src/model/file.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { markFileIfUnattached, unmarkFile } from '../../src/resources/cascades.ts'
import { keys } from '../../src/store/keys.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'
import { transact } from '../../src/store/transact.ts'
import type { Transaction } from '../../src/store/transaction.ts'

const NOW = '2026-11-20T12:00:00.000Z'
const clock = () => Date.parse(NOW)
const DAY = 24 * 60 * 60 * 1000
const TOMBSTONE = keys.tombstone('tmb_x1')

describe('the records that follow from a change', () => {
  let store: Store
  /** the keys of the records that the last transaction wrote or removed */
  let written: string[]
  const work = <T>(run: (tx: Transaction) => T | Promise<T>) => transact(store, 'w1', systemRandom, run)
  const read = <T>(key: string) => work(async (tx) => (await tx.get(key)) as T | undefined)
  /** Adds records with their index entries. */
  const add = (records: Readonly<Record<string, object>>) =>
    work(async (tx) => {
      for (const [key, value] of Object.entries(records)) await tx.create(key, value)
    })
  beforeEach(() => {
    store = createMemoryStore()
    const { commit } = store
    store.commit = (partition, one) => ((written = [...one.put.keys(), ...one.remove].toSorted()), commit.call(store, partition, one))
    written = []
  })

  describe('the tombstone of a file', () => {
    const attachments = (...ids: string[]) =>
      add(
        Object.fromEntries(
          ids.map((id) => [keys.attachment(id), { id, card_id: `c${id}`, file_id: 'fil_x1', created_at: '' } as Attachment]),
        ),
      )
    const removed = (id: string, at = clock) => work((tx) => markFileIfUnattached({ tx, clock: at }, 'fil_x1', id))

    test.each([
      ['a second attachment', ['a1', 'a2']],
      ['an attachment that is listed before the removed one', ['a0', 'a1']],
      ['many attachments', ['a0', 'a1', 'a2', 'a3', 'a4']],
    ])('it is not scheduled if the file has %s', async (_what, ids) => {
      await attachments(...ids)
      written = []
      await removed('a1')
      expect([written, await read(TOMBSTONE)]).toEqual([[], undefined])
    })

    test.each([
      ['the removed attachment only', ['a1']],
      ['no attachment', []],
    ])('it is scheduled for a day later if the file has %s', async (_what, ids) => {
      await attachments(...ids)
      await removed('a1')
      const not_before = new Date(clock() + DAY).toISOString()
      expect(await read(TOMBSTONE)).toEqual({ id: 'tmb_x1', kind: 'file', target: 'fil_x1', not_before })
      expect(written).toEqual([TOMBSTONE])
    })

    test('the latest removal of an attachment counts', async () => {
      await removed('a1')
      await removed('a1', () => clock() + 1000)
      expect(await read(TOMBSTONE)).toMatchObject({ not_before: new Date(clock() + DAY + 1000).toISOString() })
    })

    test('it is cancelled if the file is attached again, and that writes nothing if none is scheduled', async () => {
      await removed('a1')
      await work((tx) => unmarkFile(tx, 'fil_x1'))
      expect([written, await read(TOMBSTONE)]).toEqual([[TOMBSTONE], undefined])
      written = []
      await work((tx) => unmarkFile(tx, 'fil_x1'))
      expect(written).toEqual([])
    })

    test('two attachments are read, however many there are', async () => {
      await attachments('a1', 'a2', 'a3')
      const limits: number[] = []
      const { read: readStore } = store
      store.read = (partition, request) => (
        limits.push(...request.ranges.map(({ limit }) => limit)),
        readStore.call(store, partition, request)
      )
      await removed('a1')
      expect(limits).toEqual([2])
    })
  })
})

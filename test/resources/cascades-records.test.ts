import { beforeEach, describe, expect, test } from 'vitest'
import type { AuthorizationContext } from '../../src/authz/context.ts'
import type { Board } from '../../src/model/board.ts'
import type { Card } from '../../src/model/card.ts'
import type { Attachment } from '../../src/model/file.ts'
import { systemRandom } from '../../src/model/ids.ts'
import {
  createTombstone,
  markFileIfUnattached,
  removeLabelFromCards,
  removeMemberReferences,
  unassignWithoutAccess,
  unmarkFile,
} from '../../src/resources/cascades.ts'
import { keys } from '../../src/store/keys.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'
import { transact } from '../../src/store/transact.ts'
import type { Transaction } from '../../src/store/transaction.ts'
import { change } from '../support/changes.ts'
import { card } from '../support/records.ts'

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

  describe('the cards of a board', () => {
    const board = { id: 'b', creator_id: 'ann', visibility: 'private' } as Board
    const put = (...cards: Card[]) => add(Object.fromEntries(cards.map((one) => [keys.card(one.id), one])))
    const cards = async (...ids: string[]) => (await Promise.all(ids.map((id) => read<Card>(keys.card(id))))).map((one) => one!)
    /** Removes the record of a card, but not its index entries, as the deletion of its parent does. */
    const orphan = (id: string) => store.commit('w1', change({ remove: [keys.card(id)] }))
    const assigned = (id: string, ...assignee_ids: string[]) => card({ id, board_id: 'b', assignee_ids })

    test('those who no longer belong to the board are unassigned, and no other card is written', async () => {
      await put(assigned('c1', 'ann', 'bob', 'cyd'), assigned('c2', 'ann'), assigned('c3', 'cyd'), assigned('gone', 'bob'))
      await put({ ...assigned('elsewhere', 'cyd'), board_id: 'other' })
      await orphan('gone')
      const people = ['ann', 'bob', 'cyd'].map((user_id) => ({ user_id, role: 'member', joined_at: '', ended_at: null }))
      await add(Object.fromEntries(people.map((one) => [keys.membership(one.user_id), one])))
      const bob = { board_id: 'b', user_id: 'bob', board_created_at: '', added_at: '' }
      await add({ [keys.boardMember('b', 'bob')]: bob })
      const asked: AuthorizationContext[] = []
      const holds = (definition: string, context: AuthorizationContext) => {
        expect(definition).toBe('user.belongs')
        asked.push(context)
        return context.user!.membership.user_id !== 'cyd'
      }
      await work((tx) => unassignWithoutAccess({ tx, clock, holds, random: systemRandom, batch: 100 }, board))
      expect(asked).toEqual([
        { board, user: { membership: people[0], boardMember: undefined } },
        { board, user: { membership: people[1], boardMember: bob } },
        { board, user: { membership: people[2], boardMember: undefined } },
      ])
      expect(written).toEqual([keys.card('c1'), keys.card('c3')])
      const [c1, c2, c3, elsewhere] = await cards('c1', 'c2', 'c3', 'elsewhere')
      expect([c1, c3]).toEqual([
        { ...assigned('c1', 'ann', 'bob'), updated_at: NOW },
        { ...assigned('c3'), updated_at: NOW },
      ])
      expect([c2!.updated_at, elsewhere!.assignee_ids]).toEqual(['2026', ['cyd']])
    })

    test('a user is unassigned from all cards, and the others remain', async () => {
      await put(
        assigned('c1', 'ann', 'bob'),
        assigned('c2', 'ann'),
        { ...assigned('c3', 'bob'), board_id: 'other' },
        assigned('gone', 'bob'),
      )
      await orphan('gone')
      await work((tx) => removeMemberReferences({ tx, clock, random: systemRandom, batch: 100 }, 'bob'))
      expect(written).toEqual([keys.card('c1'), keys.card('c3')])
      expect((await cards('c1', 'c2', 'c3')).map(({ assignee_ids, updated_at }) => [assignee_ids, updated_at])).toEqual([
        [['ann'], NOW],
        [['ann'], '2026'],
        [[], NOW],
      ])
    })

    test('a label is removed from all cards that have it, and the others remain', async () => {
      const labelled = (id: string, ...label_ids: string[]) => card({ id, label_ids })
      await put(labelled('c1', 'l1', 'l2'), labelled('c2', 'l2'), labelled('gone', 'l1'))
      await orphan('gone')
      await work((tx) => removeLabelFromCards({ tx, clock, random: systemRandom, batch: 100 }, 'l1'))
      expect(written).toEqual([keys.card('c1')])
      expect((await cards('c1', 'c2')).map(({ label_ids, updated_at }) => [label_ids, updated_at])).toEqual([
        [['l2'], NOW],
        [['l2'], '2026'],
      ])
    })
  })

  test('a deleted board or card is marked for immediate garbage collection', async () => {
    await work((tx) => createTombstone({ tx, clock, random: () => new Uint8Array(20) }, 'card', 'crd_1'))
    const id = `tmb_${'0'.repeat(20)}`
    expect(await read(keys.tombstone(id))).toEqual({ id, kind: 'card', target: 'crd_1', not_before: NOW })
  })
})

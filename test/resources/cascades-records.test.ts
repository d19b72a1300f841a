import { beforeEach, describe, expect, test } from 'vitest'
import type { Attachment } from '../../src/model/file.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { createTombstone, markFileIfUnattached, unassignWithoutAccess, unmarkFile } from '../../src/resources/cascades.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpRecords } from '../support/memory-records.ts'
import { card } from '../support/records.ts'

const NOW = '2026-11-20T12:00:00.000Z'
const clock = () => Date.parse(NOW)
const DAY = 24 * 60 * 60 * 1000
const TOMBSTONE = keys.tombstone('tmb_x1')

describe('the records that follow from a change', () => {
  const records = setUpRecords()
  const { work, read, add } = records

  test('the records of a deleted card are due for garbage collection at once', async () => {
    await work((tx) => createTombstone({ tx, clock, random: systemRandom }, 'card', 'crd_x1'))
    const { values } = await work((tx) => tx.all(indexes.tombstones()))
    expect(values).toEqual([{ id: expect.stringMatching(/^tmb_\w{20}$/), kind: 'card', target: 'crd_x1', not_before: NOW }])
  })

  describe('users who no longer belong to a board', () => {
    const board = { id: 'b', creator_id: 'x', visibility: 'private', created_at: '' } as const
    const membership = (user_id: string) => ({ user_id, joined_at: '', ended_at: null })
    const boardMember = { board_id: 'b', user_id: 'u2', added_at: '', board_created_at: '' }
    /** what was asked about */
    const asked: unknown[] = []
    const unassign = (batch: number, affected?: readonly string[]) =>
      work((tx) => {
        const holds = (definition: string, context: any) => (asked.push([definition, context]), context.user.boardMember !== undefined)
        const examine = (characters: number) => void asked.push(['examine', characters])
        return unassignWithoutAccess({ tx, clock, random: systemRandom, batch, holds, examine }, board, affected)
      })
    const assignees = async () => {
      const found = await work((tx) => tx.read(['c1', 'c2', 'c3'].map(keys.card)))
      return found.map((one) => one!.assignee_ids)
    }
    beforeEach(async () => {
      asked.length = 0
      await add({
        [keys.card('c1')]: card({ id: 'c1', assignee_ids: ['u1', 'u2'] }),
        [keys.card('c2')]: card({ id: 'c2', assignee_ids: ['u3', 'u1'] }),
        [keys.card('c3')]: card({ id: 'c3', board_id: 'b2', assignee_ids: ['u1'] }),
      })
      await add(Object.fromEntries(['u1', 'u2', 'u3'].map((id) => [keys.membership(id), membership(id)])))
      await add({ [keys.boardMember('b', 'u2')]: boardMember })
    })

    test('are assigned to none of its cards', async () => {
      records.ranges = []
      await unassign(10)
      // Who is assigned is read without the cards: only those that change are read.
      expect(records.ranges.flat().map(({ fetch }) => fetch)).toEqual([undefined, 'card:', 'card:'])
      const about = (id: string, member?: object) => ['user.belongs', { board, user: { membership: membership(id), boardMember: member } }]
      // It costs what is read of it: four entries.
      expect(asked).toEqual([['examine', 200], about('u1'), about('u2', boardMember), about('u3')])
      expect(await assignees()).toEqual([['u2'], [], ['u1']])
    })

    test('are examined alone if only their access may have ended', async () => {
      await unassign(10, ['u2', 'u3'])
      expect(await assignees()).toEqual([['u1', 'u2'], ['u1'], ['u1']])
      records.written = []
      await unassign(10, ['u2'])
      expect(records.written).toEqual([])
    })

    test('are unassigned later if they have many cards', async () => {
      await unassign(1)
      const removals = await work((tx) => tx.get(keys.removals()))
      expect(removals!.pending).toMatchObject([{ kind: 'assignments', board_id: 'b', user_ids: ['u1', 'u3'], kept: [] }])
    })
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
    ])('is not scheduled if the file has %s', async (_what, ids) => {
      await attachments(...ids)
      records.written = []
      await removed('a1')
      expect({ written: records.written, read: await read<object>(TOMBSTONE) }).toStrictEqual({ written: [], read: undefined })
    })

    test.each([
      ['the removed attachment only', ['a1']],
      ['no attachment', []],
    ])('is scheduled for a day later if the file has %s', async (_what, ids) => {
      await attachments(...ids)
      await removed('a1')
      const not_before = new Date(clock() + DAY).toISOString()
      expect(await read<object>(TOMBSTONE)).toEqual({ id: 'tmb_x1', kind: 'file', target: 'fil_x1', not_before })
      expect(records.written).toEqual([TOMBSTONE])
    })

    test('is dated by the latest removal of an attachment', async () => {
      await removed('a1')
      await removed('a1', () => clock() + 1000)
      expect(await read<object>(TOMBSTONE)).toMatchObject({ not_before: new Date(clock() + DAY + 1000).toISOString() })
    })

    test('is cancelled if the file is attached again, which writes nothing if no tombstone is scheduled', async () => {
      await removed('a1')
      await work((tx) => unmarkFile(tx, 'fil_x1'))
      expect({ written: records.written, read: await read<object>(TOMBSTONE) }).toStrictEqual({ written: [TOMBSTONE], read: undefined })
      records.written = []
      await work((tx) => unmarkFile(tx, 'fil_x1'))
      expect(records.written).toEqual([])
    })

    test('needs a read of two attachments, however many there are', async () => {
      await attachments('a1', 'a2', 'a3')
      records.ranges = []
      await removed('a1')
      expect(records.ranges.flat().map(({ limit }) => limit)).toEqual([2])
    })
  })
})

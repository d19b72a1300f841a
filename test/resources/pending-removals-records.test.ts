import { beforeEach, describe, expect, test } from 'vitest'
import type { Card } from '../../src/model/card.ts'
import type { FileRecord } from '../../src/model/file.ts'
import { systemRandom } from '../../src/model/ids.ts'
import type { PendingRemovals, RemovalOf } from '../../src/model/pending-removal.ts'
import { keepAssignment, pendingRemovalOfMember, shownCard, shownFile, shownRevision } from '../../src/resources/pending-removals.ts'
import { beginRemoval, continueRemoval } from '../../src/resources/removals.ts'
import { SERVICE } from '../../src/store/derivation.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import type { Transaction } from '../../src/store/transaction.ts'
import { change } from '../support/changes.ts'
import { setUpRecords } from '../support/memory-records.ts'
import { card } from '../support/records.ts'

const NOW = '2026-11-20T12:00:00.000Z'
const clock = () => Date.parse(NOW)
const progress = { step: 0, after: null }
const label = { id: 't1', kind: 'label', label_id: 'l', ...progress } as const
const member = { id: 't2', kind: 'former_member', user_id: 'u', ...progress } as const
const ofBoard = { id: 't3', kind: 'assignments', board_id: 'b', user_ids: ['u', 'v'], kept: ['v c'], ...progress }
const ofBoardOnly = { pending: [ofBoard] } as PendingRemovals
const file = (id: string, members: Partial<FileRecord> = {}) =>
  ({ id, owner_id: 'u', visibility: 'private', board_id: 'b', size: 1, created_at: id, updated_at: '', ...members }) as FileRecord

describe('a record as it counts', () => {
  const one = card({ id: 'c', assignee_ids: ['u', 'v', 'w'], label_ids: ['l', 'm'] })

  test.each<[string, PendingRemovals, Partial<Card>]>([
    ['a label', { pending: [label] }, { label_ids: ['m'] }],
    ['a former member', { pending: [member] }, { assignee_ids: ['v', 'w'] }],
    ['assignments, without those that were made since', ofBoardOnly, { assignee_ids: ['v', 'w'] }],
    ['several', { pending: [label, member, ofBoard as never] }, { assignee_ids: ['v', 'w'], label_ids: ['m'] }],
  ])('a card is without the removed references: %s', (_what, removals, members) => {
    expect(shownCard(one, removals)).toEqual({ ...one, ...members })
  })

  test('a card that no removal concerns is itself', () => {
    for (const [other, removals] of [
      [one, undefined],
      [{ ...one, board_id: 'b2' }, ofBoardOnly],
      [card({ label_ids: ['m'], assignee_ids: ['w'] }), { pending: [label, member] }],
    ] as const)
      expect(shownCard(other, removals)).toBe(other)
  })

  test('a private file of a former member is shared', () => {
    const removals = { pending: [label, member] }
    expect(pendingRemovalOfMember(removals, 'u')).toBe(member)
    expect(pendingRemovalOfMember(removals, 'v')).toBeUndefined()
    expect(shownFile(file('f'), removals)).toEqual(file('f', { visibility: 'board' }))
    for (const [other, given] of [
      [file('f'), undefined],
      [file('f', { owner_id: 'v' }), removals],
      [file('f', { visibility: 'workspace' }), removals],
    ] as const)
      expect(shownFile(other, given)).toBe(other)
  })
})

describe('the removal of references', () => {
  const records = setUpRecords()
  const { add, read } = records
  /** the keys that the last transaction wrote or removed, except the feed's */
  const written = () => records.written.filter((key) => !/^change|^tombstone:tmb_b\d{6}$/.test(key))
  const work = <T>(run: (tx: Transaction) => T | Promise<T>) =>
    records.work((tx) => {
      tx.logChanges(SERVICE, clock)
      return run(tx)
    })
  const addCards = (...cards: readonly Partial<Card>[]) =>
    add(Object.fromEntries(cards.map((one) => [keys.card(one.id!), card({ column_id: 'col', ...one })])))
  const addFile = (one: FileRecord, ...attachments: readonly string[]) =>
    add({
      [keys.file(one.id)]: one,
      ...Object.fromEntries(
        attachments.map((id) => [keys.attachment(id), { id, card_id: `c${id}`, file_id: one.id, created_at: '', updated_at: '' }]),
      ),
    })
  const begin = (of: RemovalOf, batch: number) => work((tx) => beginRemoval({ tx, clock, random: systemRandom, batch }, of))
  const pending = async () => (await read(keys.removals()))?.pending
  const continueWith = async (tx: Transaction, id: string, batch: number) => {
    await tx.get(keys.tombstone(id))
    await continueRemoval({ tx, clock, random: systemRandom, batch }, id)
  }
  const next = async (batch: number) => {
    const { id } = (await pending())![0]!
    await work((tx) => continueWith(tx, id, batch))
  }
  const tombstones = async () => (await work((tx) => tx.all(indexes.tombstones()))).values.filter((one) => one?.kind !== 'changes')
  /** What the feed of the board has apart from the board. */
  const changed = async () =>
    (await work((tx) => tx.all(indexes.changes('b')))).values
      .map((one) => (one as any).id as string)
      .filter((id) => id !== 'b')
      .toSorted()
  beforeEach(() => add({ [keys.board('b')]: { id: 'b', creator_id: 'x', visibility: 'private', created_at: '' } }))

  test('that fits into one commit leaves nothing', async () => {
    await addCards({ id: 'c1', label_ids: ['l', 'm'] }, { id: 'c2', label_ids: ['l'] }, { id: 'c3', label_ids: ['l'], board_id: 'deleted' })
    await begin({ kind: 'label', label_id: 'l' }, 4)
    expect(written()).toEqual(['c1', 'c2', 'c3'].map(keys.card))
    expect({ card: await read(keys.card('c1')), pending: await pending(), tombstones: await tombstones() }).toMatchObject({
      card: { label_ids: ['m'], updated_at: NOW },
      pending: undefined,
      tombstones: [],
    })
    expect(await changed()).toEqual(['c1', 'c2'])
  })

  test.each<[RemovalOf, string]>([
    [{ kind: 'label', label_id: 'l' }, 'l'],
    [{ kind: 'assignments', board_id: 'b', user_ids: ['v', 'u'], kept: [] }, 'b'],
    [{ kind: 'former_member', user_id: 'u' }, 'u'],
    [{ kind: 'file', file_id: 'f' }, 'f'],
  ])('that does not fit is pending, and a tombstone continues it: %j', async (of, target) => {
    await addCards(...['c1', 'c2', 'c3'].map((id) => ({ id, label_ids: ['l'], assignee_ids: ['u'] })))
    await addFile(file('f', { visibility: 'board' }), 'a1', 'a2', 'a3')
    await begin(of, 2)
    const [removal] = (await pending())!
    expect(removal).toEqual({
      ...of,
      id: expect.stringMatching(/^tmb_\w{20}$/),
      step: expect.any(Number),
      after: expect.stringContaining('2'),
    })
    expect(await tombstones()).toEqual([{ id: removal!.id, kind: 'references', target, not_before: NOW }])
    expect(written()).toHaveLength(4)
    await next(2)
    expect(written()).toHaveLength(3)
    expect({ pending: await pending(), tombstones: await tombstones() }).toStrictEqual({ pending: undefined, tombstones: [] })
    await add({ [keys.tombstone('t9')]: { id: 't9', not_before: NOW } })
    await work((tx) => continueWith(tx, 't9', 2))
    expect(written()).toEqual([keys.tombstone('t9')])
  })

  test('that fills a commit continues behind the last entry', async () => {
    await addCards({ id: 'c1', label_ids: ['l'] }, { id: 'c2', label_ids: ['l'] })
    await begin({ kind: 'label', label_id: 'l' }, 2)
    expect(await pending()).toMatchObject([{ step: 0, after: 'c2' }])
    await addCards({ id: 'c0', label_ids: ['l'] })
    await next(2)
    // Nothing gets an ended label any more, so what is before is not read again.
    expect({ labelIds: (await read(keys.card('c0')))!.label_ids, pending: await pending() }).toStrictEqual({
      labelIds: ['l'],
      pending: undefined,
    })
  })

  test('ends the assignments of each user on one board, but those that were made since', async () => {
    await addCards(
      { id: 'c1', assignee_ids: ['u', 'v', 'w'] },
      { id: 'c2', assignee_ids: ['u', 'v'] },
      { id: 'c3', assignee_ids: ['u', 'v'], board_id: 'b2' },
    )
    await begin({ kind: 'assignments', board_id: 'b', user_ids: ['u', 'v'], kept: ['v c2'] }, 10)
    const assignees = await Promise.all(['c1', 'c2', 'c3'].map(async (id) => (await read(keys.card(id)))!.assignee_ids))
    expect(assignees).toEqual([['w'], ['v'], ['u', 'v']])
  })

  test('leaves room for other long cards', async () => {
    const lengths = { c1: 500_000, c2: 500_000, c3: 1_000_001, c4: 1 }
    await addCards(...Object.entries(lengths).map(([id, length]) => ({ id, label_ids: ['l'], description: 'x'.repeat(length) })))
    await begin({ kind: 'label', label_id: 'l' }, 10)
    const steps: unknown[] = [(await pending())![0]!.after]
    while ((await pending()) !== undefined) {
      await next(10)
      steps.push((await pending())?.[0]!.after, (await tombstones()).length)
    }
    expect(steps).toEqual(['c2', 'c3', 1, undefined, 0])
  })

  test('ends the explicit memberships, the assignments and the private files of a former member', async () => {
    await add({
      [keys.boardMember('b', 'u')]: { board_id: 'b', user_id: 'u', added_at: '', board_created_at: '' },
      [keys.board('own')]: { id: 'own', creator_id: 'u', visibility: 'private', created_at: '' },
    })
    await addCards({ id: 'ca1', assignee_ids: ['u', 'v'] }, { id: 'ca2' })
    await addFile(file('f1'), 'a1', 'a2')
    await addFile(file('f2', { visibility: 'workspace' }), 'a3')
    await begin({ kind: 'former_member', user_id: 'u' }, 20)
    expect(written()).toEqual(
      [keys.attachment('a1'), keys.attachment('a2'), keys.boardMember('b', 'u'), keys.card('ca1'), keys.file('f1')].toSorted(),
    )
    expect(await read(keys.file('f1'))).toEqual(file('f1', { visibility: 'board', updated_at: NOW }))
    expect((await read(keys.card('ca1')))!.assignee_ids).toEqual(['v'])
    expect(await read(keys.attachment('a1'))).toMatchObject({ updated_at: NOW })
    expect(await changed()).toEqual(['a1', 'a2', 'ca1', 'u'])
  })

  test('passes over entries without a record, and a change of a file is in the feed', async () => {
    const ghosts = [
      indexes.labelCards('l'),
      indexes.boardsOf('u'),
      indexes.assignmentsOf('u'),
      indexes.privateFilesOf('u'),
      indexes.fileAttachments('f'),
    ]
    const index = Object.fromEntries(ghosts.map(({ name }) => [name, { add: ['0 ghost'] }]))
    await records.store.commit('w', change({ index }))
    await addCards({ id: 'c1', label_ids: ['l'], assignee_ids: ['u'] }, { id: 'ca1' })
    await addFile(file('f', { visibility: 'board' }), 'a1')
    await addFile(file('g'))
    for (const of of [
      { kind: 'label', label_id: 'l' },
      { kind: 'former_member', user_id: 'u' },
    ] as const)
      await begin(of, 10)
    expect(await read(keys.card('c1'))).toMatchObject({ label_ids: [], assignee_ids: [] })
    expect((await read(keys.file('g')))!.visibility).toBe('board')
    await begin({ kind: 'file', file_id: 'f' }, 10)
    expect(written()).toEqual([keys.attachment('a1')])
    expect({ pending: await pending(), changed: await changed() }).toStrictEqual({ pending: undefined, changed: ['a1', 'c1', 'c1'] })
  })

  test('ends as many memberships of boards at once as their records allow', async () => {
    for (const id of ['b1', 'b2'])
      await add({
        [keys.board(id)]: { id, creator_id: 'x', visibility: 'private', created_at: '', description: 'x'.repeat(600_000) },
        [keys.boardMember(id, 'u')]: { board_id: id, user_id: 'u', added_at: '', board_created_at: '' },
      })
    await begin({ kind: 'former_member', user_id: 'u' }, 10)
    expect(written()).toContain(keys.boardMember('b1', 'u'))
    expect(written()).not.toContain(keys.boardMember('b2', 'u'))
  })

  test('reads all files that it shares, and what shows them, at once', async () => {
    const reads: number[] = []
    for (const ids of [['f1'], ['f2', 'f3', 'f4']]) {
      for (const id of ids) await addFile(file(id), `a${id}`, `b${id}`)
      records.ranges = []
      await begin({ kind: 'former_member', user_id: 'u' }, 20)
      expect(written().filter((key) => key.startsWith('file:'))).toEqual(ids.map(keys.file))
      reads.push(records.ranges.length)
    }
    expect(reads[1]).toBe(reads[0])
  })

  test('shares as many files at once as fit with their attachments', async () => {
    for (const [i, id] of ['f1', 'f2', 'f3', 'f4'].entries()) await addFile(file(id), ...['a', 'b'].map((name) => `${name}${i}`))
    const shared: string[] = []
    await begin({ kind: 'former_member', user_id: 'u' }, 6)
    shared.push(String(written().filter((key) => key.startsWith('file:'))))
    for (let i = 0; i < 5 && (await pending()) !== undefined; i++) {
      await next(6)
      shared.push(String(written().filter((key) => key.startsWith('file:'))))
    }
    expect(shared).toEqual(['file:f1,file:f2', 'file:f3,file:f4', ''])
    await addFile(file('f5'), 'a5', 'b5', 'c5')
    await begin({ kind: 'former_member', user_id: 'u' }, 2)
    expect((await pending())!.map(({ kind }) => kind).toSorted()).toEqual(['file', 'former_member'])
  })

  test('that begins again for a file replaces the one before, and leaves others', async () => {
    for (const id of ['f', 'g']) await addFile(file(id), `${id}1`, `${id}2`)
    await addCards({ id: 'c1', label_ids: ['l'] }, { id: 'c2', label_ids: ['l'] })
    await begin({ kind: 'label', label_id: 'l' }, 1)
    for (const file_id of ['g', 'f', 'f']) await begin({ kind: 'file', file_id }, 1)
    expect(await pending()).toMatchObject([{ kind: 'label' }, { file_id: 'g' }, { file_id: 'f' }])
    const [, second] = (await pending())!
    await work((tx) => continueWith(tx, second!.id, 10))
    expect(written()).toContain(keys.attachment('g2'))
    expect(await pending()).toMatchObject([{ kind: 'label' }, { file_id: 'f' }])
  })

  test('keeps an assignment that is made meanwhile', async () => {
    const one = card({ id: 'c9' })
    const keep = (userId: string) => {
      records.written = []
      return work((tx) => keepAssignment(tx, one, userId))
    }
    await keep('u')
    expect(written()).toEqual([])
    const others = [{ ...ofBoard, id: 't4', user_ids: ['w'] }, { ...ofBoard, id: 't5', board_id: 'b2' }, label, member]
    await add({ [keys.removals()]: { pending: [ofBoard, ...others] } })
    await keep('x')
    expect(written()).toEqual([])
    await keep('u')
    expect(await pending()).toEqual([{ ...ofBoard, kept: ['v c', 'u c9'] }, ...others])
  })

  test('changes the other records that a response shows, and so its ETag', async () => {
    await addCards({ id: 'c1', label_ids: ['l', 'm'], assignee_ids: ['u'] }, { id: 'c2', label_ids: ['m'] })
    await addFile(file('f1'), 'a1')
    await addFile(file('f2', { owner_id: 'v' }), 'a2')
    await addFile(file('f3', { visibility: 'workspace' }), 'a3')
    await add({ [keys.removals()]: { pending: [label, member] } })
    const shown = [
      ...['c1', 'c2', 'absent'].map(keys.card),
      ...['f1', 'f2'].map(keys.file),
      ...['a1', 'a2', 'a3'].map(keys.attachment),
      keys.board('b'),
    ]
    // The removals were not read, so nothing is known to be pending.
    expect(await work(async (tx) => (await tx.get(keys.card('c1')), shownRevision(tx, keys.card('c1'))))).not.toContain('.')
    const suffixes = await work(async (tx) => {
      await tx.read([keys.removals(), keys.file('f3'), ...shown])
      return shown.map((key) => shownRevision(tx, key)?.replace(tx.revisionOf(key)!, ''))
    })
    expect(suffixes).toEqual(['.2', '', undefined, '.b', '', '.b', '.p', '.w', ''])
  })
})

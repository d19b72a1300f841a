import { beforeEach, describe, expect, test } from 'vitest'
import type { Caller } from '../../src/authz/context.ts'
import type { Target } from '../../src/resources/operation.ts'
import * as targets from '../../src/resources/targets.ts'
import { keys } from '../../src/store/keys.ts'
import { TransactionConflict } from '../../src/store/transaction.ts'
import { setUpRecords } from '../support/memory-records.ts'
import { card as cardRecord } from '../support/records.ts'

const idOf = (prefix: string, digit = 0) => `${prefix}_${String(digit).repeat(20)}`
const [BOARD, HOME] = [idOf('brd'), idOf('brd', 1)]
const [COLUMN, LABEL, CARD, SUBTASK] = [idOf('col'), idOf('lbl'), idOf('crd'), idOf('sub')]
const [COMMENT, ATTACHMENT, FILE, USER] = [idOf('cmt'), idOf('att'), idOf('fil'), idOf('usr')]

const caller = { userId: USER, token: { hash: 'h' } } as Caller
const board = { id: BOARD, creator_id: 'u', visibility: 'workspace', created_at: '2026', name: 'Board' }
const boardMember = { board_id: BOARD, user_id: USER, added_at: '2026', board_created_at: '2026' }
const home = { ...board, id: HOME }
const homeMember = { ...boardMember, board_id: HOME }
const card = cardRecord({ id: CARD, board_id: BOARD, label_ids: ['ended', LABEL], assignee_ids: ['former'] })
const column = { id: COLUMN, board_id: BOARD, position: 'a', archived_at: null }
const label = { id: LABEL, board_id: BOARD, created_at: '2026' }
const subtask = { id: SUBTASK, card_id: CARD, position: 'a' }
const comment = { id: COMMENT, card_id: CARD, created_at: '2026' }
const attachment = { id: ATTACHMENT, card_id: CARD, file_id: FILE, created_at: '2026' }
const file = { id: FILE, board_id: HOME, owner_id: 'former', visibility: 'private', created_at: '2026' }
const membership = { user_id: USER, joined_at: '2026', ended_at: null }
const progress = { step: 0, after: null }
const removals = {
  pending: [
    { id: 't1', kind: 'label', label_id: 'ended', ...progress },
    { id: 't2', kind: 'former_member', user_id: 'former', ...progress },
  ],
}
const records: Readonly<Record<string, object>> = {
  [keys.board(BOARD)]: board,
  [keys.board(HOME)]: home,
  [keys.boardMember(BOARD, USER)]: boardMember,
  [keys.boardMember(HOME, USER)]: homeMember,
  [keys.card(CARD)]: card,
  [keys.column(COLUMN)]: column,
  [keys.label(LABEL)]: label,
  [keys.subtask(SUBTASK)]: subtask,
  [keys.comment(COMMENT)]: comment,
  [keys.attachment(ATTACHMENT)]: attachment,
  [keys.file(FILE)]: file,
  [keys.membership(USER)]: membership,
  [keys.removals()]: removals,
}

const onBoard = { board, boardMember }
const shownCard = { ...card, label_ids: [LABEL], assignee_ids: [] }
const ofFile = { file: { ...file, visibility: 'board' }, home: { board: home, boardMember: homeMember } }
/** name → parameter of the path, its id, the context, and the records that finding it requires */
const rows: readonly (readonly [name: string, parameter: string, id: string, context: object, required: readonly string[]])[] = [
  ['boardTarget', 'board_id', BOARD, onBoard, [keys.board(BOARD)]],
  ['parentBoard', 'board_id', BOARD, onBoard, [keys.board(BOARD)]],
  ['columnTarget', 'column_id', COLUMN, { column, ...onBoard }, [keys.column(COLUMN), keys.board(BOARD)]],
  ['labelTarget', 'label_id', LABEL, { label, ...onBoard }, [keys.label(LABEL), keys.board(BOARD)]],
  ['cardTarget', 'card_id', CARD, { card: shownCard, ...onBoard }, [keys.card(CARD), keys.board(BOARD)]],
  ['cardAndClaim', 'card_id', CARD, { card: shownCard, ...onBoard }, [keys.card(CARD), keys.board(BOARD)]],
  ['parentCard', 'card_id', CARD, { card, ...onBoard }, [keys.card(CARD), keys.board(BOARD)]],
  ['subtaskTarget', 'subtask_id', SUBTASK, { subtask, card, ...onBoard }, [keys.subtask(SUBTASK), keys.card(CARD), keys.board(BOARD)]],
  ['commentTarget', 'comment_id', COMMENT, { comment, card, ...onBoard }, [keys.comment(COMMENT), keys.card(CARD), keys.board(BOARD)]],
  [
    'attachmentTarget',
    'attachment_id',
    ATTACHMENT,
    { attachment, card, ...onBoard, ...ofFile },
    [keys.attachment(ATTACHMENT), keys.card(CARD), keys.board(BOARD), keys.file(FILE)],
  ],
  ['fileTarget', 'file_id', FILE, ofFile, [keys.file(FILE)]],
]
const byName: Readonly<Record<string, unknown>> = { ...targets }
const targetOf = (name: string) => byName[name] as Target<unknown>
const NOT_FOUND = { code: 'not_found', details: {} }
const notFoundBy = (parameter: string) => ({ code: 'not_found', details: { members: { parameter } } })

describe('the target of a path', () => {
  const { add, work, edit, begin } = setUpRecords()
  const load = (name: string, params: Readonly<Record<string, string>>) =>
    work(async (tx) => targets.loadTarget(targetOf(name), { tx, caller, params }))
  const remove = (key: string) => work(async (tx) => (await tx.get(key)) !== undefined && tx.remove(key))
  beforeEach(() => add(records))

  test.each(rows)('%s is loaded with its parents, without references whose removal is pending', async (name, parameter, id, context) => {
    expect(await load(name, { [parameter]: id })).toEqual(context)
  })

  test.each(rows)('%s is not found without its parents', async (name, parameter, id, _context, required) => {
    for (const params of [{}, { [parameter]: 'x' }]) await expect(load(name, params)).rejects.toMatchObject(NOT_FOUND)
    for (const key of required) {
      await remove(key)
      await expect(load(name, { [parameter]: id }), key).rejects.toMatchObject(NOT_FOUND)
      await add({ [key]: records[key]! })
    }
    expect(await load(name, { [parameter]: id })).toBeDefined()
  })

  const [ofBoard, ofCard] = [keys.board(BOARD), keys.card(CARD)]
  test.each([
    ['boardTarget', 'board_id', BOARD, ofBoard, ['name'], []],
    ['parentBoard', 'board_id', BOARD, ofBoard, ['id', 'creator_id', 'visibility', 'created_at'], ['name']],
    ['cardTarget', 'card_id', CARD, ofCard, ['title'], []],
    ['cardAndClaim', 'card_id', CARD, keys.claim(CARD), ['epoch'], []],
    ['parentCard', 'card_id', CARD, ofCard, ['id', 'board_id'], ['title']],
    // The members that a commit relies on, and others.
  ] as const)('%s is relied on until the commit, where it matters', async (name, parameter, id, key, relied, others) => {
    const meanwhile = async (member: string) => {
      const tx = begin()
      await targets.loadTarget(targetOf(name), { tx, caller, params: { [parameter]: id } })
      tx.create(keys.order(member), { generation: 0, maps: [] })
      await edit<object>(key, { [member]: 'changed' })
      return tx.commit()
    }
    for (const member of others) await meanwhile(member)
    for (const member of relied) {
      await expect(meanwhile(member), member).rejects.toThrow(TransactionConflict)
      await edit<object>(key, records[key] ?? {})
    }
  })

  test('the home board of a file may be deleted', async () => {
    await remove(keys.board(HOME))
    await remove(keys.boardMember(HOME, USER))
    expect(await load('fileTarget', { file_id: FILE })).toEqual({ ...ofFile, home: { board: undefined, boardMember: undefined } })
  })

  test('a user that a request names has their membership of the board, unless they have left', async () => {
    const related = (user_id: string) => work((tx) => targets.relatedUser({ tx, params: { user_id } }, { board } as never))
    expect(await related(USER)).toEqual({ user: { membership, boardMember } })
    await edit(keys.membership(USER), { ended_at: '2026' })
    expect(await related(USER)).toEqual({ user: { membership: { ...membership, ended_at: '2026' }, boardMember: undefined } })
    for (const id of ['x', `usr_${'1'.repeat(20)}`]) await expect(related(id)).rejects.toMatchObject(notFoundBy('user_id'))
  })

  test('a file that a request names in its body is not found by the name of that member', () => {
    expect(() => targets.toFile([undefined, undefined, undefined, undefined], 'file_id')).toThrow('"file_id" names no resource')
  })

  test('a prefetch has the error of a malformed id, and no other one', () => {
    const texts = targets.textsOf(caller)
    expect(texts).toEqual({ userId: USER, tokenHash: 'h' })
    expect(targets.textsOf({ userId: USER, isSession: true } as Caller)).toEqual({ userId: USER, tokenHash: '-' })
    expect(targets.readsOf(targets.boardTarget, { board_id: BOARD }, texts)).toEqual([ofBoard, keys.boardMember(BOARD, USER)])
    expect(targets.readsOf(targets.boardTarget, { board_id: 'x' }, texts)).toMatchObject(NOT_FOUND)
    const broken: Target<unknown> = {
      reads: () => {
        throw new TypeError('broken')
      },
      from: () => undefined,
    }
    expect(() => targets.readsOf(broken, {}, texts)).toThrow('broken')
  })
})

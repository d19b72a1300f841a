import { beforeEach, describe, expect, test } from 'vitest'
import type { Caller } from '../../src/authz/context.ts'
import { systemRandom } from '../../src/model/ids.ts'
import type { Target, TargetRequest } from '../../src/resources/operation.ts'
import {
  attachmentTarget,
  boardTarget,
  cardTarget,
  columnTarget,
  commentTarget,
  fileTarget,
  idOf,
  labelTarget,
  loadTarget,
  parentBoard,
  parentCard,
  relatedUser,
  requireFound,
  subtaskTarget,
} from '../../src/resources/targets.ts'
import { keys } from '../../src/store/keys.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'
import { Transaction } from '../../src/store/transaction.ts'
import { change } from '../support/changes.ts'

const id = (prefix: string, letter = 'a') => `${prefix}_${letter.repeat(20)}`
const board = { id: id('brd'), name: 'the board' }
const boardMember = { board_id: board.id, user_id: id('usr') }
const onBoard = (prefix: string) => ({ id: id(prefix), board_id: board.id })
const card = { ...onBoard('crd'), completed_by_id: null, blocker_ids: [] }
const onCard = (prefix: string) => ({ id: id(prefix), card_id: card.id })
const homeBoard = { id: id('brd', 'h'), name: 'the home board' }
const file = { id: id('fil'), name: 'a.txt', board_id: homeBoard.id }
const home = { board: homeBoard, boardMember: undefined }
const attachment = { ...onCard('att'), file_id: file.id }
const [column, label, subtask, comment] = [onBoard('col'), onBoard('lbl'), onCard('sub'), onCard('cmt')]
const RECORDS = {
  [keys.board(board.id)]: board,
  [keys.board(homeBoard.id)]: homeBoard,
  [keys.boardMember(board.id, id('usr'))]: boardMember,
  [keys.card(card.id)]: card,
  [keys.column(column.id)]: column,
  [keys.label(label.id)]: label,
  [keys.subtask(subtask.id)]: subtask,
  [keys.comment(comment.id)]: comment,
  [keys.attachment(attachment.id)]: attachment,
  [keys.file(file.id)]: file,
}

const TARGETS: readonly (readonly [
  name: string,
  target: Target<object>,
  parameter: string,
  id: string,
  result: object,
  needs: readonly string[],
])[] = [
  ['board', boardTarget, 'board_id', board.id, {}, []],
  ['parent board', parentBoard, 'board_id', board.id, {}, []],
  ['column', columnTarget, 'column_id', column.id, { column }, [keys.column(column.id)]],
  ['label', labelTarget, 'label_id', label.id, { label }, [keys.label(label.id)]],
  ['card', cardTarget, 'card_id', card.id, { card }, [keys.card(card.id)]],
  ['parent card', parentCard, 'card_id', card.id, { card }, [keys.card(card.id)]],
  ['subtask', subtaskTarget, 'subtask_id', subtask.id, { subtask, card }, [keys.subtask(subtask.id), keys.card(card.id)]],
  ['comment', commentTarget, 'comment_id', comment.id, { comment, card }, [keys.comment(comment.id), keys.card(card.id)]],
  [
    'attachment',
    attachmentTarget,
    'attachment_id',
    attachment.id,
    { attachment, card, file, home },
    [keys.attachment(attachment.id), keys.card(card.id), keys.file(file.id)],
  ],
]

describe('the target of a path', () => {
  let store: Store
  let reads: number
  beforeEach(async () => {
    store = createMemoryStore()
    await store.commit('w1', change({ put: RECORDS }))
    const { read } = store
    reads = 0
    store.read = (partition, request) => (reads++, read.call(store, partition, request))
  })
  const request = (params: Record<string, string>, userId = id('usr')): TargetRequest =>
    ({
      tx: new Transaction(store, 'w1', systemRandom),
      caller: { userId, token: { hash: 'h' } } as Caller,
      params,
    }) as unknown as TargetRequest
  const notFound = { name: 'ApiError', code: 'not_found' }

  test.each(TARGETS)(
    'of a %s is loaded in one read, with its board and the membership of the caller',
    async (_name, target, parameter, of, result) => {
      expect(await loadTarget(target, request({ [parameter]: of }))).toEqual({ ...result, board, boardMember })
      expect(reads).toBe(1)
      expect(await loadTarget(target, request({ [parameter]: of }, id('usr', 'b')))).toEqual({ ...result, board, boardMember: undefined })
    },
  )

  test.each(TARGETS)(
    'of a %s is not found without its record or one of those that it belongs to',
    async (_name, target, parameter, of, _result, needs) => {
      for (const key of [...needs, keys.board(board.id)]) {
        await store.commit('w1', change({ remove: [key] }))
        await expect(async () => loadTarget(target, request({ [parameter]: of }))).rejects.toMatchObject(notFound)
        await store.commit('w1', change({ put: { [key]: RECORDS[key]! } }))
      }
      expect(await loadTarget(target, request({ [parameter]: of }))).toMatchObject({ board })
    },
  )

  test.each(TARGETS)('of a %s is not found by an id of another kind or form, and nothing is read', async (_name, target, parameter, of) => {
    const malformed = [{ [parameter]: 'x' }, { [parameter]: id('usr') }, { [parameter]: `${of}a` }, {}, { other_id: of }]
    for (const params of malformed)
      await expect(async () => loadTarget(target, request(params as Record<string, string>))).rejects.toMatchObject(notFound)
    expect(reads).toBe(0)
  })

  test('of a file has its home board and the membership of the caller, in one read', async () => {
    expect(await loadTarget(fileTarget, request({ file_id: file.id }))).toEqual({ file, home })
    expect(reads).toBe(1)
    const member = { board_id: homeBoard.id, user_id: id('usr') }
    await store.commit('w1', change({ put: { [keys.boardMember(homeBoard.id, id('usr'))]: member } }))
    expect(await loadTarget(fileTarget, request({ file_id: file.id }))).toEqual({ file, home: { board: homeBoard, boardMember: member } })
    await store.commit('w1', change({ remove: [keys.board(homeBoard.id)] }))
    expect(await loadTarget(fileTarget, request({ file_id: file.id }))).toMatchObject({ file, home: { board: undefined } })
  })

  test('of a file is not found by the id of no file', async () => {
    for (const params of [{ file_id: id('fil', 'b') }, { file_id: board.id }])
      await expect(async () => loadTarget(fileTarget, request(params))).rejects.toMatchObject(notFound)
  })

  test('a named user has their membership, and that of the board if there is one', async () => {
    const target = { board, boardMember: undefined } as unknown as Parameters<typeof relatedUser>[1]
    const membership = { user_id: id('usr'), ended_at: null }
    await expect(async () => relatedUser(request({ user_id: id('usr') }), target)).rejects.toMatchObject(notFound)
    await store.commit('w1', change({ put: { [keys.membership(id('usr'))]: membership, [keys.membership(id('usr', 'b'))]: membership } }))
    expect(await relatedUser(request({ user_id: id('usr') }), target)).toEqual({ user: { membership, boardMember } })
    expect(await relatedUser(request({ user_id: id('usr', 'b') }), target)).toEqual({ user: { membership, boardMember: undefined } })
    const former = { ...membership, ended_at: '2026-11-20T12:00:00.000Z' }
    await store.commit('w1', change({ put: { [keys.membership(id('usr'))]: former } }))
    expect(await relatedUser(request({ user_id: id('usr') }), target)).toEqual({ user: { membership: former, boardMember: undefined } })
    await expect(async () => relatedUser(request({ user_id: board.id }), target)).rejects.toMatchObject(notFound)
  })

  test('an id and a record are returned if they are there', () => {
    expect([idOf('user', id('usr')), requireFound(card)]).toEqual([id('usr'), card])
    for (const text of [undefined, 'x', id('crd')]) expect(() => idOf('user', text)).toThrow(expect.objectContaining(notFound))
    expect(() => requireFound(undefined)).toThrow(expect.objectContaining(notFound))
    expect(requireFound(null)).toBeNull()
  })
})

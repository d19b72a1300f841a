import { NO_EXPECTATION } from '../../../src/store/port.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { indexes } from '../../../src/store/indexes.ts'
import { keys, type Key } from '../../../src/store/keys.ts'
import { TestBoard } from '../../support/board.ts'
import { memory } from '../../support/memory.ts'
import { Service } from '../../support/service.ts'
import { checkInvariants } from './invariants.ts'

/** The ids of resources. The column, the label and the card are on the first board, the other column and label on the second one. */
interface Content {
  readonly service: Service
  readonly workspaceId: string
  readonly person: string
  readonly board: string
  readonly otherBoard: string
  readonly column: string
  readonly otherColumn: string
  readonly card: string
  readonly label: string
  readonly otherLabel: string
  readonly subtask: string
  readonly attachment: string
  readonly file: string
}

async function createContent(): Promise<Content> {
  const service = await Service.start(memory)
  const workspaceId = await service.workspace()
  const ann = await service.person(workspaceId, 'owner')
  const bob = await service.person(workspaceId)
  const [board, other] = [await TestBoard.create(service, ann), await TestBoard.create(service, ann)]
  const [column, otherColumn] = [await board.column(), await other.column()]
  const [label, otherLabel] = [await board.label(), await other.label()]
  const card = await board.card(column)
  await board.add(bob)
  await board.put(`/cards/${card}/assignees/${bob.id}`)
  await board.put(`/cards/${card}/labels/${label}`)
  await board.comment(card)
  const subtask = await board.subtask(card)
  const { id: attachment, file_id: file } = (await board.attach(card, { type: 'image/png' })).body.data
  await board.put(`/cards/${card}/cover`, { attachment_id: attachment })
  const boards = { board: board.id, otherBoard: other.id, column, otherColumn, label, otherLabel }
  return { service, workspaceId, person: bob.id, ...boards, card, subtask, attachment, file }
}

/** Changes a record, or removes it, past the API. */
const change = <T extends object>({ service, workspaceId }: Content, key: Key<T>, changes: Partial<T> | undefined): Promise<void> =>
  service.write(workspaceId, async (tx) => {
    const record = (await tx.get(key)) ?? ({} as T)
    if (changes === undefined) tx.remove(key)
    else tx.put(key, { ...record, ...changes })
  })
/** Changes an index without its record. */
const index = async (
  { service, workspaceId }: Content,
  name: string,
  entries: { add?: readonly string[]; remove?: readonly string[] },
): Promise<void> => {
  const indexChange = { add: entries.add ?? [], remove: entries.remove ?? [] }
  const empty = { put: new Map(), remove: new Set<string>() }
  await service.store.commit(workspaceId, {
    revision: 'planted',
    expect: NO_EXPECTATION,
    ...empty,
    indexes: new Map([[name, indexChange]]),
  })
}
const fileOf = async ({ service, workspaceId, file }: Content) => (await service.write(workspaceId, (tx) => tx.get(keys.file(file))))!
const ABSENT = 'brd_00000000000000000000'
const planted = async function* () {
  yield Buffer.from('other')
}

/** Violations of the invariants. `checkInvariants` must find each of them. */
const violations: Readonly<Record<string, (content: Content) => Promise<unknown>>> = {
  'bytes without a file': ({ service }) => service.adminDeps.blobs.write('blb_00000000000000000000', planted()),
  'a file without bytes': async (content) => content.service.adminDeps.blobs.remove((await fileOf(content)).blob_id),
  'a file with other bytes': async (content) => {
    const { blobs } = content.service.adminDeps
    const { blob_id } = await fileOf(content)
    await blobs.remove(blob_id)
    await blobs.write(blob_id, planted())
  },
  'a file without an attachment or a tombstone': async (content) => {
    await change(content, keys.card(content.card), { cover_attachment_id: null })
    await change(content, keys.attachment(content.attachment), undefined)
  },
  'an attachment without a file': (content) =>
    change(content, keys.attachment(content.attachment), { file_id: 'fil_00000000000000000000' }),
  'an order record of an absent list': (content) => change(content, keys.order(ABSENT), { generation: 1, maps: [] }),
  'a board member of an absent board': (content) =>
    change(content, keys.boardMember(ABSENT, content.person), {
      board_id: ABSENT,
      user_id: content.person,
      added_at: '',
      board_created_at: '',
    }),
  'a board member whose membership has ended': (content) => content.service.leaveOnly(content.workspaceId, content.person),
  'a column of an absent board': (content) => change(content, keys.column(content.otherColumn), { board_id: ABSENT }),
  'a label of an absent board': (content) => change(content, keys.label(content.otherLabel), { board_id: ABSENT }),
  'a card of an absent board': (content) => change(content, keys.card(content.card), { board_id: ABSENT }),
  'a card in a column of another board': (content) => change(content, keys.card(content.card), { column_id: content.otherColumn }),
  'a card with a label of another board': (content) => change(content, keys.card(content.card), { label_ids: [content.otherLabel] }),
  'a card with a label twice': (content) => change(content, keys.card(content.card), { label_ids: [content.label, content.label] }),
  'a card with an absent cover': (content) => change(content, keys.card(content.card), { cover_attachment_id: 'att_00000000000000000000' }),
  'an assignee who cannot see the board': async (content) => {
    await change(content, keys.boardMember(content.board, content.person), undefined)
    await change(content, keys.board(content.board), { visibility: 'private' })
  },
  'a subtask of an absent card': (content) => change(content, keys.subtask(content.subtask), { card_id: 'crd_00000000000000000000' }),
  'a card that is missing in the index of its board': async (content) =>
    index(content, indexes.boardCards(content.board).name, {
      remove: (await content.service.write(content.workspaceId, (tx) => tx.all(indexes.boardCards(content.board)))).entries,
    }),
  'an index entry of an absent card': (content) => index(content, indexes.cards('active', content.column).name, { add: ['a9 crd_absent'] }),
  'an index entry of an absent comment': (content) => index(content, indexes.comments(content.card).name, { add: ['9 cmt_absent'] }),
}

describe('the check of the invariants', () => {
  let content: Content
  beforeEach(async () => {
    content = await createContent()
  })
  afterEach(() => content.service.stop())

  test('a workspace without a violation passes', async () => {
    await checkInvariants(content.service, content.workspaceId)
  })

  test.each(Object.entries(violations))('a planted violation is found: %s', async (_name, plant) => {
    await plant(content)
    await expect(checkInvariants(content.service, content.workspaceId)).rejects.toThrow()
  })
})

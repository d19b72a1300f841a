import { isDeepStrictEqual } from 'node:util'
import { sha256Hex } from '../auth/secrets.ts'
import type { Account, Session, SignUp } from '../model/account.ts'
import type { Board, BoardMember } from '../model/board.ts'
import { blockersOf, isOpen, type Card } from '../model/card.ts'
import type { ClaimRecord } from '../model/claim.ts'
import type { Column } from '../model/column.ts'
import type { Comment } from '../model/comment.ts'
import type { AttachmentRecord, FileRecord } from '../model/file.ts'
import type { Label } from '../model/label.ts'
import type { Challenge, Notices, SecondFactor } from '../model/second-factor.ts'
import type { Readiness } from '../model/readiness.ts'
import type { Subtask } from '../model/subtask.ts'
import type { TokenRecord } from '../model/token.ts'
import type { Tombstone } from '../model/tombstone.ts'
import { keys } from '../store/keys.ts'
import type { Value } from '../store/port.ts'

/** A record that another record of the same partition refers to. */
export interface RecordReference {
  /** the key of the record that must exist, or must not */
  readonly key: string
  /** it must not exist */
  readonly absent?: boolean
  /** the members that it must have */
  readonly members?: Readonly<Record<string, unknown>>
  /** whether it is as it must be */
  readonly matches?: (value: Value) => boolean
  /** the tombstones and pending removals that explain that it is missing */
  readonly explainedBy?: readonly string[]
}

type References = { readonly [kind: string]: ((value: any, rest: string) => readonly (RecordReference | undefined)[]) | undefined }

const member = (userId: string): RecordReference => ({ key: keys.membership(userId) })
const user = (userId: string): RecordReference => ({ key: keys.user(userId) })
const ofBoard = (boardId: string): string => `board ${boardId}`
const board = (boardId: string): RecordReference => ({ key: keys.board(boardId), explainedBy: [ofBoard(boardId)] })
const card = (cardId: string): RecordReference => ({ key: keys.card(cardId), explainedBy: [`card ${cardId}`] })

/** What records refer to, by the first word of their key. What a reference to a deleted board or card needs is its tombstone. */
const references: References = {
  board: ({ creator_id }: Board) => [member(creator_id)],
  board_member: ({ board_id, user_id }: BoardMember) => [board(board_id), member(user_id)],
  column: ({ board_id }: Column) => [board(board_id)],
  label: ({ board_id }: Label) => [board(board_id)],
  card: (record: Card) => {
    const { board_id, column_id, assignee_ids, label_ids, cover_attachment_id, creator_id, completed_by_id, id } = record
    return [
      board(board_id),
      { key: keys.column(column_id), members: { board_id }, explainedBy: [ofBoard(board_id)] },
      member(creator_id),
      completed_by_id === null ? undefined : member(completed_by_id),
      ...assignee_ids.map(member),
      ...label_ids.map((labelId) => ({
        key: keys.label(labelId),
        members: { board_id },
        explainedBy: [ofBoard(board_id), `label ${labelId}`],
      })),
      cover_attachment_id === null ? undefined : { key: keys.attachment(cover_attachment_id), members: { card_id: id } },
      ...readinessOf(record),
    ]
  },
  readiness: ({ card_id, board_id, blocker_ids, open_blocker_ids }: Readiness) => [
    { key: keys.card(card_id), matches: (value) => blockersOf(value as Card).length > 0 },
    ...blocker_ids.map((id) => ({
      key: keys.card(id),
      members: { board_id },
      matches: (value: Value) => isOpen(value as Card) === open_blocker_ids.includes(id),
      explainedBy: [ofBoard(board_id)],
    })),
  ],
  claim: ({ card_id, board_id, holder_id, token_hash }: ClaimRecord) => [
    { ...card(card_id), members: { board_id } },
    member(holder_id),
    { key: keys.token(token_hash) },
  ],
  subtask: ({ card_id }: Subtask) => [card(card_id)],
  comment: ({ card_id, author_id }: Comment) => [card(card_id), member(author_id)],
  attachment: ({ card_id, file_id, attached_by_id }: AttachmentRecord) => [
    card(card_id),
    { key: keys.file(file_id) },
    member(attached_by_id),
  ],
  // Its home board may have been deleted: then `board` gives access to the owner only.
  file: ({ owner_id, visibility }: FileRecord) => [
    member(owner_id),
    // The private files of a former member are accessible on their boards.
    visibility === 'private'
      ? { key: keys.membership(owner_id), members: { ended_at: null }, explainedBy: [`references ${owner_id}`] }
      : undefined,
  ],
  order: (_value, list) => {
    if (list.startsWith('brd_')) return [board(list)]
    return [list.startsWith('crd_') ? card(list) : { key: keys.column(list) }]
  },
  token: ({ id, hash, user_id, replaced_by }: TokenRecord) => [
    member(user_id),
    { key: keys.tokenHash(id), members: { hash } },
    replaced_by === null ? undefined : { key: keys.tokenHash(replaced_by) },
  ],
  token_hash: ({ hash }: { hash: string }, id) => [{ key: keys.token(hash), members: { id } }],
  token_use: (_value, hash) => [{ key: keys.token(hash) }],
  // Garbage collection would remove what belongs to it.
  tombstone: ({ kind, target }: Tombstone) => (kind === 'board' || kind === 'card' ? [{ key: `${kind}:${target}`, absent: true }] : []),

  account: ({ user_id, email }: Account) => [user(user_id), { key: keys.accountEmail(sha256Hex(email)), members: { user_id } }],
  account_email: ({ user_id }: { user_id: string }) => [{ key: keys.account(user_id) }],
  sign_up: ({ user_id }: SignUp) => [user(user_id)],
  session: ({ user_id }: Session) => [user(user_id)],
  second_factor: ({ user_id }: SecondFactor) => [user(user_id), { key: keys.account(user_id) }],
  notices: ({ user_id }: Notices) => [user(user_id)],
  challenge: ({ user_id }: Challenge) => [user_id === null ? undefined : user(user_id)],
  workspace_link: ({ user_id }: { user_id: string }) => [user(user_id)],
}

/** What a card with blockers needs beside it. */
function readinessOf(card: Card): RecordReference[] {
  const { id, column_id, position } = card
  const blockers = blockersOf(card)
  if (blockers.length === 0) return []
  const matches = ({ blocker_ids }: Value) => isDeepStrictEqual(blocker_ids, blockers)
  return [{ key: keys.readiness(id), members: { column_id, position, is_open: isOpen(card) }, matches }]
}

/** The records that a valid record refers to. */
export function referencesOf(key: string, value: Value): readonly RecordReference[] {
  const colon = key.indexOf(':')
  return (references[key.slice(0, colon)]?.(value, key.slice(colon + 1)) ?? []).filter((reference) => reference !== undefined)
}

/** Whether a record is what a reference to it needs, apart from tombstones. */
export function isMet({ absent = false, members = {}, matches = () => true }: RecordReference, value: Value | undefined): boolean {
  if (absent || value === undefined) return absent && value === undefined
  return Object.entries(members).every(([name, expected]) => value[name] === expected) && matches(value)
}

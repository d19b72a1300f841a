import type { BoardAccess, Caller, HomeAccess } from '../authz/context.ts'
import { andThen, type Awaitable } from '../model/awaitable.ts'
import type { BoardMember } from '../model/board.ts'
import { ApiError, notFound } from '../model/errors.ts'
import type { FileRecord } from '../model/file.ts'
import { isId, type IdKind } from '../model/ids.ts'
import type { PendingRemovals } from '../model/pending-removal.ts'
import { isActive } from '../model/workspace.ts'
import { keys, type Key, type Text } from '../store/keys.ts'
import { memberOf, partOf, type Read, type ReadOf, type ValueOf } from '../store/reads.ts'
import type { Reference } from '../store/references.ts'
import { shownCard, shownFile } from './pending-removals.ts'
import type { CallerTexts, OperationRequest, Target, TargetRequest } from './operation.ts'

// The targets of paths. Each is loaded with the records that it belongs to, up to its board, in one snapshot. Access is
// decided on that board, never on an id that the request states.

/**
 * Loads a target.
 * @throws {ApiError} `not_found`
 */
export function loadTarget<Context>(target: Target<Context>, { tx, caller, params }: TargetRequest): Awaitable<Context> {
  return andThen(tx.read(target.reads(params, textsOf(caller))), target.from)
}

/** What a target needs to know of a caller. A person in the web app has no token: no token has the hash "-". */
export function textsOf(caller: Caller): CallerTexts {
  return { userId: caller.userId, tokenHash: caller.token?.hash ?? '-' }
}

/**
 * What a target reads, for a prefetch.
 * @returns the error if an id is malformed: it is answered later, in its turn
 */
export function readsOf(
  ...[target, ...given]: [target: Target<unknown>, ...Parameters<Target<unknown>['reads']>]
): readonly Read[] | ApiError {
  try {
    return target.reads(...given)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Makes a target. Its context is made from the records of its references. */
export function target<const Reads extends readonly Read[], Context>(
  reads: (params: OperationRequest['params'], caller: CallerTexts) => Reads,
  from: (records: { [R in keyof Reads]: ValueOf<Reads[R]> }) => Context,
): Target<Context> {
  return { reads, from: from as (records: readonly unknown[]) => Context }
}

function boardBy<Board>(reading: (id: string) => ReadOf<Board>) {
  return target(
    ({ board_id }, { userId }) => {
      const id = idOf('board', board_id)
      return [reading(id), keys.boardMember(id, userId)]
    },
    ([board, boardMember]) => toBoard([board as Board | undefined, boardMember]),
  )
}
/** The board of `board_id`, and the caller's explicit membership of it. */
export const boardTarget = boardBy(keys.board)
/** The board of `board_id` for an operation on something on the board: a change of its name does not conflict with that. */
export const parentBoard = boardBy(accessTo)

/** What a parameter names on a board. */
function onBoard<Kind extends 'column' | 'label' | 'card' | 'webhook', Value extends OnBoard>(
  kind: Kind,
  reading: (id: string) => ReadOf<Value>,
) {
  return target(
    (params, { userId }) => withBoard(reading(idOf(kind, params[`${kind}_id`])), userId),
    ([record, ...board]) => ({ ...named(kind, record), ...toBoard(board) }),
  )
}
/** The column of `column_id`. */
export const columnTarget = onBoard('column', keys.column)
/** The label of `label_id`. */
export const labelTarget = onBoard('label', keys.label)
/** The webhook of `webhook_id`. How far its deliveries are is read by those who show it: it changes with each of them. */
export const webhookTarget = onBoard('webhook', keys.webhook)
/** The card of `card_id` for an operation on something on the card: a change of the card does not conflict with that. */
export const parentCard = onBoard('card', (id) => identityOf(keys.card(id)))

/** The card of `card_id`. */
export const cardTarget = target(
  ({ card_id }, { userId }) => [...withBoard(keys.card(idOf('card', card_id)), userId), keys.removals()] as const,
  ([card, board, boardMember, removals]) => ({ card: shownCard(requireFound(card), removals), ...toBoard([board, boardMember]) }),
)

/** The card of `card_id` with its last claim, for a write to the card. */
export const cardAndClaim = target(
  (params, caller) => [...cardTarget.reads(params, caller), ...claimReads(idOf('card', params['card_id']))],
  cardTarget.from,
)

/** The same with its readiness, for an operation that may change whether it is ready. */
export const cardAndWork = target(
  (params, caller) => [...cardAndClaim.reads(params, caller), keys.readiness(idOf('card', params['card_id']))],
  cardTarget.from,
)

/** What a parameter names on a card. */
function onCard<Kind extends 'subtask' | 'comment', Value extends OnCard>(kind: Kind, keyOf: (id: string) => Key<Value>) {
  return target(
    (params, { userId }) => withCard(keyOf(idOf(kind, params[`${kind}_id`])), userId),
    ([record, card, ...board]) => ({ ...named(kind, record), card: requireFound(card), ...toBoard(board) }),
  )
}
/** The subtask of `subtask_id`. */
export const subtaskTarget = onCard('subtask', keys.subtask)
/** The comment of `comment_id`. */
export const commentTarget = onCard('comment', keys.comment)

/** The attachment of `attachment_id`, with its file. */
export const attachmentTarget = target(
  ({ attachment_id }, { userId }) => {
    const attachment = keys.attachment(idOf('attachment', attachment_id))
    return [...withCard(attachment, userId), ...fileReads(keys.file(memberOf(attachment, 'file_id')), userId)] as const
  },
  ([attachment, card, board, boardMember, ...file]) => ({
    attachment: requireFound(attachment),
    card: requireFound(card),
    ...toBoard([board, boardMember]),
    ...toFile(file),
  }),
)

/** What is read of the claim of a card. */
export function claimReads(cardId: string) {
  const claim = keys.claim(cardId)
  return [claim, keys.token(memberOf(claim, 'token_hash'))] as const
}

/** The file of `file_id`. */
export const fileTarget = target(
  ({ file_id }, { userId }) => fileReads(keys.file(idOf('file', file_id)), userId),
  (records) => toFile(records),
)

/** A file, and what decides who has access to it. */
export function fileReads(file: Key<FileRecord> | Reference<FileRecord>, userId: Text) {
  return [...withBoard(file, userId), keys.removals()] as const
}

/** What {@link fileReads} has read. */
export type FileRecords = readonly [FileRecord | undefined, BoardAccess | undefined, BoardMember | undefined, PendingRemovals | undefined]

/**
 * The part of a context that is about a file.
 * @param parameter see {@link notFound}
 * @throws {ApiError} `not_found`
 */
export function toFile([file, board, boardMember, removals]: FileRecords, parameter?: string): { file: FileRecord; home: HomeAccess } {
  return { file: shownFile(requireFound(file, parameter), removals), home: { board, boardMember } }
}

/**
 * The user of `user_id`, with their explicit membership of the target's board.
 * @throws {ApiError} `not_found`
 */
export async function relatedUser({ tx, params }: Pick<OperationRequest, 'tx' | 'params'>, { board }: { readonly board: BoardAccess }) {
  const userId = idOf('user', params['user_id'], 'user_id')
  const [membership, boardMember] = await tx.read([keys.membership(userId), keys.boardMember(board.id, userId)])
  // Board memberships of former members count for nothing, and are removed in batches.
  return { user: { membership: requireFound(membership, 'user_id'), boardMember: isActive(membership) ? boardMember : undefined } }
}

/**
 * Returns a text that has the shape of an id.
 * @param parameter see {@link notFound}
 * @throws {ApiError} `not_found`: a malformed id is answered like an absent one
 */
export function idOf(kind: IdKind, text: string | undefined, parameter?: string): string {
  if (text === undefined || !isId(kind, text)) throw notFound(parameter)
  return text
}

/**
 * Returns a record that must be there.
 * @param parameter see {@link notFound}
 * @throws {ApiError} `not_found`
 */
export function requireFound<T>(record: T | undefined, parameter?: string): T {
  if (record === undefined) throw notFound(parameter)
  return record
}

/** The member of a context that has what a parameter names. */
function named<Kind extends string, Value>(kind: Kind, record: Value | undefined) {
  return { [kind]: requireFound(record) } as Readonly<Record<Kind, Value>>
}

/** A record on a board, and what decides who has access to the board. */
export function withBoard<Record extends ReadOf<{ readonly board_id: string | null }>>(record: Record, userId: Text) {
  return [record, ...boardReads(memberOf(record, 'board_id'), userId)] as const
}

/** A record on a card, the card, and what decides who has access to its board. */
function withCard<Record extends ReadOf<OnCard>>(record: Record, userId: Text) {
  return [record, ...withBoard(identityOf(keys.card(memberOf(record, 'card_id'))), userId)] as const
}

/** What decides who has access to a board: its members for that, and the caller's membership of it. */
export function boardReads(boardId: Text, userId: Text) {
  return [accessTo(boardId), keys.boardMember(boardId, userId)] as const
}

/** The members of a board that decide about access to it. */
function accessTo(boardId: Text) {
  return partOf(keys.board(boardId), 'id', 'creator_id', 'visibility', 'created_at')
}

/** Something that stays on its board. */
export interface OnBoard {
  readonly id: string
  readonly board_id: string
}
interface OnCard {
  readonly card_id: string
}

/** The members of something on a board that never change: only its deletion conflicts. */
export function identityOf(key: Key<OnBoard> | Reference<OnBoard>) {
  return partOf(key, 'id', 'board_id')
}

function toBoard<Board, BoardMember>([board, boardMember]: readonly [board: Board | undefined, boardMember: BoardMember]) {
  return { board: requireFound(board), boardMember }
}

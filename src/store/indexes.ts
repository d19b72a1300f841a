import type { Card } from '../model/card.ts'
import type { ClaimRecord } from '../model/claim.ts'
import type { Comment } from '../model/comment.ts'
import type { FirstResponse } from '../model/idempotency.ts'
import type { Readiness } from '../model/readiness.ts'
import { keys, type Key } from './keys.ts'

/** The name of an index, with the type of the records that its entries refer to. */
export interface Index<T> {
  readonly name: string
  /** key prefix: this text and the last word of an entry form the key of the record */
  readonly fetch: Key<T>
}

/** Whether a card is active or archived. Each state has separate indexes. */
const cardStates = ['active', 'archived'] as const
export type CardState = (typeof cardStates)[number]

/** The times that cards are sorted by. */
export const timedSorts = ['due_at', 'updated_at', 'created_at', 'completed_at'] as const
export type TimedSort = (typeof timedSorts)[number]

function index<T>(name: string, fetch: Key<T>): Index<T> {
  return { name, fetch }
}

/** All indexes. An entry consists of words separated by spaces. The last word identifies the record. */
export const indexes = {
  /** all workspaces, by id (global) */
  workspaces: () => index('workspaces', keys.workspaceEntry('')),
  /** workspaces that have had webhooks, by id (global) */
  webhookWorkspaces: () => index('webhook_workspaces', keys.webhookWorkspace('')),
  /** all users, by creation time (global) */
  users: () => index('users', keys.user('')),

  /** a user's web sessions, by start time (global) */
  sessionsOf: (userId: string) => index(`sessions_of:${userId}`, keys.session('')),
  /** the identity of a user at the provider, if one is bound (global) */
  identitiesOf: (userId: string) => index(`identities_of:${userId}`, keys.identity('')),
  /** sign-up links that name an e-mail address, by its SHA-256 (global) */
  signUpsFor: (emailHash: string) => index(`sign_ups_for:${emailHash}`, keys.signUp('')),
  /** challenges, by their expiry (global) */
  challenges: () => index('challenges', keys.challenge('')),
  /** the workspaces that a user may be a member of (global) */
  workspacesOf: (userId: string) => index(`workspaces_of:${userId}`, keys.workspaceLink(userId, '')),

  /** active members, by the time they joined */
  members: () => index('members', keys.membership('')),
  /** a user's tokens, by issue time */
  tokensOf: (userId: string) => index(`tokens_of:${userId}`, keys.token('')),
  /** the tokens that were neither revoked nor replaced, by their expiry: as many as a person may have, however many have ended */
  activeTokensOf: (userId: string) => index(`active_tokens_of:${userId}`, keys.token('')),

  /** boards that are visible to every member, by creation time */
  workspaceBoards: () => index('workspace_boards', keys.board('')),
  /** boards that a user created or is an explicit member of, by creation time */
  boardsOf: (userId: string) => index(`boards_of:${userId}`, keys.board('')),
  /** explicit members of a board, by the time they were added */
  boardMembers: (boardId: string) => index(`board_members:${boardId}`, keys.boardMember(boardId, '')),
  /** columns of a board, including archived ones, by position */
  columns: (boardId: string) => index(`columns:${boardId}`, keys.column('')),
  /** active columns of a board, to count them */
  activeColumns: (boardId: string) => index(`active_columns:${boardId}`, keys.column('')),
  /** labels of a board, by creation time */
  labels: (boardId: string) => index(`labels:${boardId}`, keys.label('')),

  /** cards of a column, by position */
  cards: (state: CardState, columnId: string) => index(`${state}_cards:${columnId}`, keys.card('')),
  /** cards of a column that a user is assigned to, by position */
  cardsOf: (state: CardState, columnId: string, userId: string) => index(`${state}_cards_of:${columnId}:${userId}`, keys.card('')),
  /** cards of a column that have a label, by position */
  cardsWith: (state: CardState, columnId: string, labelId: string) => index(`${state}_cards_with:${columnId}:${labelId}`, keys.card('')),
  /** cards of a column that are completed or not completed, by position */
  cardsDone: (state: CardState, columnId: string, done: boolean) =>
    index(`${state}_cards_${done ? 'done' : 'open'}:${columnId}`, keys.card('')),
  /**
   * cards of a column that are active, not completed, have no blocker that is, and whose work does not wait, by position. Whether the
   * column is active is not known here, and what a claim would change is judged when they are read
   */
  readyCards: (columnId: string) => index(`ready_cards:${columnId}`, keys.card('')),
  /** cards of a board that would be ready if their work did not wait for a time, by that time: see {@link retryEntry} */
  retriedCards: (boardId: string) => index(`retried_cards:${boardId}`, keys.card('')),
  /** cards of a board that are active, not completed, and offered to nobody: why, and the card */
  heldCards: (boardId: string) => index(`held_cards:${boardId}`, keys.card('')),
  /** cards that have a card as a blocker */
  blockedCards: (blockerId: string) => index(`blocked_cards:${blockerId}`, keys.card('')),
  /**
   * cards of a board, or those that a user is assigned to in the workspace, by one of their times: see {@link sortedEntry}. By
   * `completed_at`, only those that are completed
   */
  sortedCards: (sort: TimedSort, listId: string) => index(`cards_by_${sort}:${listId}`, keys.card('')),
  /** cards of a board that a user has completed, by the time of that: see {@link sortedEntry} */
  cardsCompletedBy: (boardId: string, userId: string) => index(`cards_completed_by:${boardId}:${userId}`, keys.card('')),
  /** cards with a reference to another system, of all boards: board, card. In its name, the reference is base64url */
  cardsWithRef: (ref: string) => index(`cards_with_ref:${Buffer.from(ref).toString('base64url')}`, keys.card('')),
  /** all cards of a board */
  boardCards: (boardId: string) => index(`board_cards:${boardId}`, keys.card('')),
  /** cards of a board that are not archived, to count them, including cards of archived columns */
  boardActiveCards: (boardId: string) => index(`board_active_cards:${boardId}`, keys.card('')),
  /** assignments on a board: user, card */
  boardAssignments: (boardId: string) => index(`board_assignments:${boardId}`, keys.card('')),
  /** assignments of a user in the workspace: board, card */
  assignmentsOf: (userId: string) => index(`assignments_of:${userId}`, keys.card('')),
  /** cards that have a label */
  labelCards: (labelId: string) => index(`label_cards:${labelId}`, keys.card('')),

  /** claims of a board that have not been ended, by their expiry: see {@link claimEntry}. An entry refers to the token that holds it. */
  claims: (boardId: string) => index(`claims:${boardId}`, keys.token('')),
  /** cards of a board that a family of tokens has released, by the time when they are offered to it again: see {@link releaseEntry} */
  releasedCards: (boardId: string, family: string) => index(`released_cards:${boardId}:${family}`, keys.card('')),

  /** subtasks of a card, by position */
  subtasks: (cardId: string) => index(`subtasks:${cardId}`, keys.subtask('')),
  /** comments on a card, by creation time, with their authors */
  comments: (cardId: string) => index(`comments:${cardId}`, keys.comment('')),
  /** attachments of a card, by the time they were attached */
  attachments: (cardId: string) => index(`attachments:${cardId}`, keys.attachment('')),
  /** attachments of a file: card, attachment */
  fileAttachments: (fileId: string) => index(`file_attachments:${fileId}`, keys.attachment('')),

  /** webhooks of a board, by creation time */
  webhooks: (boardId: string) => index(`webhooks:${boardId}`, keys.webhook('')),
  /** webhooks that a user has created in the workspace, to count them */
  webhooksOf: (userId: string) => index(`webhooks_of:${userId}`, keys.webhook('')),
  /** webhooks of the workspace, to count them */
  workspaceWebhooks: () => index('workspace_webhooks', keys.webhook('')),
  /** webhooks whose deliveries go on, with how often they were enabled */
  followingWebhooks: () => index('following_webhooks', keys.webhook('')),
  /** webhooks that are disabled since they were restored */
  restoredWebhooks: () => index('restored_webhooks', keys.webhook('')),

  /** the private files of a user, by creation time */
  privateFilesOf: (userId: string) => index(`private_files_of:${userId}`, keys.file('')),

  /** changes of a board, in the order of their commits */
  changes: (boardId: string) => index(`changes:${boardId}`, keys.change(boardId, '')),

  /** notices of a user in the workspace, in the order of their commits */
  notices: (userId: string) => index(`notices:${userId}`, keys.notice(userId, '')),
  /** cards of the workspace that are active, not completed and due at some time, by that time */
  dueCards: () => index('due_cards', keys.card('')),
  /** tokens of the workspace that were neither revoked nor replaced, by their expiry */
  endingTokens: () => index('ending_tokens', keys.token('')),
  /** cards of the workspace that are stuck if their claim runs out, by its expiry */
  lastAttempts: () => index('last_attempts', keys.claim('')),
  /** those that the user has marked as read, to count the others */
  readNotices: (userId: string) => index(`read_notices:${userId}`, keys.notice(userId, '')),

  /** mails about notices that may be due, by the time */
  noticeMails: () => index('notice_mails', keys.noticeMail('')),

  /** the audit trail, by the times of its batches (in a workspace, and global) */
  audit: () => index('audit', keys.audit('')),
  /** the batches of the audit trail that concern a user */
  auditOf: (userId: string) => index(`audit_of:${userId}`, keys.audit('')),

  /** first responses to writes with an Idempotency-Key, by their hour */
  firstResponses: (hour: string) => index<FirstResponse>(`first_responses:${hour}`, 'first_response:'),

  /** the long texts of the first responses of an hour */
  responseTexts: (hour: string) => index(`response_texts:${hour}`, keys.responseText(hour, '')),

  /** tombstones, by the earliest time when garbage collection may process them */
  tombstones: () => index('tombstones', keys.tombstone('')),
}

/** The parameters that the first word of a name can depend on: the states and the times of cards, and whether they are done. */
const parameters = [...cardStates, ...timedSorts, '*'].flatMap((first) => [true, false].map((isDone) => [first, '*', isDone] as const))
/** One index of each kind, with "*" in place of the ids. */
const kinds = Object.values<(...parameters: never) => Index<unknown>>(indexes).flatMap((of) =>
  parameters.map((some) => of(...(some as never))),
)
const fetchByKind = new Map(kinds.map(({ name, fetch }) => [name.split(':')[0]!, fetch]))

/**
 * The keys of the records that can have an entry in an index.
 * @param name of the index
 * @returns undefined if there is no such index
 */
export function ownersOf(name: string, entry: string): readonly string[] | undefined {
  const [kind, id = ''] = name.split(':')
  const fetch = fetchByKind.get(kind!)?.replace('*', id)
  if (fetch === undefined) return undefined
  const last = lastWord(entry)
  if (kind === 'claims') return [`claim:${cardOfClaim(entry)}`]
  if (kind === 'released_cards') return [`claim:${last}`]
  // The boards of a user are those that they created, and those that they are an explicit member of.
  if (name === indexes.boardsOf(id).name) return [fetch + last, `board_member:${last}:${id}`]
  if (kind === 'following_webhooks' || kind === 'restored_webhooks') return [`webhook_progress:${last}`]
  if (kind === 'retried_cards' || kind === 'held_cards') return [`readiness:${last}`]
  // A card without blockers has its entry itself. Another card's entry belongs to its readiness.
  return name === indexes.readyCards(id).name ? [fetch + last, `readiness:${last}`] : [fetch + last]
}

/** The index entry of a record that has a position among its siblings. */
export function positionEntry({ position, id }: { readonly position: string; readonly id: string }): string {
  return `${position} ${id}`
}

/** The entry of a claim in {@link indexes.claims}. */
export function claimEntry({ expires_at, card_id, token_hash }: ClaimRecord): string {
  return `${expires_at} ${card_id} ${token_hash}`
}

/** The card of an entry of {@link indexes.claims}. */
export function cardOfClaim(entry: string): string {
  return entry.split(' ')[1] ?? ''
}

/** The entry of a comment in {@link indexes.comments}. */
export function commentEntry({ created_at, author_id, id }: Pick<Comment, 'created_at' | 'author_id' | 'id'>): string {
  return `${created_at} ${author_id} ${id}`
}

/** The author in an entry of {@link indexes.comments}. */
export function authorOfComment(entry: string): string {
  return entry.split(' ')[1] ?? ''
}

/** The entry of a card in {@link indexes.releasedCards}, with the revision that it had. */
export function releaseEntry(cardId: string, { until, revision }: { readonly until: string; readonly revision: string }): string {
  return `${until} ${revision} ${cardId}`
}

/** The revision in an entry of {@link indexes.releasedCards}. */
export function releasedRevision(entry: string): string {
  return entry.split(' ')[1] ?? ''
}

/** The entry of a card in {@link indexes.retriedCards}. */
export function retryEntry({ not_before, column_id, position, card_id }: Readiness): string {
  return `${not_before} ${column_id} ${position} ${card_id}`
}

/** The column of an entry of {@link indexes.retriedCards}, and the entry that the card would have in {@link indexes.readyCards}. */
export function retriedCard(entry: string): { readonly columnId: string; readonly readyEntry: string } {
  const column = entry.indexOf(' ') + 1
  const end = entry.indexOf(' ', column)
  return { columnId: entry.slice(column, end), readyEntry: entry.slice(end + 1) }
}

/** Follows every time. */
const NEVER = '~'

/** The cards of an index by a time that are in the same state: each group is sorted. */
export function sortedGroup(state: CardState, isCompleted: boolean): string {
  return `${state}_${isCompleted ? 'done' : 'open'}`
}

/** The place of a card in its group. A card without the time comes last. */
export function sortedPlace(sort: TimedSort, card: Card): string {
  return `${card[sort] ?? NEVER} ${card.id}`
}

/** The entry of a card in {@link indexes.sortedCards}: its group, and its place in that. */
export function sortedEntry(sort: TimedSort, card: Card): string {
  const group = sortedGroup(card.archived_at === null ? 'active' : 'archived', card.completed_at !== null)
  return `${group} ${sortedPlace(sort, card)}`
}

/** The last word of an index entry: it identifies the record (see {@link Index}). */
export function lastWord(entry: string): string {
  return entry.slice(entry.lastIndexOf(' ') + 1)
}

/** The bounds of the entries of an index that begin with a word. */
export function entriesOfWord(word: string): { readonly after: string; readonly before: string } {
  return { after: `${word} `, before: `${word}!` }
}

import type { WorkspaceLink, Session } from '../model/account.ts'
import type { AuditBatch } from '../model/audit.ts'
import type { Board, BoardMember } from '../model/board.ts'
import type { Card } from '../model/card.ts'
import type { ChangeRecord } from '../model/change.ts'
import type { ClaimRecord } from '../model/claim.ts'
import type { Column } from '../model/column.ts'
import type { Comment } from '../model/comment.ts'
import type { AttachmentRecord, FileRecord } from '../model/file.ts'
import type { FirstResponse, ResponseText } from '../model/idempotency.ts'
import type { Label } from '../model/label.ts'
import type { Challenge } from '../model/second-factor.ts'
import type { Subtask } from '../model/subtask.ts'
import type { TokenRecord } from '../model/token.ts'
import type { Tombstone } from '../model/tombstone.ts'
import type { Membership, User } from '../model/workspace.ts'

/** The name of an index, with the type of the records that its entries refer to. */
export interface Index<T> {
  readonly name: string
  /** key prefix: this text and the last word of an entry form the key of the record */
  readonly fetch: string & { readonly '~record'?: T }
}

/** Whether a card is active or archived. Each state has separate indexes. */
export type CardState = 'active' | 'archived'

/** The times by which cards are sorted. */
export const timedSorts = ['due_at', 'updated_at', 'created_at', 'completed_at'] as const
export type TimedSort = (typeof timedSorts)[number]

/** All indexes. An entry consists of words separated by spaces. The last word identifies the record. */
export const indexes = {
  /** all workspaces, by id (global) */
  workspaces: (): Index<{ id: string }> => ({ name: 'workspaces', fetch: 'workspace_entry:' }),
  /** all users, by creation time (global) */
  users: (): Index<User> => ({ name: 'users', fetch: 'user:' }),

  /** a user's web sessions, by start time (global) */
  sessionsOf: (userId: string): Index<Session> => ({ name: `sessions_of:${userId}`, fetch: 'session:' }),
  /** challenges, by the time at which they expire (global) */
  challenges: (): Index<Challenge> => ({ name: 'challenges', fetch: 'challenge:' }),
  /** the workspaces that a user may be a member of (global) */
  workspacesOf: (userId: string): Index<WorkspaceLink> => ({ name: `workspaces_of:${userId}`, fetch: `workspace_link:${userId}:` }),

  /** active members, by the time they joined */
  members: (): Index<Membership> => ({ name: 'members', fetch: 'membership:' }),
  /** a user's tokens, by issue time */
  tokensOf: (userId: string): Index<TokenRecord> => ({ name: `tokens_of:${userId}`, fetch: 'token:' }),

  /** boards that are visible to every member, by creation time */
  workspaceBoards: (): Index<Board> => ({ name: 'workspace_boards', fetch: 'board:' }),
  /** boards that a user created or is an explicit member of, by creation time */
  boardsOf: (userId: string): Index<Board> => ({ name: `boards_of:${userId}`, fetch: 'board:' }),
  /** explicit members of a board, by the time they were added */
  boardMembers: (boardId: string): Index<BoardMember> => ({ name: `board_members:${boardId}`, fetch: `board_member:${boardId}:` }),
  /** columns of a board, including archived ones, by position */
  columns: (boardId: string): Index<Column> => ({ name: `columns:${boardId}`, fetch: 'column:' }),
  /** active columns of a board, to count them */
  activeColumns: (boardId: string): Index<Column> => ({ name: `active_columns:${boardId}`, fetch: 'column:' }),
  /** labels of a board, by creation time */
  labels: (boardId: string): Index<Label> => ({ name: `labels:${boardId}`, fetch: 'label:' }),

  /** cards of a column, by position */
  cards: (state: CardState, columnId: string): Index<Card> => ({ name: `${state}_cards:${columnId}`, fetch: 'card:' }),
  /** cards of a column that a user is assigned to, by position */
  cardsOf: (state: CardState, columnId: string, userId: string): Index<Card> => ({
    name: `${state}_cards_of:${columnId}:${userId}`,
    fetch: 'card:',
  }),
  /** cards of a column that have a label, by position */
  cardsWith: (state: CardState, columnId: string, labelId: string): Index<Card> => ({
    name: `${state}_cards_with:${columnId}:${labelId}`,
    fetch: 'card:',
  }),
  /** cards of a column that are completed or not completed, by position */
  cardsDone: (state: CardState, columnId: string, done: boolean): Index<Card> => ({
    name: `${state}_cards_${done ? 'done' : 'open'}:${columnId}`,
    fetch: 'card:',
  }),
  /**
   * cards of a column that are active, not completed, and have no blocker that is, by position. Whether the column is active is not known
   * here, and what a claim would change is judged when they are read
   */
  readyCards: (columnId: string): Index<Card> => ({ name: `ready_cards:${columnId}`, fetch: 'card:' }),
  /** cards that have a card as a blocker */
  blockedCards: (blockerId: string): Index<Card> => ({ name: `blocked_cards:${blockerId}`, fetch: 'card:' }),
  /** cards of a board, or those that a user is assigned to in the workspace, by one of their times: see {@link sortedEntry}. By `completed_at`, only those that are completed */
  sortedCards: (sort: TimedSort, listId: string): Index<Card> => ({ name: `cards_by_${sort}:${listId}`, fetch: 'card:' }),
  /** cards of a board that a user has completed, by the time of that: see {@link sortedEntry} */
  cardsCompletedBy: (boardId: string, userId: string): Index<Card> => ({ name: `cards_completed_by:${boardId}:${userId}`, fetch: 'card:' }),
  /** all cards of a board */
  boardCards: (boardId: string): Index<Card> => ({ name: `board_cards:${boardId}`, fetch: 'card:' }),
  /** cards of a board that are not archived, to count them: those of archived columns are among them */
  boardActiveCards: (boardId: string): Index<Card> => ({ name: `board_active_cards:${boardId}`, fetch: 'card:' }),
  /** assignments on a board: user, card */
  boardAssignments: (boardId: string): Index<Card> => ({ name: `board_assignments:${boardId}`, fetch: 'card:' }),
  /** assignments of a user in the workspace: board, card */
  assignmentsOf: (userId: string): Index<Card> => ({ name: `assignments_of:${userId}`, fetch: 'card:' }),
  /** cards that have a label */
  labelCards: (labelId: string): Index<Card> => ({ name: `label_cards:${labelId}`, fetch: 'card:' }),

  /** claims of a board that have not been ended, by the time at which they run out: see {@link claimEntry}. An entry refers to the token that holds it. */
  claims: (boardId: string): Index<TokenRecord> => ({ name: `claims:${boardId}`, fetch: 'token:' }),

  /** subtasks of a card, by position */
  subtasks: (cardId: string): Index<Subtask> => ({ name: `subtasks:${cardId}`, fetch: 'subtask:' }),
  /** comments on a card, by creation time */
  comments: (cardId: string): Index<Comment> => ({ name: `comments:${cardId}`, fetch: 'comment:' }),
  /** attachments of a card, by the time they were attached */
  attachments: (cardId: string): Index<AttachmentRecord> => ({ name: `attachments:${cardId}`, fetch: 'attachment:' }),
  /** attachments of a file: card, attachment */
  fileAttachments: (fileId: string): Index<AttachmentRecord> => ({ name: `file_attachments:${fileId}`, fetch: 'attachment:' }),

  /** the private files of a user, by creation time */
  privateFilesOf: (userId: string): Index<FileRecord> => ({ name: `private_files_of:${userId}`, fetch: 'file:' }),

  /** changes of a board, in the order of their commits */
  changes: (boardId: string): Index<ChangeRecord> => ({ name: `changes:${boardId}`, fetch: `change:${boardId}:` }),

  /** the audit trail, by the times of its batches (in a workspace, and global) */
  audit: (): Index<AuditBatch> => ({ name: 'audit', fetch: 'audit:' }),
  /** the batches of the audit trail that concern a user */
  auditOf: (userId: string): Index<AuditBatch> => ({ name: `audit_of:${userId}`, fetch: 'audit:' }),

  /** first responses to writes with an Idempotency-Key, by their hour */
  firstResponses: (hour: string): Index<FirstResponse> => ({ name: `first_responses:${hour}`, fetch: 'first_response:' }),

  /** the long texts of the first responses of an hour */
  responseTexts: (hour: string): Index<ResponseText> => ({ name: `response_texts:${hour}`, fetch: `response_text:${hour}:` }),

  /** tombstones, by the earliest time at which garbage collection may process them */
  tombstones: (): Index<Tombstone> => ({ name: 'tombstones', fetch: 'tombstone:' }),
}

/** One index of each kind, with "*" in place of the ids. */
const kinds: readonly Index<unknown>[] = [
  indexes.workspaces(),
  indexes.users(),
  indexes.sessionsOf('*'),
  indexes.challenges(),
  indexes.workspacesOf('*'),
  indexes.members(),
  indexes.tokensOf('*'),
  indexes.workspaceBoards(),
  indexes.boardsOf('*'),
  indexes.boardMembers('*'),
  indexes.columns('*'),
  indexes.activeColumns('*'),
  indexes.labels('*'),
  ...(['active', 'archived'] as const).flatMap((state) => [
    indexes.cards(state, '*'),
    indexes.cardsOf(state, '*', '*'),
    indexes.cardsWith(state, '*', '*'),
    indexes.cardsDone(state, '*', true),
    indexes.cardsDone(state, '*', false),
  ]),
  indexes.readyCards('*'),
  indexes.blockedCards('*'),
  ...timedSorts.map((sort) => indexes.sortedCards(sort, '*')),
  indexes.cardsCompletedBy('*', '*'),
  indexes.boardCards('*'),
  indexes.boardActiveCards('*'),
  indexes.boardAssignments('*'),
  indexes.assignmentsOf('*'),
  indexes.labelCards('*'),
  indexes.claims('*'),
  indexes.subtasks('*'),
  indexes.comments('*'),
  indexes.attachments('*'),
  indexes.fileAttachments('*'),
  indexes.privateFilesOf('*'),
  indexes.changes('*'),
  indexes.audit(),
  indexes.auditOf('*'),
  indexes.firstResponses('*'),
  indexes.responseTexts('*'),
  indexes.tombstones(),
]
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
  // The boards of a user are those that they created, and those that they are an explicit member of.
  if (name === indexes.boardsOf(id).name) return [fetch + last, `board_member:${last}:${id}`]
  // A card without blockers has its entry itself. That of another one is its readiness's.
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

/** Follows every time. */
const NEVER = '~'

/** The cards of an index by a time that are in the same state: each group is sorted. */
export function sortedGroup(state: CardState, isCompleted: boolean): string {
  return `${state}_${isCompleted ? 'done' : 'open'}`
}

/** The place of a card among those of its group. A card without the time comes last. */
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

import type { WorkspaceLink, Session } from '../model/account.ts'
import type { Board, BoardMember } from '../model/board.ts'
import type { Card } from '../model/card.ts'
import type { Column } from '../model/column.ts'
import type { Comment } from '../model/comment.ts'
import type { Attachment } from '../model/file.ts'
import type { Label } from '../model/label.ts'
import type { Subtask } from '../model/subtask.ts'
import type { TokenRecord } from '../model/token.ts'
import type { Tombstone } from '../model/tombstone.ts'
import type { Membership, User } from '../model/workspace.ts'

/** The name of an index, and the type of the records that its entries lead to. */
export interface Index<T> {
  readonly name: string
  /** what the last word of an entry is put behind to make a key */
  readonly fetch: string & { readonly '~record'?: T }
}

/** Whether a card is at work or put away: each state has lists of its own. */
export type CardState = 'active' | 'archived'

/** All indexes. An entry is words with spaces between, the last of them the id of the record. */
export const indexes = {
  /** all workspaces, by id (global) */
  workspaces: (): Index<{ id: string }> => ({ name: 'workspaces', fetch: 'workspace_entry:' }),
  /** all people, by when they were added (global) */
  users: (): Index<User> => ({ name: 'users', fetch: 'user:' }),

  /** a person's sessions in the web app, by when they began (global) */
  sessionsOf: (userId: string): Index<Session> => ({ name: `sessions_of:${userId}`, fetch: 'session:' }),
  /** where a person may be a member (global) */
  workspacesOf: (userId: string): Index<WorkspaceLink> => ({ name: `workspaces_of:${userId}`, fetch: `workspace_link:${userId}:` }),

  /** active members, by when they came */
  members: (): Index<Membership> => ({ name: 'members', fetch: 'membership:' }),
  /** a person's tokens, by when they were issued */
  tokensOf: (userId: string): Index<TokenRecord> => ({ name: `tokens_of:${userId}`, fetch: 'token:' }),

  /** boards that every member can find, by when they were created */
  workspaceBoards: (): Index<Board> => ({ name: 'workspace_boards', fetch: 'board:' }),
  /** boards that a person created or is an explicit member of, by when they were created */
  boardsOf: (userId: string): Index<Board> => ({ name: `boards_of:${userId}`, fetch: 'board:' }),
  /** explicit members of a board, by when they were added */
  boardMembers: (boardId: string): Index<BoardMember> => ({ name: `board_members:${boardId}`, fetch: `board_member:${boardId}:` }),
  /** columns of a board, archived ones too, by position */
  columns: (boardId: string): Index<Column> => ({ name: `columns:${boardId}`, fetch: 'column:' }),
  /** labels of a board, by when they were created */
  labels: (boardId: string): Index<Label> => ({ name: `labels:${boardId}`, fetch: 'label:' }),

  /** cards of a column, by position */
  cards: (state: CardState, columnId: string): Index<Card> => ({ name: `${state}_cards:${columnId}`, fetch: 'card:' }),
  /** cards of a column that a person is assigned to, by position */
  cardsOf: (state: CardState, columnId: string, userId: string): Index<Card> => ({
    name: `${state}_cards_of:${columnId}:${userId}`,
    fetch: 'card:',
  }),
  /** cards of a column that bear a label, by position */
  cardsWith: (state: CardState, columnId: string, labelId: string): Index<Card> => ({
    name: `${state}_cards_with:${columnId}:${labelId}`,
    fetch: 'card:',
  }),
  /** cards of a column that are completed, or are not, by position */
  cardsDone: (state: CardState, columnId: string, done: boolean): Index<Card> => ({
    name: `${state}_cards_${done ? 'done' : 'open'}:${columnId}`,
    fetch: 'card:',
  }),
  /** all cards of a board, by when they were updated */
  boardCards: (boardId: string): Index<Card> => ({ name: `board_cards:${boardId}`, fetch: 'card:' }),
  /** who is assigned to what on a board: person, card */
  boardAssignments: (boardId: string): Index<Card> => ({ name: `board_assignments:${boardId}`, fetch: 'card:' }),
  /** what a person is assigned to anywhere: board, card */
  assignmentsOf: (userId: string): Index<Card> => ({ name: `assignments_of:${userId}`, fetch: 'card:' }),
  /** cards that bear a label */
  labelCards: (labelId: string): Index<Card> => ({ name: `label_cards:${labelId}`, fetch: 'card:' }),

  /** subtasks of a card, by position */
  subtasks: (cardId: string): Index<Subtask> => ({ name: `subtasks:${cardId}`, fetch: 'subtask:' }),
  /** comments on a card, by when they were made */
  comments: (cardId: string): Index<Comment> => ({ name: `comments:${cardId}`, fetch: 'comment:' }),
  /** attachments of a card, by when they were attached */
  attachments: (cardId: string): Index<Attachment> => ({ name: `attachments:${cardId}`, fetch: 'attachment:' }),
  /** where a file is attached: card, attachment */
  fileAttachments: (fileId: string): Index<Attachment> => ({ name: `file_attachments:${fileId}`, fetch: 'attachment:' }),

  /** what is to be reclaimed, by when that may be done */
  tombstones: (): Index<Tombstone> => ({ name: 'tombstones', fetch: 'tombstone:' }),
}

/** The entry of something that has a position among its like. */
export function positionEntry({ position, id }: { readonly position: string; readonly id: string }): string {
  return `${position} ${id}`
}

/** The id at the end of an index entry. */
export function lastWord(entry: string): string {
  return entry.slice(entry.lastIndexOf(' ') + 1)
}

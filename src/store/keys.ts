import type { Board, BoardMember } from '../model/board.ts'
import type { Membership, User, Workspace } from '../model/workspace.ts'
import type { TokenRecord, TokenUse } from '../model/token.ts'

/** The key of a record, or a template of one, and the type of the record. */
export type Key<T> = string & { readonly '~record'?: T }
/** The name of an index, and the type of the records that its entries lead to. */
export interface Index<T> {
  readonly name: string
  /** what the last word of an entry is put behind to make a key */
  readonly fetch: string & { readonly '~record'?: T }
}

/** The partition of what belongs to no workspace. A workspace's own partition is named by its id. */
export const GLOBAL = 'global'

/**
 * All keys. A part is an id, a hash or a template (`{0.board_id}`): letters, digits and "_" alone, so that
 * ":" separates without doubt on every driver, and no key is another's folder.
 */
export const keys = {
  user: (userId: string): Key<User> => `user:${userId}`,
  workspaceEntry: (workspaceId: string): Key<{ id: string }> => `workspace_entry:${workspaceId}`,
  workspace: (): Key<Workspace> => 'workspace:self',
  membership: (userId: string): Key<Membership> => `membership:${userId}`,
  token: (hash: string): Key<TokenRecord> => `token:${hash}`,
  tokenHash: (tokenId: string): Key<{ hash: string }> => `token_hash:${tokenId}`,
  tokenUse: (hash: string): Key<TokenUse> => `token_use:${hash}`,
  board: (boardId: string): Key<Board> => `board:${boardId}`,
  boardMember: (boardId: string, userId: string): Key<BoardMember> => `board_member:${boardId}:${userId}`,
}

/** All indexes. An entry is words with spaces between; the last one is the id of the record. */
export const indexes = {
  /** all workspaces, by id (global) */
  workspaces: (): Index<{ id: string }> => ({ name: 'workspaces', fetch: 'workspace_entry:' }),
  /** all people, by when they were added (global) */
  users: (): Index<User> => ({ name: 'users', fetch: 'user:' }),
  /** active members, by when they came */
  members: (): Index<Membership> => ({ name: 'members', fetch: 'membership:' }),
  /** a person's tokens, by when they were issued */
  tokensOf: (userId: string): Index<TokenRecord> => ({ name: `tokens_of:${userId}`, fetch: 'token:' }),
  /** boards that every member can find, by when they were created */
  workspaceBoards: (): Index<Board> => ({ name: 'workspace_boards', fetch: 'board:' }),
  /** boards that a person created or is an explicit member of, by when they were created */
  boardsOf: (userId: string): Index<Board> => ({ name: `boards_of:${userId}`, fetch: 'board:' }),
  /** explicit members, by when they were added */
  boardMembers: (boardId: string): Index<BoardMember> => ({ name: `board_members:${boardId}`, fetch: `board_member:${boardId}:` }),
}

type Entry = readonly [index: string, entry: string]
type Indexing = { readonly [kind: string]: ((value: never) => readonly Entry[]) | undefined }

// Which entries a record has, from the record alone: so no writer can forget one.
const indexing: Indexing = {
  user: (value: User) => [[indexes.users().name, `${value.created_at} ${value.id}`]],
  workspace_entry: ({ id }: { id: string }) => [[indexes.workspaces().name, id]],
  membership: (value: Membership) => (value.ended_at === null ? [[indexes.members().name, `${value.joined_at} ${value.user_id}`]] : []),
  token: (value: TokenRecord) => [[indexes.tokensOf(value.user_id).name, `${value.issued_at} ${value.hash}`]],
  board: (value: Board) => {
    const entry = `${value.created_at} ${value.id}`
    const own: Entry = [indexes.boardsOf(value.creator_id).name, entry]
    return value.visibility === 'workspace' ? [own, [indexes.workspaceBoards().name, entry]] : [own]
  },
  board_member: (value: BoardMember) => [
    [indexes.boardMembers(value.board_id).name, `${value.added_at} ${value.user_id}`],
    [indexes.boardsOf(value.user_id).name, `${value.board_created_at} ${value.board_id}`],
  ],
}

/** The index entries that belong to a record. */
export function entriesOf(key: string, value: unknown): readonly Entry[] {
  const kind = key.slice(0, key.indexOf(':'))
  return indexing[kind]?.(value as never) ?? []
}

/** The id at the end of an index entry. */
export function lastWord(entry: string): string {
  return entry.slice(entry.lastIndexOf(' ') + 1)
}

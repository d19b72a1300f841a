import type { Board, BoardMember } from '../model/board.ts'
import type { Comment } from '../model/comment.ts'
import type { FileRecord } from '../model/file.ts'
import type { TokenRecord } from '../model/token.ts'
import type { Membership } from '../model/workspace.ts'

interface Person {
  readonly userId: string
  readonly workspaceId: string
  readonly membership: Membership
}

/** The user, workspace and token that a request is made with (spec §1). */
export interface TokenCaller extends Person {
  readonly token: TokenRecord
}

/** A person who is signed in to the web app. They have no token, so there is nothing that the scope table could decide about. */
export interface SessionCaller extends Person {
  readonly isSession: true
  readonly token?: undefined
}

export type Caller = TokenCaller | SessionCaller

/**
 * The token of a caller.
 * @throws {TypeError} for a person without one: no operation of the web app asks for it
 */
export function tokenOf({ token }: Caller): TokenRecord {
  if (token === undefined) throw new TypeError('a person in the web app has no token')
  return token
}

/** Who writes a comment, as its record keeps it. A person in the web app has no token: null. */
export function authorOf({ userId, token }: Caller): Pick<Comment, 'author_id' | 'token_id' | 'token_name'> {
  return { author_id: userId, token_id: token?.id ?? null, token_name: token?.name ?? null }
}

/** The records that the facts of a request are read from. */
export interface AuthorizationContext {
  readonly board?: BoardAccess
  /** the caller's explicit membership of the board */
  readonly boardMember?: BoardMember | undefined
  /** the user that the request names, and their explicit membership of the board */
  readonly user?: { readonly membership: Membership; readonly boardMember: BoardMember | undefined }
  /** the member that a request of the web app is about */
  readonly member?: Pick<Membership, 'role'>
  /** the role that such a request gives */
  readonly given?: Pick<Membership, 'role'>
  /** the card that the request names, or that the named resource belongs to */
  readonly card?: { readonly id: string }
  /** who holds that card; null: nobody, or it is a new one. Only if the policy depends on it */
  readonly claim?: { readonly token_id: string } | null
  /** who held it last; null: nobody ever did. Only if the policy depends on it */
  readonly lastClaim?: { readonly holder_id: string } | null
  readonly comment?: { readonly author_id: string }
  /** the question on the card that waits for an answer; null: no question waits */
  readonly question?: { readonly author_id: string } | null
  readonly label?: { readonly board_id: string }
  readonly webhook?: { readonly creator_id: string }
  readonly file?: FileAccess
  /** the home board of that file, and the caller's explicit membership of it */
  readonly home?: HomeAccess
  /** the card's cover, or null if it has none; then `file` and `home` belong to the cover. Only for operations that depend on it */
  readonly cover?: object | null
}

/** The members of a board that decide who has access to it, and those that never change. */
export type BoardAccess = Pick<Board, 'id' | 'creator_id' | 'visibility' | 'created_at'>

/** The members of a file that, with its home board, decide who has access to it. */
export type FileAccess = Pick<FileRecord, 'owner_id' | 'visibility'>

/** The board that a file was uploaded to. */
export interface HomeAccess {
  /** undefined: it was deleted */
  readonly board: BoardAccess | undefined
  readonly boardMember: BoardMember | undefined
}

import type { Board, BoardMember } from '../model/board.ts'
import type { TokenRecord } from '../model/token.ts'
import type { Membership } from '../model/workspace.ts'

/** On whose behalf a request is made: a person in a workspace, with a token (spec §1). */
export interface Caller {
  readonly userId: string
  readonly workspaceId: string
  readonly membership: Membership
  readonly token: TokenRecord
}

/** What a request is about: the records that its facts are read from. */
export interface AuthorizationContext {
  readonly board?: Board
  /** the caller's own entry among the board's explicit members */
  readonly boardMember?: BoardMember | undefined
  /** the person whom the request names, and his entry among the board's explicit members */
  readonly user?: { readonly membership: Membership; readonly boardMember: BoardMember | undefined }
  readonly comment?: { readonly author_id: string }
  readonly label?: { readonly board_id: string }
  readonly file?: FileAccess
  /** of the operations that ask for it: the file of the card's cover, or null where none is set */
  readonly cover?: FileAccess | null
}

/** What decides who may use a file. */
export interface FileAccess {
  readonly owner_id: string
  readonly visibility: 'workspace' | 'private'
}

import type { Board, BoardMember } from '../model/board.ts'
import type { Membership } from '../model/workspace.ts'
import type { Engine } from '../policy/engine.ts'
import type { Notifying } from '../store/derivation.ts'
import { Decisions } from './decisions.ts'

/** Decides who may get notices of a workspace: those who may read the cards of the board, as the permission table says of each of them. */
export class Readers implements Notifying {
  readonly #engine: Engine
  readonly #workspaceId: string
  byTime: readonly object[] = []
  /** the notices that were caused */
  notices = 0

  constructor(engine: Engine, workspaceId: string) {
    this.#engine = engine
    this.#workspaceId = workspaceId
  }

  mayRead(board: Board | undefined, membership: Membership, boardMember: BoardMember | undefined): boolean {
    const person = { userId: membership.user_id, workspaceId: this.#workspaceId, membership, isSession: true } as const
    const decisions = Decisions.of(this.#engine)
    const decision =
      board === undefined ? decisions.decide('read Notice', person, {}) : decisions.decide('read Card', person, { board, boardMember })
    return decision.outcome === 'allowed'
  }
}

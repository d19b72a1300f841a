import type { Card } from '../../model/card.ts'
import type { WorkState } from '../../model/work.ts'
import { indexes, lastWord } from '../../store/indexes.ts'
import { firstPage } from '../../store/reads.ts'
import { currentClaims, readClaimedCards } from '../claims/present.ts'
import { readWaitingCards, waitingCards, type WaitingCards } from '../claims/waiting.ts'
import type { OperationRequest } from '../operation.ts'

const ENTRIES = { entriesOnly: true } as const

type Reading = Pick<OperationRequest, 'tx' | 'clock'>

/**
 * The states of the work on the cards of a board, from its indexes: no record of a claim is read. A transaction that reads further is
 * consistent with the indexes of ready cards. What waits for a person or a time, and what is claimed, is as it was when it was read.
 */
export class WorkStates {
  readonly #tx: OperationRequest['tx']
  /** the cards that are claimed */
  readonly claimed: Pick<ReadonlySet<string>, 'has'>
  readonly #waiting: WaitingCards
  /** by the names of their indexes */
  readonly #byColumn = new Map<string, ReadonlySet<string>>()

  private constructor(tx: OperationRequest['tx'], claimed: WorkStates['claimed'], waiting: WaitingCards) {
    this.#tx = tx
    this.claimed = claimed
    this.#waiting = waiting
  }

  static async of(request: Reading, boardId: string): Promise<WorkStates> {
    const { tx, clock } = request
    const [claims, waiting] = [currentClaims(boardId, clock), waitingCards(boardId, clock)]
    await tx.prefetch({ ranges: [claims, ...waiting] })
    const { cards } = await readClaimedCards(request, claims)
    return new WorkStates(tx, cards, await readWaitingCards(request, waiting))
  }

  /** Whether cards are ready that no index of ready cards has. */
  get hasDueCards(): boolean {
    return this.#waiting.due.size > 0
  }

  /** Reads columns. */
  async load(columnIds: readonly string[]): Promise<void> {
    const missing = [...new Set(columnIds)].map(indexes.readyCards).filter(({ name }) => !this.#byColumn.has(name))
    if (missing.length === 0) return
    // All at once, so that no further access is needed for those that fit.
    await this.#tx.prefetch({ ranges: missing.map((index) => firstPage(index, ENTRIES)) })
    for (const index of missing) {
      const { entries } = await this.#tx.all(index, ENTRIES)
      this.#byColumn.set(index.name, new Set(entries.map(lastWord)))
    }
  }

  /** The state of the work on a card whose column was loaded. */
  of({ id, column_id, completed_at, archived_at }: Card): WorkState {
    if (completed_at !== null) return 'done'
    if (archived_at !== null) return 'archived'
    if (this.claimed.has(id)) return 'claimed'
    const { due, held: kept, retried } = this.#waiting
    const held = kept.get(id)
    if (held !== undefined) return held
    if (due.has(id) || this.#byColumn.get(indexes.readyCards(column_id).name)!.has(id)) return 'ready'
    return retried.has(id) ? 'retrying' : 'blocked'
  }
}

/** The part of a filter that the state of the work decides. */
export interface WorkFilter {
  /** only cards that are ready, or only the others */
  readonly ready?: boolean | undefined
  /** only cards whose work has one of these states */
  readonly work_state?: ReadonlySet<WorkState> | undefined
}

/** Whether a filter depends on the state of the work. */
export function asksForWork({ ready, work_state }: WorkFilter): boolean {
  return ready !== undefined || work_state !== undefined
}

/** Whether a card in an active column has the state that a filter asks for. */
export function hasWantedState({ ready, work_state }: WorkFilter, state: WorkState): boolean {
  return (ready === undefined || (state === 'ready') === ready) && work_state?.has(state) !== false
}

/** A filter of the cards of a board, with the states of their work if it asks for them. */
export async function withStates<Filter extends WorkFilter>(
  request: Reading,
  boardId: string,
  filter: Filter,
): Promise<Filter & { readonly states?: WorkStates }> {
  return asksForWork(filter) ? { ...filter, states: await WorkStates.of(request, boardId) } : filter
}

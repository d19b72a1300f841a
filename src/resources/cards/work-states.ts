import type { Card } from '../../model/card.ts'
import type { WorkState } from '../../model/work.ts'
import { indexes, lastWord } from '../../store/indexes.ts'
import { firstPage } from '../../store/reads.ts'
import { currentClaims, readClaimedCards } from '../claims/present.ts'
import { dueCards, readDueCards, readHeldCards, readRetriedCards } from '../claims/waiting.ts'
import type { OperationRequest } from '../operation.ts'
import type { CardFilter } from './filter.ts'

const ENTRIES = { entriesOnly: true } as const

type Reading = Pick<OperationRequest, 'tx' | 'clock'>

/**
 * The states of the work on the cards of a board, from its indexes: no record of a claim is read. A transaction that reads further is consistent
 * with the indexes of ready cards. What waits for a person or a time, and what is claimed, is as it was when it was read.
 */
export class WorkStates {
  readonly #tx: OperationRequest['tx']
  /** the cards that are claimed */
  readonly claimed: ReadonlySet<string>
  /** the cards that are ready again, and that no index of ready cards has */
  readonly due: ReadonlySet<string>
  readonly #held: ReadonlyMap<string, 'waiting' | 'stuck'>
  readonly #retried: ReadonlySet<string>
  /** by the names of their indexes */
  readonly #byColumn = new Map<string, ReadonlySet<string>>()

  private constructor(
    tx: OperationRequest['tx'],
    claimed: ReadonlySet<string>,
    due: ReadonlySet<string>,
    held: ReadonlyMap<string, 'waiting' | 'stuck'>,
    retried: ReadonlySet<string>,
  ) {
    this.#tx = tx
    this.claimed = claimed
    this.due = due
    this.#held = held
    this.#retried = retried
  }

  static async of(request: Reading, boardId: string): Promise<WorkStates> {
    const { cardIds: claimed } = await readClaimedCards(request, currentClaims(boardId, request.clock))
    const { cardIds: due } = await readDueCards(request, dueCards(boardId, request.clock))
    return new WorkStates(request.tx, claimed, due, await readHeldCards(request, boardId), await readRetriedCards(request, boardId))
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
    const held = this.#held.get(id)
    if (held !== undefined) return held
    if (this.due.has(id) || this.#byColumn.get(indexes.readyCards(column_id).name)!.has(id)) return 'ready'
    return this.#retried.has(id) ? 'retrying' : 'blocked'
  }
}

/** The part of a filter that the state of the work decides. */
export type WorkFilter = Pick<CardFilter, 'ready' | 'work_state'>

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

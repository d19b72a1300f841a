import { indexes, lastWord } from '../../store/indexes.ts'
import type { Card } from '../../model/card.ts'
import { firstPage } from '../../store/reads.ts'
import type { Transaction } from '../../store/transaction.ts'

const NONE: ReadonlySet<string> = new Set()
const ENTRIES = { entriesOnly: true } as const

/** Which cards of some active columns are ready and not claimed: read from the indexes of ready cards, whole columns at once and without their records. */
export class ReadyCards {
  readonly #tx: Transaction
  readonly #claimed: ReadonlySet<string>
  /** by the names of their indexes */
  readonly #byColumn = new Map<string, ReadonlySet<string>>()

  /** @param claimed the cards that are claimed */
  constructor(tx: Transaction, claimed: ReadonlySet<string> = NONE) {
    this.#tx = tx
    this.#claimed = claimed
  }

  /** Reads columns. A transaction that reads further is consistent with them. */
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

  /** Whether a card is ready. Its column must be active, and have been loaded. */
  has({ id, column_id }: Card): boolean {
    return !this.#claimed.has(id) && this.#byColumn.get(indexes.readyCards(column_id).name)!.has(id)
  }
}

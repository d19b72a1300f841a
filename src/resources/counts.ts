import { z } from 'zod'
import type { Board } from '../model/board.ts'
import type { Card } from '../model/card.ts'
import { indexes, type Index } from '../store/indexes.ts'
import type { Transaction } from '../store/transaction.ts'
import type { OperationResult } from './operation.ts'

/**
 * How much hangs on something, on request (`?include=counts`). It is no part of the resource: it changes
 * without it, so an answer that has it has no ETag.
 */

type Counted = Readonly<Record<string, Index<unknown>>>

const numbers = (...names: string[]) => ({
  counts: z.strictObject(Object.fromEntries(names.map((name) => [name, z.number().int()]))).optional(),
})

export const cardCounts = {
  shape: numbers('subtasks', 'comments', 'attachments'),
  of: ({ id }: Card): Counted => ({ subtasks: indexes.subtasks(id), comments: indexes.comments(id), attachments: indexes.attachments(id) }),
}

export const boardCounts = {
  shape: numbers('columns', 'cards', 'labels'),
  of: ({ id }: Board): Counted => ({ columns: indexes.columns(id), cards: indexes.boardCards(id), labels: indexes.labels(id) }),
}

export const withCounts = {
  query: { include: z.literal('counts', { error: 'must be counts' }).optional() },

  /** Answers with a thing, and with its counts where they were asked for. */
  async answer(
    tx: Transaction,
    { include }: { include?: 'counts' | undefined },
    thing: object,
    counted: Counted,
  ): Promise<OperationResult> {
    if (include === undefined) return { data: thing }
    const [counts] = await countAll(tx, [counted])
    return { data: { ...thing, counts }, entity: null }
  },
}

/** Counts for several things, in one snapshot. */
export async function countAll(tx: Transaction, things: readonly Counted[]): Promise<Record<string, number>[]> {
  const names = things.map((counted) => Object.keys(counted))
  const numbersFound = await tx.counts(things.flatMap((counted) => Object.values(counted)))
  return names.map((own) => Object.fromEntries(own.map((name) => [name, numbersFound.shift()!])))
}

import { keys } from '../store/keys.ts'
import type { Page } from '../store/reading.ts'
import type { Transaction } from '../store/transaction.ts'
import { ApiError } from '../model/errors.ts'
import { positionEntry } from '../store/indexes.ts'
import { entryNow, type OrderedList, type Positioned } from './ranks.ts'
import { listAnswer, type ListPage, type PageQuery } from './pages.ts'

/**
 * Reads one page of a list that has places. The cursor says where the last item was, and in which generation
 * of the list, so that it leads to the same place after a rebalancing.
 * @param shown which of the things are wanted
 */
export async function orderedPage<T extends Positioned>(
  tx: Transaction,
  name: string,
  list: OrderedList<T>,
  { limit, cursor }: PageQuery,
  shown: (thing: T) => boolean = () => true,
): Promise<ListPage<T>> {
  const [index] = list.indexes
  const [generation, from] = cursor === undefined ? [undefined, undefined] : readPosition(cursor)
  const first = await tx.load({ records: [keys.order(list.id)], ranges: [{ index: index!, options: { after: from, limit: limit + 1 } }] })
  const [order] = first.records
  let page = first.ranges[0] as Page<T>
  if (generation !== undefined && generation !== (order?.generation ?? 0)) {
    page = await tx.range(index!, { after: entryNow(order, generation, from!) ?? refuse(), limit: limit + 1 })
  }
  const items: T[] = []
  for (;;) {
    for (const value of page.values) if (value !== undefined && shown(value)) items.push(value)
    if (items.length > limit || page.entries.length <= limit) break
    page = await tx.range(index!, { after: page.entries.at(-1), limit: limit + 1 })
  }
  const shownItems = items.slice(0, limit)
  const last = shownItems.at(-1)
  return listAnswer(name, shownItems, last && `${order?.generation ?? 0} ${positionEntry(last)}`, items.length > limit)
}

function readPosition(cursor: string): [generation: number, entry: string] {
  const space = cursor.indexOf(' ')
  return [Number(cursor.slice(0, space)), cursor.slice(space + 1)]
}

function refuse(): never {
  throw staleCursor()
}

/** The list was rebalanced too often since to tell where the cursor was. */
export function staleCursor(): ApiError {
  const message = 'is too old: begin again without it'
  return new ApiError('validation_failed', {
    message: `The request does not fit what this operation takes: "cursor" ${message}.`,
    members: { issues: [{ in: 'query', path: 'cursor', message }] },
  })
}

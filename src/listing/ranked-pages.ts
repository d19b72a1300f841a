import { ApiError } from '../model/errors.ts'
import { positionEntry } from '../store/indexes.ts'
import { keys } from '../store/keys.ts'
import type { IndexPage } from '../store/reads.ts'
import type { Transaction } from '../store/transaction.ts'
import { cutPage, toPage, type ListPage, type PageQuery } from './pages.ts'
import { currentEntry, type Ranked, type RankedList } from './ranks.ts'

/**
 * Reads one page of a ranked list. The cursor holds the position of the last item and the generation of the list, so
 * that it continues at the same place after a rebalancing.
 * @param matches which items belong to the page; default: all
 */
export async function rankedPage<T extends Ranked>(
  tx: Transaction,
  name: string,
  list: RankedList<T>,
  { limit, cursor }: PageQuery,
  matches: (item: T) => boolean = () => true,
): Promise<ListPage<T>> {
  const [index] = list.indexes
  const from = cursor === undefined ? undefined : readPosition(cursor)
  const first = await tx.load({
    records: [keys.order(list.id)],
    ranges: [{ index: index!, options: { after: from?.entry, limit: limit + 1 } }],
  })
  const [order] = first.records
  const generation = order?.generation ?? 0
  let page = first.ranges[0] as IndexPage<T>
  if (from !== undefined && from.generation !== generation) {
    const after = currentEntry(order, from.generation, from.entry)
    if (after === undefined) throw staleCursor()
    page = await tx.range(index!, { after, limit: limit + 1 })
  }
  const items: T[] = []
  for (;;) {
    for (const value of page.values) if (value !== undefined && matches(value)) items.push(value)
    if (items.length > limit || page.entries.length <= limit) break
    page = await tx.range(index!, { after: page.entries.at(-1), limit: limit + 1 })
  }
  const { page: data, more } = cutPage(items, limit)
  const last = data.at(-1)
  return toPage(name, data, last && `${generation} ${positionEntry(last)}`, more)
}

function readPosition(cursor: string): { readonly generation: number; readonly entry: string } {
  const space = cursor.indexOf(' ')
  return { generation: Number(cursor.slice(0, space)), entry: cursor.slice(space + 1) }
}

/** The cursor is older than the rebalancings that are remembered, so its place is not known. */
export function staleCursor(): ApiError {
  const message = 'is too old: start again without it'
  return new ApiError('validation_failed', {
    message: `The request does not match what this operation accepts: "cursor" ${message}.`,
    members: { issues: [{ in: 'query', path: 'cursor', message }] },
  })
}

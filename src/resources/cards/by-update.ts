import { setImmediate } from 'node:timers/promises'
import type { Card } from '../../model/card.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { isVoid, matcher, type CardFilter, type CardPage } from './filter.ts'
import { allColumns } from './by-place.ts'
import type { PageQuery } from '../../listing/pages.ts'

const STEP = 100

/** Cards in the order in which they were updated last: what a program that keeps a copy asks for. */
export async function cardsByUpdate(tx: Transaction, boardId: string, filter: CardFilter, { limit, cursor }: PageQuery): Promise<CardPage> {
  const cards: Card[] = []
  const away = new Set((await allColumns(tx, boardId)).filter(({ archived_at }) => archived_at !== null).map(({ id }) => id))
  const matches = matcher(filter)
  const wanted = (card: Card) => (card.archived_at !== null || away.has(card.column_id)) === filter.archived && matches(card)
  // The later of both: a cursor may be of a list that began earlier.
  const [, since] = [cursor ?? '', filter.updated_since!].toSorted()
  let after: string | undefined = since
  while (!isVoid(filter)) {
    const { entries, values } = await tx.range(indexes.boardCards(boardId), { after, limit: STEP, weak: 'records' })
    for (const card of values) if (card !== undefined && wanted(card)) cards.push(card)
    if (cards.length > limit || entries.length < STEP) break
    after = entries.at(-1)
    await setImmediate()
  }
  const page = cards.slice(0, limit)
  await tx.confirm(page.map(({ id }) => keys.card(id)))
  const last = page.at(-1)
  return { cards: page, position: last && `${last.updated_at} ${last.id}`, more: cards.length > limit }
}

import { setImmediate } from 'node:timers/promises'
import { cutPage, type PageQuery } from '../../listing/pages.ts'
import { staleCursor } from '../../listing/ranked-pages.ts'
import { currentEntry } from '../../listing/ranks.ts'
import type { Card } from '../../model/card.ts'
import type { Column } from '../../model/column.ts'
import { isId } from '../../model/ids.ts'
import type { OrderRecord } from '../../model/order.ts'
import { indexes, positionEntry, type CardState, type Index } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { firstPage, type Transaction } from '../../store/transaction.ts'
import type { CountedIndexes } from '../counts.ts'

/** The filters of a list of cards. All that are given must match. */
export interface CardFilter {
  readonly column_id?: string | undefined
  readonly assignee_id?: string | undefined
  readonly label_id?: string | undefined
  readonly completed?: boolean | undefined
  /** only cards that are archived, by themselves or with their column; otherwise only active ones */
  readonly archived: boolean
  /** searched in title and description, without regard to case */
  readonly q?: string | undefined
  readonly updated_since?: string | undefined
}

/** Cards in the order of their list. */
export interface CardPage {
  readonly cards: readonly Card[]
  /** the position of the last card */
  readonly position: string | undefined
  /** whether cards follow it */
  readonly more: boolean
}

/** The number of columns, and of cards of each, that are read at once if no index matches the filter exactly. */
const COLUMNS_AT_ONCE = 8
const CARDS_AT_ONCE = 50
/** The number of cards that are read at once in the order of their updates. */
const UPDATES_AT_ONCE = 100

/** The indexes behind `?include=counts`. */
export function cardCountIndexes({ id }: Card): CountedIndexes {
  return { subtasks: indexes.subtasks(id), comments: indexes.comments(id), attachments: indexes.attachments(id) }
}

/** Lists cards column by column, in their order within each. */
export async function cardsByPosition(
  tx: Transaction,
  boardId: string,
  filter: CardFilter,
  { limit, cursor }: PageQuery,
): Promise<CardPage> {
  const at = cursor === undefined ? undefined : readPosition(cursor)
  const orders = [keys.order(boardId), ...(at === undefined ? [] : [keys.order(at.columnId)])]
  await tx.prefetch({ records: orders, ranges: [firstPage(indexes.columns(boardId))] })
  const [columnOrder, cardOrder] = await tx.read(orders)
  const columns = await columnsOf(tx, boardId)
  // A forged cursor must not tell whether a column of another board exists.
  if (at !== undefined && !columns.some(({ id }) => id === at.columnId)) throw staleCursor()
  const start = at && findStart(at, columnOrder, cardOrder)
  const segments = isEmpty(filter) ? [] : remaining(segmentsOf(columns, filter), start)
  const scan = new CardScan(tx, filter, start, limit)
  for (let i = 0; i < segments.length && !scan.full; i += COLUMNS_AT_ONCE) await scan.read(segments.slice(i, i + COLUMNS_AT_ONCE))
  const { page, more } = cutPage(scan.found, limit, ({ card }) => card)
  if (!scan.exact) await tx.confirm(page.map(({ card }) => keys.card(card.id)))
  const last = page.at(-1)
  const position = last && writePosition(columnOrder, await tx.get(keys.order(last.segment.column.id)), last)
  return { cards: page.map(({ card }) => card), position, more }
}

/** Lists cards in the order of their last update. */
export async function cardsByUpdate(tx: Transaction, boardId: string, filter: CardFilter, { limit, cursor }: PageQuery): Promise<CardPage> {
  const cards: Card[] = []
  const columns = await columnsOf(tx, boardId)
  const archivedColumns = new Set(columns.filter(({ archived_at }) => archived_at !== null).map(({ id }) => id))
  const matches = matcher(filter)
  const wanted = (card: Card) => (card.archived_at !== null || archivedColumns.has(card.column_id)) === filter.archived && matches(card)
  // The cursor may come from a list that started earlier, so the later of both counts.
  const [, since] = [cursor ?? '', filter.updated_since!].toSorted()
  let after: string | undefined = since
  while (!isEmpty(filter)) {
    const { entries, values } = await tx.range(indexes.boardCards(boardId), { after, limit: UPDATES_AT_ONCE, weak: 'records' })
    for (const card of values) if (card !== undefined && wanted(card)) cards.push(card)
    if (cards.length > limit || entries.length < UPDATES_AT_ONCE) break
    after = entries.at(-1)
    await setImmediate()
  }
  const { page, more } = cutPage(cards, limit)
  await tx.confirm(page.map(({ id }) => keys.card(id)))
  const last = page.at(-1)
  return { cards: page, position: last && `${last.updated_at} ${last.id}`, more }
}

async function columnsOf(tx: Transaction, boardId: string): Promise<Column[]> {
  return (await tx.all(indexes.columns(boardId))).values.filter((column) => column !== undefined)
}

/** Whether a filter holds a malformed id. The list is then empty, as it is for an id of another board. */
function isEmpty({ column_id, assignee_id, label_id }: CardFilter): boolean {
  const malformed = (kind: 'column' | 'user' | 'label', id: string | undefined) => id !== undefined && !isId(kind, id)
  return malformed('column', column_id) || malformed('user', assignee_id) || malformed('label', label_id)
}

/** Returns a predicate for the filters that the card itself decides. */
function matcher({ column_id, assignee_id, label_id, completed, q }: CardFilter): (card: Card) => boolean {
  const text = q === undefined ? undefined : fold(q)
  return (card) => {
    if (column_id !== undefined && card.column_id !== column_id) return false
    if (assignee_id !== undefined && !card.assignee_ids.includes(assignee_id)) return false
    if (label_id !== undefined && !card.label_ids.includes(label_id)) return false
    if (completed !== undefined && (card.completed_at !== null) !== completed) return false
    return text === undefined || fold(card.title).includes(text) || fold(card.description).includes(text)
  }
}

// NFC makes equal letters equal, however they were typed. NFKC would expand one character to up to eighteen, so that a
// long description could slow down every search.
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** A part of the list: the cards of one column in one state. */
interface Segment {
  readonly column: Column
  readonly state: CardState
}

/** The decoded cursor: the places of the last card and of its column, each with the generation of its list. */
interface Position {
  readonly columnGeneration: number
  readonly columnPosition: string
  readonly columnId: string
  readonly state: CardState
  readonly cardGeneration: number
  readonly cardEntry: string
}

/** Where the page starts: after `after` in the column of the last card, then with the columns behind `columnEntry`. */
interface Start {
  readonly columnId: string
  readonly state: CardState
  readonly after: string
  readonly columnEntry: string
}

/** Reads segment by segment, until there are more cards than the page needs. */
class CardScan {
  readonly found: { card: Card; segment: Segment }[] = []
  /** whether one index returns exactly the cards that match the filter */
  readonly exact: boolean
  readonly #tx: Transaction
  readonly #filter: CardFilter
  readonly #start: Start | undefined
  readonly #limit: number
  readonly #matches: (card: Card) => boolean

  constructor(tx: Transaction, filter: CardFilter, start: Start | undefined, limit: number) {
    this.#tx = tx
    this.#filter = filter
    this.#start = start
    this.#limit = limit
    this.#matches = matcher(filter)
    const { assignee_id, label_id, completed, q } = filter
    this.exact = [assignee_id, label_id, completed].filter((given) => given !== undefined).length <= 1 && q === undefined
  }

  get full(): boolean {
    return this.found.length > this.#limit
  }

  /** Reads consecutive segments, with the order record of each. */
  async read(segments: readonly Segment[]): Promise<void> {
    const step = this.exact ? this.#limit + 1 : CARDS_AT_ONCE
    const options = (segment: Segment) => ({
      after: this.#start?.columnId === segment.column.id && this.#start.state === segment.state ? this.#start.after : undefined,
      limit: step,
      // The set of cards and their order must not change meanwhile. Cards that do not match may change.
      weak: this.exact ? false : ('records' as const),
    })
    const ranges = segments.map((segment) => ({ index: indexFor(segment, this.#filter), options: options(segment) }))
    const first = await this.#tx.load({ records: segments.map(({ column }) => keys.order(column.id)), ranges })
    for (const [i, segment] of segments.entries()) {
      let { entries, values } = first.ranges[i]!
      for (;;) {
        for (const card of values) if (card !== undefined && this.#matches(card)) this.found.push({ card, segment })
        if (this.full) return
        // A search may read many cards: let other requests run.
        if (!this.exact) await setImmediate()
        if (entries.length < step) break
        ;({ entries, values } = await this.#tx.range(ranges[i]!.index, { ...options(segment), after: entries.at(-1) }))
      }
    }
  }
}

function segmentsOf(columns: readonly Column[], { column_id, archived }: CardFilter): Segment[] {
  const wanted = columns.filter(({ id }) => column_id === undefined || id === column_id)
  if (!archived) return wanted.filter((column) => column.archived_at === null).map((column) => ({ column, state: 'active' }))
  return wanted.flatMap((column): Segment[] =>
    (column.archived_at === null ? [] : [{ column, state: 'active' } as Segment]).concat({ column, state: 'archived' }),
  )
}

/** The index with the fewest cards that do not match the filter. */
function indexFor({ column: { id }, state }: Segment, { assignee_id, label_id, completed }: CardFilter): Index<Card> {
  if (assignee_id !== undefined) return indexes.cardsOf(state, id, assignee_id)
  if (label_id !== undefined) return indexes.cardsWith(state, id, label_id)
  return completed === undefined ? indexes.cards(state, id) : indexes.cardsDone(state, id, completed)
}

/** The segments from the start on. */
function remaining(segments: readonly Segment[], start: Start | undefined): readonly Segment[] {
  if (start === undefined) return segments
  const current = segments.filter(({ column, state }) => column.id === start.columnId && state >= start.state)
  return [...current, ...segments.filter(({ column }) => column.id !== start.columnId && positionEntry(column) > start.columnEntry)]
}

function findStart(at: Position, columnOrder: OrderRecord | undefined, cardOrder: OrderRecord | undefined): Start {
  const columnEntry = currentEntry(columnOrder, at.columnGeneration, `${at.columnPosition} ${at.columnId}`)
  const after = currentEntry(cardOrder, at.cardGeneration, at.cardEntry)
  if (columnEntry === undefined || after === undefined) throw staleCursor()
  return { columnId: at.columnId, state: at.state, after, columnEntry }
}

function writePosition(
  columnOrder: OrderRecord | undefined,
  cardOrder: OrderRecord | undefined,
  { card, segment }: { card: Card; segment: Segment },
): string {
  return [columnOrder?.generation ?? 0, positionEntry(segment.column), segment.state, cardOrder?.generation ?? 0, positionEntry(card)].join(
    ' ',
  )
}

function readPosition(cursor: string): Position {
  const [columnGeneration, columnPosition, columnId, state, cardGeneration, ...cardEntry] = cursor.split(' ')
  // The id becomes part of a key, and the client may have forged the cursor.
  if (!isId('column', columnId ?? '')) throw staleCursor()
  return {
    columnGeneration: Number(columnGeneration),
    columnPosition: columnPosition!,
    columnId: columnId!,
    state: state === 'archived' ? 'archived' : 'active',
    cardGeneration: Number(cardGeneration),
    cardEntry: cardEntry.join(' '),
  }
}

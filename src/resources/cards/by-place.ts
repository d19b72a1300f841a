import { setImmediate } from 'node:timers/promises'
import type { Card } from '../../model/card.ts'
import type { Column } from '../../model/column.ts'
import { isId } from '../../model/ids.ts'
import type { OrderRecord } from '../../model/order.ts'
import { indexes, positionEntry, type CardState, type Index } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { isVoid, matcher, type CardFilter, type CardPage } from './filter.ts'
import { staleCursor } from '../../listing/ranked-pages.ts'
import { entryNow } from '../../listing/ranks.ts'
import type { PageQuery } from '../../listing/pages.ts'

const ALL = 100_000
/** How many columns, and how many cards of each, are read at once where a filter has no index of its own. */
const COLUMNS_AT_ONCE = 8
const STEP = 50

/** A piece of the list: the cards of one column that are in one state. Pieces follow each other in order. */
interface Piece {
  readonly column: Column
  readonly state: CardState
}

/** Where a card was in the list: its column's place and its own, each with the generation of its order. */
interface Position {
  readonly columns: number
  readonly columnPosition: string
  readonly columnId: string
  readonly state: CardState
  readonly cards: number
  readonly card: string
}

/**
 * Where a list goes on: in its column, wherever that stands by now, after this entry; and then with the columns
 * behind the place that it had.
 */
interface Start {
  readonly columnId: string
  readonly state: CardState
  readonly after: string
  readonly place: string
}

/** All columns of a board in their order. */
export async function allColumns(tx: Transaction, boardId: string): Promise<Column[]> {
  const { values } = await tx.range(indexes.columns(boardId), { limit: ALL })
  return values.filter((column) => column !== undefined)
}

/** Cards column by column, in the order in which they stand there. */
export async function cardsByPlace(tx: Transaction, boardId: string, filter: CardFilter, { limit, cursor }: PageQuery): Promise<CardPage> {
  const at = cursor === undefined ? undefined : readPosition(cursor)
  const { records, ranges } = await tx.load({
    records: [keys.order(boardId), ...(at === undefined ? [] : [keys.order(at.columnId)])],
    ranges: [{ index: indexes.columns(boardId), options: { limit: ALL } }],
  })
  const columns = ranges[0].values.filter((column) => column !== undefined)
  const start = at && findStart(at, records[0], records[1])
  const pieces = isVoid(filter) ? [] : remaining(piecesOf(columns, filter), start)
  const scan = new Scan(tx, filter, start, limit)
  for (let i = 0; i < pieces.length && !scan.full; i += COLUMNS_AT_ONCE) await scan.read(pieces.slice(i, i + COLUMNS_AT_ONCE))
  const page = scan.found.slice(0, limit)
  if (!scan.exact) await tx.confirm(page.map(({ card }) => keys.card(card.id)))
  const last = page.at(-1)
  const position = last && writePosition(records[0], await tx.get(keys.order(last.piece.column.id)), last)
  return { cards: page.map(({ card }) => card), position, more: scan.full }
}

/** A reading from piece to piece, until there are more cards than are wanted. */
class Scan {
  readonly found: { card: Card; piece: Piece }[] = []
  /** whether an index gives just the cards that are wanted */
  readonly exact: boolean
  readonly #tx: Transaction
  readonly #filter: CardFilter
  readonly #start: Start | undefined
  readonly #limit: number

  constructor(tx: Transaction, filter: CardFilter, start: Start | undefined, limit: number) {
    this.#tx = tx
    this.#filter = filter
    this.#start = start
    this.#limit = limit
    this.#matches = matcher(filter)
    this.exact =
      [filter.assignee_id, filter.label_id, filter.completed].filter((given) => given !== undefined).length <= 1 && filter.q === undefined
  }

  readonly #matches: (card: Card) => boolean

  get full(): boolean {
    return this.found.length > this.#limit
  }

  /** Reads pieces that follow each other, with the order of each. */
  async read(pieces: readonly Piece[]): Promise<void> {
    const step = this.exact ? this.#limit + 1 : STEP
    const options = (piece: Piece) => ({
      after: this.#start?.columnId === piece.column.id && this.#start.state === piece.state ? this.#start.after : undefined,
      limit: step,
      // Which cards there are, and in what order, is relied on; those that are not wanted may change.
      hint: this.exact ? false : ('records' as const),
    })
    const ranges = pieces.map((piece) => ({ index: indexFor(piece, this.#filter), options: options(piece) }))
    const first = await this.#tx.load({ records: pieces.map(({ column }) => keys.order(column.id)), ranges })
    for (const [i, piece] of pieces.entries()) {
      let { entries, values } = first.ranges[i]!
      for (;;) {
        for (const card of values) if (card !== undefined && this.#matches(card)) this.found.push({ card, piece })
        if (this.full) return
        // Others have their turn: a search may have much to read.
        if (!this.exact) await setImmediate()
        if (entries.length < step) break
        ;({ entries, values } = await this.#tx.range(ranges[i]!.index, { ...options(piece), after: entries.at(-1) }))
      }
    }
  }
}

function piecesOf(columns: readonly Column[], { column_id, archived }: CardFilter): Piece[] {
  const wanted = columns.filter(({ id }) => column_id === undefined || id === column_id)
  if (!archived) return wanted.filter((column) => column.archived_at === null).map((column) => ({ column, state: 'active' }))
  return wanted.flatMap((column): Piece[] =>
    (column.archived_at === null ? [] : [{ column, state: 'active' } as Piece]).concat({ column, state: 'archived' }),
  )
}

/** The index that has the fewest cards that are not wanted. */
function indexFor({ column: { id }, state }: Piece, { assignee_id, label_id, completed }: CardFilter): Index<Card> {
  if (assignee_id !== undefined) return indexes.cardsOf(state, id, assignee_id)
  if (label_id !== undefined) return indexes.cardsWith(state, id, label_id)
  return completed === undefined ? indexes.cards(state, id) : indexes.cardsDone(state, id, completed)
}

/** The pieces that a page has not come to yet. */
function remaining(pieces: readonly Piece[], start: Start | undefined): readonly Piece[] {
  if (start === undefined) return pieces
  const own = pieces.filter(({ column, state }) => column.id === start.columnId && state >= start.state)
  return [...own, ...pieces.filter(({ column }) => column.id !== start.columnId && positionEntry(column) > start.place)]
}

function findStart(at: Position, columns: OrderRecord | undefined, cards: OrderRecord | undefined): Start {
  const place = entryNow(columns, at.columns, `${at.columnPosition} ${at.columnId}`)
  const after = entryNow(cards, at.cards, at.card)
  if (place === undefined || after === undefined) throw staleCursor()
  return { columnId: at.columnId, state: at.state, after, place }
}

function writePosition(
  columns: OrderRecord | undefined,
  cards: OrderRecord | undefined,
  { card, piece }: { card: Card; piece: Piece },
): string {
  return [columns?.generation ?? 0, positionEntry(piece.column), piece.state, cards?.generation ?? 0, positionEntry(card)].join(' ')
}

function readPosition(cursor: string): Position {
  const [columns, columnPosition, columnId, state, cards, ...card] = cursor.split(' ')
  // It goes into a key, and whoever sent it can have written what he likes.
  if (!isId('column', columnId ?? '')) throw staleCursor()
  return {
    columns: Number(columns),
    columnPosition: columnPosition!,
    columnId: columnId!,
    state: state === 'archived' ? 'archived' : 'active',
    cards: Number(cards),
    card: card.join(' '),
  }
}

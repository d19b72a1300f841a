import { cutPage, type PageQuery } from '../../listing/pages.ts'
import { staleCursor } from '../../listing/ranked-pages.ts'
import type { Card } from '../../model/card.ts'
import type { Column } from '../../model/column.ts'
import { isId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Removals } from '../../model/removal.ts'
import { indexes, positionEntry, type Index } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { RangeOptions } from '../../store/reads.ts'
import { firstPage, type Transaction } from '../../store/transaction.ts'
import type { CountedIndexes } from '../counts.ts'
import { withoutPending } from '../removals.ts'
import type { Scan } from '../scans.ts'
import { Examination } from './examination.ts'
import { rememberColumns, rememberedColumns } from './remembered-columns.ts'
import { findStart, readPosition, writePosition, type Segment, type Start } from './positions.ts'

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

/** The number of columns that are read at once. */
const COLUMNS_AT_ONCE = 8

/** The indexes behind `?include=counts`. */
export function cardCountIndexes({ id }: Card): CountedIndexes {
  return { subtasks: indexes.subtasks(id), comments: indexes.comments(id), attachments: indexes.attachments(id) }
}

/** Whether no index has exactly the cards that match a filter, so that cards are examined one by one. */
function needsScan({ assignee_id, label_id, completed, q, updated_since }: CardFilter): boolean {
  if (q !== undefined || updated_since !== undefined) return true
  return [assignee_id, label_id, completed].filter((given) => given !== undefined).length > 1
}

/**
 * Lists the cards of a board: in the order of their updates if the filter has `updated_since`, otherwise in their places.
 * @param beginScan waits until cards may be examined one by one
 */
export async function listCards(
  tx: Transaction,
  boardId: string,
  filter: CardFilter,
  page: PageQuery,
  beginScan: () => Promise<Scan>,
): Promise<CardPage> {
  if (!needsScan(filter)) return cardsByPosition(tx, boardId, filter, page)
  const scan = await beginScan()
  try {
    const list = filter.updated_since === undefined ? cardsByPosition : cardsByUpdate
    return await list(tx, boardId, filter, page, scan)
  } finally {
    scan.end()
  }
}

/**
 * Lists cards column by column, in their order within each.
 * @param scan undefined unless the filter {@link needsScan}
 */
async function cardsByPosition(
  tx: Transaction,
  boardId: string,
  filter: CardFilter,
  { limit, cursor }: PageQuery,
  scan?: Scan,
): Promise<CardPage> {
  const at = cursor === undefined ? undefined : readPosition(cursor)
  const orders = [keys.order(boardId), ...(at === undefined ? [] : [keys.order(at.columnId)])]
  const isGuessed = at === undefined && scan === undefined && !isEmpty(filter)
  const guessed = isGuessed ? segmentsOf(rememberedColumns(boardId), filter).slice(0, COLUMNS_AT_ONCE) : []
  const ahead = readsOf(guessed, filter, () => ({ limit: limit + 1, partial: true, weak: false }))
  await tx.prefetch({
    records: [keys.removals(), ...orders, ...ahead.records],
    ranges: [firstPage(indexes.columns(boardId)), ...ahead.ranges],
  })
  const [removals, columnOrder, cardOrder] = await tx.read([keys.removals(), ...orders])
  const columns = await columnsOf(tx, boardId)
  rememberColumns(boardId, columns)
  // A forged cursor must not tell whether a column of another board exists.
  if (at !== undefined && !columns.some(({ id }) => id === at.columnId)) throw staleCursor()
  const start = at && findStart(at, columnOrder, cardOrder)
  const segments = isEmpty(filter) ? [] : remaining(segmentsOf(columns, filter), start)
  const cards = new CardReader({ tx, filter, start, limit, removals, scan })
  for (let i = 0; i < segments.length && !cards.full; i += COLUMNS_AT_ONCE) await cards.read(segments.slice(i, i + COLUMNS_AT_ONCE))
  const { page, more } = cutPage(cards.found, limit, ({ card }) => card)
  if (scan !== undefined) await tx.confirm(page.map(({ card }) => keys.card(card.id)))
  const last = page.at(-1)
  const position = last && writePosition(columnOrder, await tx.get(keys.order(last.segment.column.id)), last)
  return { cards: page.map(({ card }) => card), position, more }
}

/** Lists cards in the order of their last update. */
async function cardsByUpdate(
  tx: Transaction,
  boardId: string,
  filter: CardFilter,
  { limit, cursor }: PageQuery,
  scan: Scan,
): Promise<CardPage> {
  const cards: Card[] = []
  await tx.prefetch({ records: [keys.removals()], ranges: [firstPage(indexes.columns(boardId))] })
  const removals = await tx.get(keys.removals())
  const columns = await columnsOf(tx, boardId)
  const archivedColumns = new Set(columns.filter(({ archived_at }) => archived_at !== null).map(({ id }) => id))
  const matches = matcher(filter)
  const wanted = (card: Card) => (card.archived_at !== null || archivedColumns.has(card.column_id)) === filter.archived && matches(card)
  // The cursor may come from a list that started earlier, so the later of both counts.
  const [, since] = [cursor ?? '', filter.updated_since!].toSorted()
  const examination = new Examination(tx, scan, wanted)
  let after: string | undefined = since
  while (!isEmpty(filter)) {
    const { step } = examination
    await examination.beforeRead(1)
    const { entries, values } = await tx.range(indexes.boardCards(boardId), { after, limit: step, weak: 'records' })
    cards.push(...(await examination.matching(presentCards(values, removals))))
    if (cards.length > limit || entries.length < step) break
    after = entries.at(-1)
  }
  const { page, more } = cutPage(cards, limit)
  await tx.confirm(page.map(({ id }) => keys.card(id)))
  const last = page.at(-1)
  return { cards: page, position: last && `${last.updated_at} ${last.id}`, more }
}

/** The cards of entries as they count. */
function presentCards(values: readonly (Card | undefined)[], removals: Removals | undefined): Card[] {
  return values.filter((card) => card !== undefined).map((card) => withoutPending(card, removals))
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

/** What is read, and how. */
interface CardRequest {
  readonly tx: Transaction
  readonly filter: CardFilter
  readonly start: Start | undefined
  readonly limit: number
  readonly removals: Removals | undefined
  readonly scan: Scan | undefined
}

/** Reads segment by segment, until there are more cards than the page needs. */
class CardReader {
  readonly found: { card: Card; segment: Segment }[] = []
  readonly #request: CardRequest
  readonly #matches: (card: Card) => boolean
  /** the characters of the descriptions of the cards that were found */
  #characters = 0
  /** undefined: the index of a segment has exactly the cards that match */
  readonly #examination: Examination | undefined

  constructor(request: CardRequest) {
    const { tx, filter, scan } = request
    this.#request = request
    this.#matches = matcher(filter)
    this.#examination = scan && new Examination(tx, scan, this.#matches)
  }

  /** Whether a page ends before the last card that was found: by its number of cards, or by their length. */
  get full(): boolean {
    return this.found.length > this.#request.limit || (this.#characters > limits.pageBytes && this.found.length > 1)
  }

  /** Reads consecutive segments, with the order record of each. */
  async read(segments: readonly Segment[]): Promise<void> {
    const { tx, filter, start } = this.#request
    const firstStep = this.#step(segments.length)
    const afterOf = ({ column, state }: Segment) => (start?.columnId === column.id && start.state === state ? start.after : undefined)
    const reads = readsOf(segments, filter, (segment) => this.#options(afterOf(segment), firstStep))
    await this.#examination?.beforeRead(segments.length)
    const first = await tx.load(reads)
    for (const [i, segment] of segments.entries()) {
      let { entries, values, isCut } = first.ranges[i]!
      let after = afterOf(segment)
      let step = firstStep
      for (;;) {
        for (const card of await this.#matching(values)) {
          this.found.push({ card, segment })
          this.#characters += card.description.length
        }
        if (this.full) return
        if (entries.length < step && isCut !== true) break
        after = entries.at(-1) ?? after
        step = this.#step(1)
        await this.#examination?.beforeRead(1)
        ;({ entries, values, isCut } = await tx.range(reads.ranges[i]!.index, this.#options(after, step)))
      }
    }
  }

  #options(after: string | undefined, limit: number): RangeOptions {
    // The set of cards and their order must not change meanwhile. Cards that do not match may change.
    return { after, limit, partial: true, weak: this.#examination === undefined ? false : 'records' }
  }

  /** The number of cards to read of each of several segments. */
  #step(segments: number): number {
    return this.#examination === undefined ? this.#request.limit + 1 : Math.ceil(this.#examination.step / segments)
  }

  async #matching(values: readonly (Card | undefined)[]): Promise<Card[]> {
    const cards = presentCards(values, this.#request.removals)
    return this.#examination === undefined ? cards.filter(this.#matches) : this.#examination.matching(cards)
  }
}

/** What is read of segments: their cards, and their order records. */
function readsOf(segments: readonly Segment[], filter: CardFilter, optionsOf: (segment: Segment) => RangeOptions) {
  const ranges = segments.map((segment) => ({ index: indexFor(segment, filter), options: optionsOf(segment) }))
  return { records: segments.map(({ column }) => keys.order(column.id)), ranges }
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

import { LRUCache } from 'lru-cache'
import { cutPage, type PageQuery, staleCursor } from '../../listing/pages.ts'
import type { Card } from '../../model/card.ts'
import type { Column } from '../../model/column.ts'
import { limits } from '../../model/limits.ts'
import type { PendingRemovals } from '../../model/pending-removal.ts'
import { indexes, positionEntry, type Index } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { firstPage, memberOf, type RangeOptions } from '../../store/reads.ts'
import type { Transaction } from '../../store/transaction.ts'
import type { CountedIndexes } from '../counts.ts'
import { shownCard } from '../pending-removals.ts'
import type { OperationRequest } from '../operation.ts'
import { Examination, weightOf } from './examination.ts'
import { idsWithRef } from './external-refs.ts'
import { matcher, needsScan, onlyId, type CardFilter } from './filter.ts'
import { asksForWork, hasWantedState } from './work-states.ts'
import { findStart, readPosition, writePosition, type Segment, type Start } from './positions.ts'

/** Cards in the order of their list. */
export interface CardPage {
  readonly cards: readonly Card[]
  /**
   * Returns the position after a card where the list continues, or undefined.
   * @param index of the card
   */
  positionAfter(index: number): string | undefined
  /** whether cards follow the last one */
  readonly more: boolean
}

/** How a list of cards is read. */
export interface CardListOptions {
  /** from the last card to the first */
  readonly reverse?: boolean
  /** whether {@link firstPageReads} were prefetched */
  readonly isPrefetched?: boolean
}

/** The number of columns that are read at once. */
const COLUMNS_AT_ONCE = 8

/** The indexes behind `?include=counts`. */
export function cardCountIndexes({ id }: Card): CountedIndexes {
  return { subtasks: indexes.subtasks(id), comments: indexes.comments(id), attachments: indexes.attachments(id) }
}

/**
 * Lists the cards of a board column by column, in their order within each.
 * @param examine is called before cards are examined one by one
 */
export async function listCards(
  tx: Transaction,
  boardId: string,
  filter: CardFilter,
  page: PageQuery,
  examine: OperationRequest['examine'],
  options: CardListOptions = {},
): Promise<CardPage> {
  if (filter.external_ref !== undefined) return cardWithRef(tx, boardId, { ...filter, external_ref: filter.external_ref }, page)
  return cardsByPosition(tx, boardId, filter, page, options, needsScan(filter) ? examine : undefined)
}

/** A guess of what the first page of a board's cards needs, to prefetch it together with something else. */
export function firstPageReads(boardId: string, filter: CardFilter, limit: number, { reverse = false }: CardListOptions = {}) {
  const segments = needsScan(filter) ? [] : segmentsOf(rememberedColumns(boardId), filter, reverse)
  const options: RangeOptions = { limit: limit + 1, partial: true, weak: false, reverse }
  const cards = readsOf(segments.slice(0, COLUMNS_AT_ONCE), filter, () => options)
  return {
    records: [keys.removals(), keys.order(boardId), ...cards.records],
    ranges: [firstPage(indexes.columns(boardId)), ...cards.ranges],
  }
}

/** @param examine undefined unless the filter {@link needsScan} */
async function cardsByPosition(
  tx: Transaction,
  boardId: string,
  filter: CardFilter,
  { limit, cursor }: PageQuery,
  { reverse = false, isPrefetched = false }: CardListOptions,
  examine?: OperationRequest['examine'],
): Promise<CardPage> {
  const at = cursor === undefined ? undefined : readPosition(cursor)
  const orders = [keys.order(boardId), ...(at === undefined ? [] : [keys.order(at.columnId)])]
  if (at !== undefined) await tx.prefetch({ records: [keys.removals(), ...orders], ranges: [firstPage(indexes.columns(boardId))] })
  else if (!isPrefetched) await tx.prefetch(firstPageReads(boardId, filter, limit, { reverse }))
  const [removals, columnOrder, cardOrder] = await tx.read([keys.removals(), ...orders])
  const columns = await columnsOf(tx, boardId)
  rememberColumns(boardId, columns)
  // A forged cursor must not tell whether a column of another board exists.
  if (at !== undefined && !columns.some(({ id }) => id === at.columnId)) throw staleCursor()
  const start = at && findStart(at, columnOrder, cardOrder)
  const segments = remaining(segmentsOf(columns, filter, reverse), start, reverse)
  const cards = new CardReader({ tx, filter, start, limit, removals, reverse, examine })
  for (let i = 0; i < segments.length && !cards.full; i += COLUMNS_AT_ONCE) await cards.read(segments.slice(i, i + COLUMNS_AT_ONCE))
  const { page, more } = cutPage(cards.found, limit, ({ card }) => card)
  if (examine !== undefined) await tx.confirm(page.map(({ card }) => keys.card(card.id)))
  const positionAfter = (index: number): string | undefined => {
    const found = page[index]
    return found && writePosition(columnOrder, tx.known(keys.order(found.segment.column.id)), found)
  }
  return { cards: page.map(({ card }) => card), positionAfter, more }
}

/** The position after the only card that a filter can match: a search of several boards goes on with the next one. */
const AFTER_THE_CARD = 'end'

/** The page of a filter that one card can match at most. */
async function cardWithRef(
  tx: Transaction,
  boardId: string,
  filter: CardFilter & { readonly external_ref: string },
  { cursor }: PageQuery,
): Promise<CardPage> {
  if (cursor !== undefined && cursor !== AFTER_THE_CARD) throw staleCursor()
  const [id] = cursor === undefined ? await idsWithRef(tx, boardId, filter.external_ref) : []
  const cards = id === undefined ? [] : await matchingCards(tx, id, filter)
  return { cards, positionAfter: () => AFTER_THE_CARD, more: false }
}

async function matchingCards(tx: Transaction, id: string, filter: CardFilter): Promise<Card[]> {
  const key = keys.card(id)
  const [found, column, removals] = await tx.read([key, keys.column(memberOf(key, 'column_id')), keys.removals()])
  const [card] = presentCards([found], removals)
  if (card === undefined) return []
  const isArchived = card.archived_at !== null || column?.archived_at !== null
  if (isArchived !== filter.archived || (isArchived && filter.ready === true) || !matcher(filter)(card)) return []
  if (!asksForWork(isArchived ? { work_state: filter.work_state } : filter)) return [card]
  await filter.states!.load([card.column_id])
  return hasWantedState(isArchived ? { work_state: filter.work_state } : filter, filter.states!.of(card)) ? [card] : []
}

/** The cards of entries as they count. */
export function presentCards(values: readonly (Card | undefined)[], removals: PendingRemovals | undefined): Card[] {
  return values.filter((card) => card !== undefined).map((card) => shownCard(card, removals))
}

async function columnsOf(tx: Transaction, boardId: string): Promise<Column[]> {
  return (await tx.all(indexes.columns(boardId))).values.filter((column) => column !== undefined)
}

/** What is read, and how. */
interface CardRequest {
  readonly tx: Transaction
  readonly filter: CardFilter
  readonly start: Start | undefined
  readonly limit: number
  readonly removals: PendingRemovals | undefined
  readonly reverse: boolean
  readonly examine: OperationRequest['examine'] | undefined
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
    const { tx, filter, examine } = request
    this.#request = request
    const [matches, { states }] = [matcher(filter), filter]
    this.#matches = judgesWork(filter) ? (card) => matches(card) && hasWantedState(filter, states!.of(card)) : matches
    this.#examination = examine && new Examination(tx, examine, this.#matches, weightOf(filter))
  }

  /** Whether a page ends before the last card that was found: by its number of cards, or by their length. */
  get full(): boolean {
    return this.found.length > this.#request.limit || (this.#characters > limits.pageBytes && this.found.length > 1)
  }

  /** Reads consecutive segments, with the order record of each. */
  async read(segments: readonly Segment[]): Promise<void> {
    const { tx, filter, start } = this.#request
    const firstStep = this.#step(segments.length)
    const afterOf = ({ column, state }: Segment) => (start?.columnId === column.id && start.state === state ? start.cardEntry : undefined)
    const reads = readsOf(segments, filter, (segment) => this.#options(afterOf(segment), firstStep))
    await this.#examination?.beforeRead(segments.length)
    if (judgesWork(filter)) await filter.states!.load(segments.map(({ column }) => column.id))
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
    const { reverse } = this.#request
    // The set of cards and their order must not change meanwhile. Cards that do not match may change.
    const weak = this.#examination === undefined ? false : 'records'
    return reverse ? { before: after, limit, partial: true, weak, reverse } : { after, limit, partial: true, weak, reverse }
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

/**
 * Whether each card is asked for the state of its work: the index of ready cards alone does not answer the filter. No archived one is
 * ready.
 */
function judgesWork(filter: CardFilter): boolean {
  return asksForWork(filter.archived ? { work_state: filter.work_state } : filter) && needsScan(filter)
}

/** What is read of segments: their cards, and their order records. */
function readsOf(segments: readonly Segment[], filter: CardFilter, optionsOf: (segment: Segment) => RangeOptions) {
  const ranges = segments.map((segment) => ({ index: indexFor(segment, filter), options: optionsOf(segment) }))
  return { records: segments.map(({ column }) => keys.order(column.id)), ranges }
}

function segmentsOf(columns: readonly Column[], { column_id, archived, ready }: CardFilter, reverse: boolean): Segment[] {
  // No archived card is ready, by itself or with its column.
  if (archived && ready === true) return []
  const wanted = columns.filter(({ id }) => column_id === undefined || column_id.includes(id))
  const segments = wanted.flatMap((column): Segment[] => {
    if (!archived) return column.archived_at === null ? [{ column, state: 'active' }] : []
    return (column.archived_at === null ? [] : [{ column, state: 'active' } as Segment]).concat({ column, state: 'archived' })
  })
  return reverse ? segments.toReversed() : segments
}

/** The index with the fewest cards that do not match the filter. */
function indexFor({ column: { id }, state }: Segment, { assignee_id, label_id, completed, ready, states }: CardFilter): Index<Card> {
  const [assigneeId, labelId] = [onlyId(assignee_id), onlyId(label_id)]
  if (assigneeId !== undefined) return indexes.cardsOf(state, id, assigneeId)
  if (labelId !== undefined) return indexes.cardsWith(state, id, labelId)
  if (ready === true) return states?.hasDueCards === true ? indexes.cardsDone(state, id, false) : indexes.readyCards(id)
  return completed === undefined ? indexes.cards(state, id) : indexes.cardsDone(state, id, completed)
}

/** The segments from the start on. */
function remaining(segments: readonly Segment[], start: Start | undefined, reverse: boolean): readonly Segment[] {
  if (start === undefined) return segments
  const follows = (text: string, other: string) => (reverse ? text < other : text > other)
  const isCurrent = ({ column, state }: Segment) => column.id === start.columnId && !follows(start.state, state)
  const isLater = ({ column }: Segment) => column.id !== start.columnId && follows(positionEntry(column), start.columnEntry)
  return [...segments.filter(isCurrent), ...segments.filter(isLater)]
}

/** How many columns one process remembers, of all boards together. */
const REMEMBERED = 20_000

/**
 * The columns of boards whose cards this process has listed. They may have changed since, so they only decide which cards are
 * read together with the columns. A wrong guess costs another read.
 */
const columns = new LRUCache<string, readonly Column[]>({ maxSize: REMEMBERED, sizeCalculation: ({ length }) => length + 1 })

function rememberColumns(boardId: string, found: readonly Column[]): void {
  columns.set(boardId, found)
}

/** The columns of a board when its cards were last listed; none if they were not. */
function rememberedColumns(boardId: string): readonly Column[] {
  return columns.get(boardId) ?? []
}

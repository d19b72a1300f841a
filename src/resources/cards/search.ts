import type { Card } from '../../model/card.ts'
import type { Column } from '../../model/column.ts'
import { entriesOfWord, sortedPlace, type TimedSort } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { RangeOptions } from '../../store/reads.ts'
import { withClaims } from '../claims/present.ts'
import { withWork } from '../claims/work.ts'
import type { Candidates, OperationRequest } from '../operation.ts'
import { Examination, weightOf } from './examination.ts'
import { boardsWithRef } from './external-refs.ts'
import { matcher, onlyId } from './filter.ts'
import { listCards, presentCards } from './queries.ts'
import { isDescending, searchOrder, type CardSearchQuery } from './schema.ts'
import { placeOfBoard, SearchedBoards } from './searched-boards.ts'
import { Selection } from './selection.ts'
import { asksForWork, hasWantedState, withStates, WorkStates } from './work-states.ts'
import { sourcesOf, type Source } from './search-sources.ts'

type SearchRequest = OperationRequest<CardSearchQuery, any>

/** The number of sources whose cards are read at once, and of those whose first entries are. */
const SOURCES_AT_ONCE = 8
const FIRST_ENTRIES_AT_ONCE = 128

/** Cards of the boards that the caller can read, in the order of the query, after a position. */
export async function searchCards(request: SearchRequest, after: string | undefined, limit: number): Promise<Candidates<Card>> {
  const order = searchOrder(request.query)
  const found = await findCards(request, after?.slice(order.length), limit)
  const { query } = request
  const listed = found.candidates.flatMap(({ item }) => (item === undefined ? [] : [item.data]))
  const cards = await withWork(request, query, await withClaims(request, query, listed))
  const byId = new Map(cards.map((card) => [card.id, card]))
  const candidates = found.candidates.map(({ position, item }) => ({
    position: order + position,
    item: item && { ...item, data: byId.get(item.data.id)! },
  }))
  return { ...found, candidates }
}

async function findCards(request: SearchRequest, after: string | undefined, limit: number): Promise<Candidates<Card>> {
  const { query } = request
  const boards = new SearchedBoards(request)
  const { sort } = query
  if (sort === 'position') return byPosition(request, boards, after, limit)
  const search = new TimedSearch(request, query, sort, boards, after, limit)
  const examination = new Examination(request.tx, request.examine, (card) => search.isWanted(card), weightOf(query))
  return search.read(await sourcesOf(request, query, sort, boards), examination)
}

/** Lists board after board. A position has the place of the board and the place of the card on it. */
async function byPosition(
  request: SearchRequest,
  boards: SearchedBoards,
  after: string | undefined,
  limit: number,
): Promise<Candidates<Card>> {
  const { tx, query, examine } = request
  const reverse = isDescending(query)
  const [createdAt, boardId, ...rest] = after?.split(' ') ?? []
  const start = after === undefined ? undefined : `${createdAt} ${boardId}`
  const all = await boards.of(query)
  const remaining = all.filter((board) => start === undefined || (reverse ? placeOfBoard(board) <= start : placeOfBoard(board) >= start))
  const { external_ref, assignee_id } = query
  const searched = await (external_ref === undefined
    ? boards.withCards(remaining, onlyId(assignee_id))
    : boardsWithRef(tx, remaining, external_ref))
  const candidates: Candidates<Card>['candidates'][number][] = []
  for (const context of reverse ? searched.toReversed() : searched) {
    const place = placeOfBoard(context)
    const cursor = place === start ? rest.join(' ') : undefined
    const part = { limit: limit - candidates.length, cursor }
    const { cards, positionAfter, more } = await listCards(
      tx,
      context.board.id,
      await withStates(request, context.board.id, query),
      part,
      examine,
      { reverse },
    )
    candidates.push(...cards.map((data, i) => ({ position: `${place} ${positionAfter(i)}`, item: { context, data } })))
    if (more || candidates.length >= limit) return { candidates, more: true }
  }
  return { candidates, more: false }
}

/** Finds the next cards in the order of one of their times. */
class TimedSearch {
  readonly #request: SearchRequest
  readonly #query: CardSearchQuery
  readonly #sort: TimedSort
  readonly #boards: SearchedBoards
  readonly #after: string | undefined
  readonly #isDescending: boolean
  readonly #selection: Selection
  readonly #matches: (card: Card) => boolean
  readonly #columns = new Map<string, Column | undefined>()
  /** by their boards */
  readonly #states = new Map<string, WorkStates>()

  constructor(
    request: SearchRequest,
    query: CardSearchQuery,
    sort: TimedSort,
    boards: SearchedBoards,
    after: string | undefined,
    limit: number,
  ) {
    this.#request = request
    this.#query = query
    this.#sort = sort
    this.#boards = boards
    this.#after = after
    this.#isDescending = isDescending(query)
    this.#selection = new Selection(limit, (card) => sortedPlace(sort, card), this.#isDescending)
    this.#matches = matcher(query)
  }

  /** Whether the card's own members allow it on the page. */
  isWanted(card: Card): boolean {
    if (!this.#selection.accepts(card)) return false
    const place = sortedPlace(this.#sort, card)
    const after = this.#after
    return (after === undefined || (this.#isDescending ? place < after : place > after)) && this.#matches(card)
  }

  async read(sources: readonly Source[], examination: Examination): Promise<Candidates<Card>> {
    const { tx } = this.#request
    const ordered = await this.#byFirstEntry(sources)
    for (let i = 0; i < ordered.length; i += SOURCES_AT_ONCE) await this.#readSources(ordered.slice(i, i + SOURCES_AT_ONCE), examination)
    const { cards, mayHaveMore } = this.#selection
    // What was read weakly must be true at one moment, together with the boards and the columns.
    await tx.confirm(cards.map(({ card }) => keys.card(card.id)))
    const candidates = cards.map(({ place, card }) => ({
      position: place,
      item: { context: this.#boards.get(card.board_id)!, data: card },
    }))
    return { candidates, more: mayHaveMore }
  }

  /** Many sorted sources in the order of their first cards: where the page ends, no card of those behind it is read. */
  async #byFirstEntry(sources: readonly Source[]): Promise<readonly Source[]> {
    if (sources.length <= SOURCES_AT_ONCE || sources[0]!.isSorted !== true) return sources
    const first: { readonly source: Source; readonly place: string }[] = []
    for (let i = 0; i < sources.length; i += FIRST_ENTRIES_AT_ONCE) {
      const part = sources.slice(i, i + FIRST_ENTRIES_AT_ONCE)
      const options = { limit: 1, weak: true, entriesOnly: true }
      const ranges = part.map((source) => ({ index: source.index, options: { ...this.#boundsOf(source), ...options } }))
      const pages = (await this.#request.tx.load({ ranges })).ranges
      for (const [n, source] of part.entries()) {
        const [entry] = pages[n]!.entries
        if (entry !== undefined) first.push({ source, place: entry.slice(source.word!.length + 1) })
      }
    }
    const sorted = first.toSorted((a, b) => (a.place < b.place ? -1 : 1))
    return (this.#isDescending ? sorted.toReversed() : sorted).map(({ source, place }) => ({ ...source, first: place }))
  }

  /** Whether a source has no card that can still be wanted. */
  #isDone({ first }: Source): boolean {
    const { bound } = this.#selection
    return first !== undefined && bound !== undefined && (this.#isDescending ? first <= bound : first >= bound)
  }

  /** Reads several sources in steps, until none has a wanted card any more. */
  async #readSources(sources: readonly Source[], examination: Examination): Promise<void> {
    const { tx } = this.#request
    let open = sources.filter((source) => !this.#isDone(source)).map((source) => ({ source, last: undefined as string | undefined }))
    for (;;) {
      const next = open.flatMap(({ source, last }) => {
        const bounds = this.#boundsOf(source, last)
        return isVoid(bounds) ? [] : [{ source, last, bounds }]
      })
      if (next.length === 0) return
      const limit = Math.ceil(examination.step / next.length)
      await examination.beforeRead(next.length)
      const { records, ranges } = await tx.load({
        records: [keys.removals()],
        ranges: next.map(({ source: { index }, bounds }) => ({ index, options: { ...bounds, limit, weak: true, partial: true } as const })),
      })
      await this.#offer(await examination.matching(ranges.flatMap(({ values }) => presentCards(values, records[0]))))
      open = next.flatMap(({ source, last }, n) => {
        const { entries, isCut } = ranges[n]!
        return entries.length < limit && isCut !== true ? [] : [{ source, last: entries.at(-1) ?? last }]
      })
    }
  }

  /**
   * The range of a source that can have wanted cards.
   * @param last the last entry that was read
   */
  #boundsOf({ word, isSorted }: Source, last?: string): Bounds {
    const whole: Bounds = word === undefined ? {} : entriesOfWord(word)
    if (isSorted !== true) return { ...whole, ...(last !== undefined && { after: last }) }
    const [from, to] = this.#times()
    const reverse = this.#isDescending
    const [first, end] = [this.#after, this.#selection.bound]
    const entry = (place: string | undefined) => place && `${word} ${place}`
    const after = sorted([whole.after, entry(from), entry(reverse ? end : first), reverse ? undefined : last]).at(-1)
    const before = sorted([whole.before, entry(to), entry(reverse ? first : end), reverse ? last : undefined])[0]
    return { after, before, reverse }
  }

  /** The query's bounds, if any, of the time that the cards are sorted by. */
  #times(): readonly [from: string | undefined, to: string | undefined] {
    const { due_after, due_before, completed_after, completed_before } = this.#query
    if (this.#sort === 'completed_at') return [completed_after, completed_before]
    // A card without a due time matches no filter by it.
    if (this.#sort === 'due_at') return [due_after, due_before ?? (due_after === undefined ? undefined : '~')]
    return [undefined, undefined]
  }

  /** Adds cards that are on the boards of the search and in the state that it is about. */
  async #offer(cards: readonly Card[]): Promise<void> {
    const { tx } = this.#request
    const columnIds = [...new Set(cards.map((card) => card.column_id))].filter((id) => !this.#columns.has(id))
    const columns = await this.#boards.load(
      cards.map((card) => card.board_id),
      columnIds.map((id) => keys.column(id)),
    )
    for (const [i, id] of columnIds.entries()) this.#columns.set(id, columns[i])
    for (const card of cards) {
      const column = this.#columns.get(card.column_id)
      const isArchived = card.archived_at !== null || column?.archived_at !== null
      const isListed =
        this.#boards.get(card.board_id) !== undefined && isArchived === this.#query.archived && (await this.#hasWantedState(card))
      const dropped = isListed ? this.#selection.add(card) : [card]
      for (const { id } of dropped) tx.forget(keys.card(id))
    }
  }

  /** @param card one in the state that the search is about */
  async #hasWantedState(card: Card): Promise<boolean> {
    const { ready, work_state, archived } = this.#query
    if (archived && ready === true) return false
    const wanted = archived ? { work_state } : { ready, work_state }
    if (!asksForWork(wanted)) return true
    const states = this.#states.get(card.board_id) ?? (await WorkStates.of(this.#request, card.board_id))
    this.#states.set(card.board_id, states)
    await states.load([card.column_id])
    return hasWantedState(wanted, states.of(card))
  }
}

type Bounds = Pick<RangeOptions, 'after' | 'before' | 'reverse'>

function isVoid({ after, before }: Bounds): boolean {
  return after !== undefined && before !== undefined && after >= before
}

/** The texts that are defined, in their order. */
function sorted(texts: readonly (string | undefined)[]): string[] {
  return texts.filter((text) => text !== undefined).toSorted()
}

import { z } from 'zod'
import { documented } from '../model/fields.ts'
import { limits } from '../model/limits.ts'
import { time } from '../model/text.ts'
import { type Index, positionEntry } from '../store/indexes.ts'
import { jsonOf, keptLength } from '../store/record-json.ts'
import type { Transaction } from '../store/transaction.ts'
import { ApiError } from '../model/errors.ts'
import { keys } from '../store/keys.ts'
import type { IndexPage } from '../store/reads.ts'
import { currentEntry, type Ranked, type RankedList } from './ranks.ts'

/** One page of a list. */
export interface ListPage<T> {
  readonly data: readonly T[]
  /** null on the last page */
  readonly nextCursor: string | null
}

/** The paging parameters of a list. */
export interface PageQuery {
  /** the maximum number of items */
  readonly limit: number
  /** the decoded cursor: the position of the last item of the previous page */
  readonly cursor?: string | undefined
}

/** The parameter for the size of a page. */
export const pageLimit = documented(
  z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/, `must be a whole number from 1 to ${limits.pageSize.max}`)
    .transform(Number)
    .pipe(z.number().max(limits.pageSize.max))
    .default(limits.pageSize.default),
  {
    description: 'The maximum number of items. A page of long items ends earlier.',
    parameter: { type: 'integer', format: 'int32', minimum: 1, maximum: limits.pageSize.max, default: limits.pageSize.default },
  },
)

/** What a cursor looks like, for the documentation. */
export const CURSOR = {
  description: '`page.next_cursor` of the previous page. Omit it for the first page.',
  pattern: '^[A-Za-z0-9_-]+$',
  maxLength: 400,
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** A boolean query parameter. Python writes `True`, PHP `1`; other words, such as `yes`, are refused. */
export const booleanParameter = documented(
  z.string().transform((text, context): boolean => {
    const value = BOOLEANS.get(text.toLowerCase())
    if (value !== undefined) return value
    context.addIssue('must be true or false')
    return z.NEVER
  }),
  { parameter: { type: 'boolean' } },
)

/** A query parameter that is a time. The plus of its offset is a space in a query, unless it is escaped: it is read as that plus. */
export function timeParameter(description: string) {
  const schema = z.string().transform((text) => text.replace(/ (?=\d\d:\d\d$)/, '+'))
  return documented(schema.pipe(time), { description, parameter: { type: 'string', format: 'date-time', maxLength: 64 } })
}

/** A query parameter that lists some of these words, with commas between them. */
export function wordsParameter<const Word extends string>(words: readonly Word[]) {
  const error = `must be a list of ${words.join(', ')}: each at most once, with commas between them`
  const schema = z.string().transform((text, context): ReadonlySet<Word> => {
    const given = text.split(',') as Word[]
    const found = new Set(given)
    if (found.size === given.length && given.every((word) => words.includes(word))) return found
    context.addIssue(error)
    return z.NEVER
  })
  const items = { type: 'string', enum: words }
  return documented(schema, { parameter: { type: 'array', items, minItems: 1, maxItems: words.length, uniqueItems: true } })
}

/** The paging members of a list's query. A cursor of another list is refused. */
export function pageQuery(list: string) {
  return { limit: pageLimit, cursor: cursorOf(list).optional() }
}

/** The message of a cursor of another list. */
export const NO_CURSOR = 'is not a cursor of this list: use page.next_cursor of the previous page, or omit it'

/** The parameter of a cursor. One of another list is refused. */
export function cursorOf(list: string) {
  return documented(
    z.string().transform((text, context) => decodeCursor(list, text) ?? refuse(context)),
    CURSOR,
  )
}

function refuse(context: z.core.$RefinementCtx): never {
  context.addIssue(NO_CURSOR)
  return z.NEVER
}

/** Encodes an opaque cursor: the list's name and the position of the last item returned, nothing else. */
export function encodeCursor(list: string, position: string): string {
  return Buffer.from(`${list}\n${position}`).toString('base64url')
}

/** The position that a cursor holds; undefined: it is not one of this list. */
export function decodeCursor(list: string, cursor: string): string | undefined {
  const position = Buffer.from(cursor, 'base64url')
    .toString()
    .slice(list.length + 1)
  return /^[\x20-\x7e]{1,250}$/.test(position) && encodeCursor(list, position) === cursor ? position : undefined
}

/** Reads one page of an index. */
export async function listPage<T>(
  tx: Transaction,
  list: string,
  index: Index<T>,
  { limit: size, cursor }: PageQuery,
): Promise<ListPage<T>> {
  const { entries, values } = await tx.range(index, { after: cursor, limit: size + 1 })
  const found = values.slice(0, size).flatMap((item, i) => (item === undefined ? [] : [{ item, position: entries[i] }]))
  const items = found.map(({ item }) => item)
  const count = fittingItems(items)
  if (count < items.length) return toPage(list, items.slice(0, count), found[count - 1]!.position, true)
  return toPage(list, items, entries.at(Math.min(size, entries.length) - 1), entries.length > size)
}

/**
 * Cuts what was found to one page: at most `maximum` items, and as many as fit.
 * @param itemOf the item of an element
 * @returns the elements of the page, and whether others follow
 */
export function cutPage<T>(
  found: readonly T[],
  maximum: number,
  itemOf: (element: T) => unknown = (element) => element,
): { readonly page: readonly T[]; readonly more: boolean } {
  const whole = found.slice(0, maximum)
  const page = whole.slice(0, fittingItems(whole.map(itemOf)))
  return { page, more: found.length > page.length }
}

/**
 * The number of items from the first on that fit into a page: at least one, so that each page makes progress. A page that is
 * cut has a cursor, and the next one continues behind its last item.
 */
export function fittingItems(items: readonly unknown[], maxBytes: number = limits.pageBytes): number {
  // Almost every page is far below the maximum, and is not serialized twice.
  if (items.reduce<number>((sum, item) => sum + maximumSize(item), 0) <= maxBytes) return items.length
  let bytes = 0
  const excess = items.findIndex((item) => (bytes += jsonLength(item) + 1) > maxBytes)
  return excess === -1 ? items.length : Math.max(excess, 1)
}

/** The bytes of an item in JSON. A record's bytes are kept for the response. */
function jsonLength(item: unknown): number {
  const json = typeof item === 'object' && item !== null ? jsonOf(item) : JSON.stringify(item)
  return typeof json === 'string' ? Buffer.byteLength(json) : json.bytes.length
}

/** An upper bound of the size of a value in JSON, with the comma behind it: each character may become an escape of six bytes. */
function maximumSize(value: unknown): number {
  if (typeof value === 'string') return 6 * value.length + 3
  if (typeof value !== 'object' || value === null) return 25
  const kept = keptLength(value)
  if (kept !== undefined) return kept + 1
  let size = 3
  for (const name in value) size += 6 * name.length + 4 + maximumSize((value as Record<string, unknown>)[name])
  return size
}

/**
 * Makes a page of items.
 * @param lastPosition the position of the last item
 * @param more whether items follow it
 */
export function toPage<T>(list: string, items: readonly T[], lastPosition: string | undefined, more: boolean): ListPage<T> {
  return { data: items, nextCursor: more && lastPosition !== undefined ? encodeCursor(list, lastPosition) : null }
}

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

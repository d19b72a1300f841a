import type { ApiAnswer, ApiRequest, Exchange } from './exchange.ts'

// The context of a model is small: Claude Code, for example, takes 25,000 tokens of a result. So no answer is longer than is good for it,
// and nothing is left out without saying how to get it.

/** Characters of the longest answer. */
export const LONGEST = 60_000
/** Characters that an answer may have beside its data. */
export const RESERVE = 1_000
/** Characters of the beginning of a long text. */
export const BEGINNING = 500
/** The members that are texts of any length. */
const TEXTS: ReadonlySet<string> = new Set(['description', 'body'])
/** How often a page is requested again: what is on it may change meanwhile. */
const ATTEMPTS = 3

/** What is known of the answer to a call. */
export interface Expected {
  /** whether it is a page of a list */
  readonly isList: boolean
  /** whether it is one record that can be read in parts */
  readonly hasParts: boolean
  /** whether the call names the members that it wants */
  readonly hasFields: boolean
  /** where it begins, in characters */
  readonly offset: number | undefined
  /** which operation reads the whole of something that it has */
  readonly wholeIn: string
}

/** The members of an answer. */
export type Content = Readonly<Record<string, unknown>>

/** Sends a request. A page that does not fit is requested again with fewer items, so that its cursor follows the last one. */
export async function sendFitting(exchange: Exchange, request: ApiRequest, expected: Expected): Promise<ApiAnswer> {
  let answer = await exchange.send(request)
  for (let attempt = 1; expected.isList && answer.status < 400 && attempt < ATTEMPTS; attempt++) {
    const items = shownItems(answer.body.data as readonly unknown[], expected)
    const count = fittingItems(items)
    if (count === items.length) break
    answer = await exchange.send({ ...request, search: withLimit(request.search, Math.max(count, 1)) })
  }
  return answer
}

/** The number of items from the first on that fit. */
function fittingItems(items: readonly unknown[]): number {
  let length = RESERVE
  const excess = items.findIndex((item) => (length += JSON.stringify(item).length + 1) > LONGEST)
  return excess === -1 ? items.length : excess
}

function withLimit(search: string, limit: number): string {
  const query = new URLSearchParams(search)
  query.set('limit', String(limit))
  // There is something: nothing has to be waited for.
  query.delete('wait')
  return `?${query.toString()}`
}

/**
 * Makes a successful answer fit. Long texts in lists have only their beginning, unless the call names members.
 * @param content the answer, including facts from its headers
 * @returns the content, and its JSON
 */
export function fit(content: Content, expected: Expected): { readonly content: Content; readonly text: string } {
  const shown = noted(shownContent(content, expected), expected)
  const text = JSON.stringify(shown)
  const { offset } = expected
  if (text.length <= LONGEST && offset === undefined) return { content: shown, text }
  if (expected.hasParts) return written(partOf(text, offset ?? 0, content['etag']))
  const short = written(noted(cut(content) as Content, expected))
  return short.text.length <= LONGEST ? short : written(idsOf(content, expected))
}

function written(content: Content) {
  return { content, text: JSON.stringify(content) }
}

function shownItems(items: readonly unknown[], { hasFields }: Expected): readonly unknown[] {
  return hasFields ? items : items.map(cut)
}

function shownContent(content: Content, expected: Expected): Content {
  const { data } = content
  if (expected.isList) return { ...content, data: shownItems(data as readonly unknown[], expected) }
  if (!expected.hasParts || typeof data !== 'object' || data === null) return content
  // What is on a board: the board itself is whole.
  const members = Object.entries(data).map(
    ([name, member]) => [name, Array.isArray(member) ? shownItems(member, expected) : member] as const,
  )
  return { ...content, data: Object.fromEntries(members) }
}

/** A value whose long texts have only their beginning. An object with such a text says so. */
export function cut(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cut)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(
    ([name, member]) => [name, isLongText(name, member) ? beginningOf(member) : cut(member)] as const,
  )
  const isCut = Object.entries(value).some(([name, member]) => isLongText(name, member))
  return Object.fromEntries(isCut ? [...members, ['truncated', true]] : members)
}

function isLongText(name: string, value: unknown): value is string {
  return TEXTS.has(name) && typeof value === 'string' && value.length > BEGINNING
}

function beginningOf(text: string): string {
  return wellFormed(text.slice(0, BEGINNING))
}

/** A text without half of a character at its end. */
function wellFormed(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text
}

/** Tells how to read a text in full that was cut. */
function noted(content: Content, { wholeIn }: Expected): Content {
  if (!hasCut(content)) return content
  return withNote(content, `Where truncated is true, only the first ${BEGINNING} characters of a text are there. ${wholeIn} has the whole.`)
}

/** Adds a note to those that an answer has. */
function withNote(content: Content, note: string): Content {
  const { note: earlier } = content
  return { ...content, note: typeof earlier === 'string' ? `${earlier} ${note}` : note }
}

function hasCut(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return (value as Content)['truncated'] === true || Object.values(value).some(hasCut)
}

/** The results of a batch's operations, reduced to the members that name them. */
function idsOf(content: Content, { wholeIn }: Expected): Content {
  const data = content['data'] as { readonly results?: readonly Content[] } | null
  if (data?.results === undefined) return content
  const results = data.results.map((one) => ({ ...one, data: { id: (one['data'] as Content)['id'] } }))
  const short = { ...content, data: { ...data, results, truncated: true } }
  return withNote(short, `The answer would be too long: of each result, only the id and the etag are there. ${wholeIn} has the whole.`)
}

/** A part of an answer that is too long. */
function partOf(text: string, offset: number, etag: unknown): Content {
  const longest = LONGEST - RESERVE
  let part = text.slice(offset, offset + longest)
  for (;;) {
    const { length } = JSON.stringify(part)
    if (length <= longest) break
    part = part.slice(0, Math.floor((part.length * longest) / length))
  }
  part = wellFormed(part)
  const next = offset + part.length
  const note =
    'part is a piece of the JSON of the answer. Go on with offset = next_offset; if length or etag differ then, it has changed: begin again.'
  return { part, offset, next_offset: next < text.length ? next : null, length: text.length, ...(etag === undefined ? {} : { etag }), note }
}

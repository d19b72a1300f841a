import { createHash } from 'node:crypto'
import type { ResponseTextPlace } from '../model/idempotency.ts'

/** The least length, in UTF-16 units, of a text that is stored beside the response. Names and titles are shorter. */
const LONG = 1000

/** What a response consists of when its long texts are stored beside it. */
export interface SeparatedTexts {
  /** with an empty text in place of each long one */
  readonly data: unknown
  readonly places: readonly ResponseTextPlace[]
  /** SHA-256 in hex → a long text */
  readonly texts: ReadonlyMap<string, string>
}

/** Takes the long texts out of the data of a response. The data stays as it is. */
export function separateTexts(data: unknown): SeparatedTexts {
  const places: ResponseTextPlace[] = []
  const texts = new Map<string, string>()
  // Most have none. They then share the record that is answered with storage.
  if (!hasLongText(data)) return { data, places, texts }
  const shorten = (value: unknown, path: readonly (string | number)[]): unknown => {
    if (typeof value === 'string' && value.length > LONG) {
      const sha256 = createHash('sha256').update(value).digest('hex')
      places.push({ path, sha256 })
      texts.set(sha256, value)
      return ''
    }
    if (Array.isArray(value)) return value.map((item, i) => shorten(item, [...path, i]))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shorten(member, [...path, name])]))
  }
  return { data: shorten(data, []), places, texts }
}

function hasLongText(value: unknown): boolean {
  if (typeof value === 'string') return value.length > LONG
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongText)
}

/**
 * Puts the long texts back.
 * @param texts the texts of the places, in the same order
 * @throws {TypeError} if a text or its place is missing: what is stored was altered
 */
export function restoreTexts(data: unknown, places: readonly ResponseTextPlace[], texts: readonly (string | undefined)[]): unknown {
  const whole: unknown = structuredClone(data)
  for (const [i, { path }] of places.entries()) {
    const text = texts[i]
    let parent = whole
    for (const step of path.slice(0, -1)) parent = memberOf(parent, step)
    const last = path.at(-1)
    if (text === undefined || last === undefined || memberOf(parent, last) !== '') throw missing(path)
    ;(parent as Record<string | number, unknown>)[last] = text
  }
  return whole
}

function memberOf(value: unknown, name: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) throw missing([name])
  return (value as Record<string | number, unknown>)[name]
}

function missing(path: readonly (string | number)[]): TypeError {
  return new TypeError(`a stored response lacks the text at ${path.join('.')}`)
}

import { z } from 'zod'
import { AdminError } from '../admin/deps.ts'

/** How many problems of a file a message names. */
const NAMED = 10

/** The id of something in a file. */
export const foreignId = z.string().min(1).max(200)
export const optionalText = z.string().nullish()
/** The place of something in its list; without one it comes last. */
export const place = z.number().nullish()

/** A time of a file. What RFC 3339 cannot express in UTC is refused. */
export const foreignTime = z
  .string()
  .transform((text, context) => {
    const time = new Date(text)
    const inUtc = Number.isNaN(time.getTime()) ? '' : time.toISOString()
    if (/^\d{4}-/.test(inUtc)) return inUtc
    context.addIssue({ code: 'custom', message: 'must be a time, as 2026-11-20T12:00:00.000Z' })
    return z.NEVER
  })
  .nullish()

/**
 * Reads a file of another program.
 * @throws {AdminError} `invalid`, with the paths of the mistakes in the file
 */
export function readFileOf<T>(program: string, schema: z.ZodType<T>, text: string): T {
  let json: unknown
  try {
    json = JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text)
  } catch (error) {
    throw new AdminError('invalid', `the file is not valid JSON: ${(error as Error).message}`)
  }
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => `${formatPath(path)}: ${message}`)
  const more = problems.length > NAMED ? [`and ${problems.length - NAMED} more`] : []
  throw new AdminError('invalid', [`the file is not a board of ${program}`, ...problems.slice(0, NAMED), ...more].join('\n  '))
}

/**
 * Indexes the items of a list by id.
 * @throws {AdminError} `invalid` if an id is a duplicate
 */
export function byId<T extends { readonly id: string }>(list: string, items: readonly T[]): Map<string, T> {
  const found = new Map<string, number>()
  for (const [i, { id }] of items.entries()) {
    const first = found.get(id)
    if (first !== undefined) throw new AdminError('invalid', `${list}[${i}].id: ${JSON.stringify(id)} is also the id of ${list}[${first}]`)
    found.set(id, i)
  }
  return new Map(items.map((item) => [item.id, item]))
}

/** @throws {AdminError} `invalid` if nothing has the id that a member of the file names */
export function requireThere(what: string, items: ReadonlyMap<string, unknown>, id: string, path: string): void {
  if (!items.has(id)) throw new AdminError('invalid', `${path}: there is no ${what} ${JSON.stringify(id)}`)
}

/** Groups items by a key. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

/** The items in their order: by place, then as in the file. */
export function inOrder<T>(items: readonly T[], placeOf: (item: T) => number | null | undefined): T[] {
  return items.toSorted((a, b) => compare(placeOf(a) ?? Infinity, placeOf(b) ?? Infinity))
}

/** A time of the past: one in the future becomes `now`. */
export function past(time: string | null | undefined, now: string): string {
  return time === null || time === undefined || time > now ? now : time
}

function compare(a: number, b: number): number {
  return a < b ? -1 : Number(a > b)
}

function formatPath(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  return text.replace(/^\./, '') || 'the file'
}

import { z } from 'zod'
import { AdminError } from '../admin/deps.ts'
import type { ImportReport } from './report.ts'

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
    const inUtc = readTime(text)
    if (inUtc !== undefined) return inUtc
    context.addIssue({ code: 'custom', message: 'must be a time, as 2026-11-20T12:00:00.000Z' })
    return z.NEVER
  })
  .nullish()

/** A time as it is stored here; undefined: the text is no time, or one that RFC 3339 cannot express in UTC. */
export function readTime(text: string): string | undefined {
  const time = new Date(text)
  const inUtc = Number.isNaN(time.getTime()) ? '' : time.toISOString()
  return /^\d{4}-/.test(inUtc) ? inUtc : undefined
}

/**
 * Reads JSON.
 * @throws {AdminError} `invalid`
 */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text)
  } catch (error) {
    throw new AdminError('invalid', `the file is not valid JSON: ${(error as Error).message}`)
  }
}

/** Parts of a file as its schema has them, which leave out parts that do not. */
interface FileKind<T> {
  /** such as "a board of Trello" */
  readonly name: string
  readonly schema: z.ZodType<T>
  /** the lists that every board has: if none of the items of one can be read, the file is of another kind */
  readonly essential: readonly string[]
}

/**
 * Reads a file of another program. What does not match its schema is left out, and reported: a member if it may be absent, else the item
 * that it is a part of.
 * @param json is changed
 * @throws {AdminError} `invalid`, with the paths of the mistakes in the file, if the rest would not be a board
 */
export function readFileOf<T>({ name, schema, essential }: FileKind<T>, json: unknown, report: ImportReport): T {
  const full = essential.filter((list) => lengthOf(json, list) > 0)
  const found = new Map<string, string>()
  for (let rest = schema.safeParse(json); ; rest = schema.safeParse(json)) {
    if (rest.success) {
      for (const [path, message] of found) report.add('parts_malformed', `${path}: ${message}`)
      return rest.data
    }
    const { issues } = rest.error
    // Later mistakes follow from these.
    if (found.size === 0) for (const issue of issues) found.set(placeOf(json, issue), issue.message)
    if (withoutMembers(json, issues)) continue
    const beyond = withoutItems(json, issues).map(({ path }) => formatPath(path))
    const emptied = full.find((list) => lengthOf(json, list) === 0)
    const mistakes = emptied === undefined ? beyond : [...found.keys()].filter((path) => path.startsWith(emptied))
    if (mistakes.length === 0) continue
    const problems = mistakes.slice(0, NAMED).map((path) => `${path}: ${found.get(path) ?? 'it is required'}`)
    const more = mistakes.length > NAMED ? [`and ${mistakes.length - NAMED} more`] : []
    throw new AdminError('invalid', [`the file is not ${name}`, ...problems, ...more].join('\n  '))
  }
}

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly expected?: string
  readonly message: string
}

/** Where a mistake is. A program that writes null for a list without items does so everywhere: the place is the same for all of them. */
function placeOf(json: unknown, { path, expected }: Issue): string {
  const isNullList = expected === 'array' && valueAt(json, path) === null
  return isNullList ? formatPath(path).replaceAll(/\[\d+\]/g, '[]') : formatPath(path)
}

/** Removes the members that do not match. @returns whether there were any */
function withoutMembers(json: unknown, issues: readonly Issue[]): boolean {
  let removed = false
  for (const { path } of issues) {
    const name = path.at(-1)
    const holder = valueAt(json, path.slice(0, -1))
    if (typeof name !== 'string' || typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) continue
    delete (holder as Record<string, unknown>)[name]
    removed = true
  }
  return removed
}

/** Removes the items that lack something. @returns the issues that no item has */
function withoutItems(json: unknown, issues: readonly Issue[]): readonly Issue[] {
  const removed = new Map<unknown[], Set<number>>()
  const beyond = issues.filter(({ path }) => {
    const at = path.findLastIndex((part) => typeof part === 'number')
    const list = at === -1 ? undefined : valueAt(json, path.slice(0, at))
    if (!Array.isArray(list)) return true
    const indexes = removed.get(list) ?? new Set()
    removed.set(list, indexes.add(path[at] as number))
    return false
  })
  for (const [list, indexes] of removed) {
    const rest = list.filter((_item, i) => !indexes.has(i))
    list.length = 0
    for (const item of rest) list.push(item)
  }
  return beyond
}

/** How many items a list of a file has; 0 if it is something else. */
function lengthOf(json: unknown, list: string): number {
  const value = valueAt(json, list.split('.'))
  return Array.isArray(value) ? value.length : 0
}

function valueAt(json: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], json)
}

/** The items whose ids no item before them has. The others are reported. */
export function uniqueById<T extends { readonly id: string }>(list: string, items: readonly T[], report: ImportReport): T[] {
  const found = new Map<string, number>()
  return items.filter(({ id }, i) => {
    const first = found.get(id)
    if (first === undefined) found.set(id, i)
    else report.add('parts_malformed', `${list}[${i}].id: ${JSON.stringify(id)} is also the id of ${list}[${first}]`)
    return first === undefined
  })
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

function compare(a: number, b: number): number {
  return a < b ? -1 : Number(a > b)
}

function formatPath(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  return text.replace(/^\./, '') || 'the file'
}

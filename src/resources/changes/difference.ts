import { isDeepStrictEqual } from 'node:util'
import type { ChangeRecord } from '../../model/change.ts'
import { limits } from '../../model/limits.ts'

/** Members whose earlier value an entry keeps: ids, lists of ids, and times, by the convention of their names. */
const KEPT = /_(?:id|ids|at)$/
/** The members with texts of many lines. */
const LONG: ReadonlySet<string> = new Set(['description', 'body'])

/**
 * What changed in an object. Texts and positions are named only: a text can be long, and a position says nothing alone.
 * @returns the names of the members, in their order in the object, and what those that are ids, times or booleans were
 */
export function differenceOf(old: object, now: object): Required<Pick<ChangeRecord, 'changed' | 'from'>> {
  const before = old as Readonly<Record<string, unknown>>
  const changed: string[] = []
  const from: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(now)) {
    const earlier = before[name]
    if (name === 'updated_at' || earlier === value) continue
    if (typeof value === 'object' && isDeepStrictEqual(earlier, value)) continue
    changed.push(name)
    if (KEPT.test(name) || typeof earlier === 'boolean') from[name] = earlier ?? null
  }
  return { changed, from: from as NonNullable<ChangeRecord['from']> }
}

/** The last state of an object, without its long texts: what was deleted must not fill the feed. */
export function lastOf(object: object): NonNullable<ChangeRecord['last']> {
  const isKept = ([name, value]: [string, unknown]) => !LONG.has(name) || (value as string).length <= limits.keptText
  return Object.fromEntries(Object.entries(object).filter(isKept))
}

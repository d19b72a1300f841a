import { indexChanges } from './indexing.ts'
import type { Change, Stored, Template, Value } from './port.ts'
import type { RangeOptions } from './reads.ts'
import { NO_RECORD } from './templates.ts'

const NO_RECORDS: ReadonlyMap<string, Value> = new Map()
const NO_KEYS: ReadonlySet<string> = new Set()

/** What a transaction has written so far. */
export class Writes {
  // Most transactions only read.
  #put: Map<string, Value> | undefined
  #remove: Set<string> | undefined
  #indexes: Change['indexes'] | undefined

  get put(): ReadonlyMap<string, Value> {
    return this.#put ?? NO_RECORDS
  }

  get remove(): ReadonlySet<string> {
    return this.#remove ?? NO_KEYS
  }

  get size(): number {
    return this.put.size + this.remove.size
  }

  /** The keys that it writes, and those that it removes. */
  *keys(): Generator<string> {
    yield* this.put.keys()
    yield* this.remove
  }

  get isEmpty(): boolean {
    return this.size === 0
  }

  has(key: string): boolean {
    return this.put.has(key) || this.remove.has(key)
  }

  set(key: string, value: Value): void {
    this.#remove?.delete(key)
    ;(this.#put ??= new Map()).set(key, value)
    this.#indexes = undefined
  }

  delete(key: string): void {
    this.#put?.delete(key)
    ;(this.#remove ??= new Set()).add(key)
    this.#indexes = undefined
  }

  /** Resolves what refers to these records: storage does not know them. Without such a text, there is no other record, whatever is stored. */
  resolve(templates: readonly Template[]): readonly Template[] {
    if (this.isEmpty) return templates
    const resolved: Template[] = []
    for (const template of templates) resolved.push(typeof template === 'string' ? template : this.#resolve(template, resolved))
    return resolved
  }

  /** @param before the templates before it, resolved */
  #resolve(template: Exclude<Template, string>, before: readonly Template[]): Template {
    const parts: (typeof template)[number][] = []
    for (const part of template) {
      const source = typeof part === 'string' ? undefined : before[part.index]
      if (typeof part === 'string' || typeof source !== 'string' || !this.has(source)) parts.push(part)
      else {
        const text = this.put.get(source)?.[part.member]
        if (typeof text !== 'string') return NO_RECORD
        parts.push(text)
      }
    }
    return parts.every((part) => typeof part === 'string') ? parts.join('') : parts
  }

  /** @param before the records as they were read */
  indexes(before: ReadonlyMap<string, Stored | null>): Change['indexes'] {
    return (this.#indexes ??= indexChanges(before, this.put, this.remove))
  }
}

/** The entries that a transaction adds to an index and removes from it. Its later reads of the index must show that. */
type WrittenEntries = NonNullable<ReturnType<Change['indexes']['get']>>

/** A range that has enough stored entries, although some of them are removed. */
export function widened(options: RangeOptions, written: WrittenEntries | undefined): RangeOptions {
  return written === undefined || written.remove.length === 0 ? options : { ...options, limit: options.limit + written.remove.length }
}

/**
 * The entries of a range as the transaction leaves them.
 * @param entries the stored entries of the {@link widened} range
 * @param isCut whether the driver has left out the last entries: then none after those that it has is known
 */
export function merged(
  entries: readonly string[],
  { add, remove }: WrittenEntries,
  { after, before, reverse = false, limit }: RangeOptions,
  isCut: boolean,
): string[] {
  const last = entries.at(-1)
  const isInRange = (entry: string): boolean => {
    if ((after !== undefined && entry <= after) || (before !== undefined && entry >= before)) return false
    return !isCut || last === undefined || (reverse ? entry > last : entry < last)
  }
  const all = new Set([...entries.filter((entry) => !remove.includes(entry)), ...add.filter(isInRange)])
  const sorted = [...all].toSorted()
  return (reverse ? sorted.toReversed() : sorted).slice(0, limit)
}

/** Members with the time when something ended or was changed. */
const TIMES = new Set(['revoked_at', 'ended_at', 'updated_at'])

/**
 * Whether a change only revokes or removes. It may write tombstones and pending removals, and count fewer bytes of files. Of other records,
 * it may only empty members, take items out of lists, and note when something ended.
 * @param before the records as they were read
 */
export function onlyRemoves(before: ReadonlyMap<string, Stored | null>, put: ReadonlyMap<string, Value>): boolean {
  for (const [key, value] of put) {
    if (key.startsWith('tombstone:') || key.startsWith('removals:')) continue
    const old = before.get(key)?.value
    if (key.startsWith('file_bytes:') && Number(value['bytes']) <= Number(old?.['bytes'])) continue
    if (old === undefined || !isRemovedFrom(old, value)) return false
  }
  return true
}

function isRemovedFrom(before: Value, after: Value): boolean {
  for (const name in after) {
    const [value, old] = [after[name], before[name]]
    if (value === old || value === null || TIMES.has(name)) continue
    if (!Array.isArray(value) || !Array.isArray(old) || !value.every((item) => old.includes(item))) return false
  }
  return true
}

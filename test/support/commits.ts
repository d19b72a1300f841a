import { NO_EXPECTATION, type Change, type Store, type Stored, type Value } from '../../src/store/port.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { seededRandom, type RandomInteger } from './random.ts'

/** An attempted commit, and what is known about its outcome. */
export interface Attempt {
  readonly partition: string
  /** counts the attempts in the partition, from 1 */
  readonly number: number
  /** identifies the process lifetime of the attempt; commits are ordered only within one lifetime */
  readonly lifetime: string
  readonly change: Change
  /** `done`: it was acknowledged, or its effect was read. `not done`: it certainly had no effect. */
  outcome: 'unknown' | 'done' | 'not done'
}

/**
 * A series of commits whose effects can be verified. Each one writes, changes and removes several records and index
 * entries, and writes a mark record that is never removed. They have no expectation. The content of a store thus
 * tells which of them were applied.
 */
export class Commits {
  readonly attempts: Attempt[]
  /** misbehaviour that no fault of a disk excuses */
  readonly violations: string[]
  readonly #random: RandomInteger
  readonly #lifetime: string

  constructor(seed: number, lifetime = 'r', attempts: Attempt[] = [], violations: string[] = []) {
    this.violations = violations
    this.#random = seededRandom(seed)
    this.#lifetime = lifetime
    this.attempts = attempts
  }

  /** A copy that continues independently. */
  branch(seed: number): Commits {
    return new Commits(
      seed,
      `${this.#lifetime}.${seed}`,
      this.attempts.map((attempt) => ({ ...attempt })),
      [...this.violations],
    )
  }

  /** Attempts the next commit of a partition, and records its outcome. */
  async commit(store: Pick<Store, 'commit'>, partition: string): Promise<Attempt> {
    const attempt = this.#next(partition)
    this.attempts.push(attempt)
    try {
      const outcome = await store.commit(partition, attempt.change)
      if (outcome === 'done') attempt.outcome = 'done'
      else this.violations.push(`${attempt.change.revision} has no expectation and was a conflict`)
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) this.violations.push(`${attempt.change.revision} threw ${String(error)}`)
      else if (error.outcomeKnown) attempt.outcome = 'not done'
    }
    return attempt
  }

  /** Attempts concurrent commits in several partitions, most of them in the first partition. */
  async round(store: Pick<Store, 'commit'>, partitions: readonly string[]): Promise<void> {
    await Promise.all(
      partitions.flatMap((partition, i) =>
        Array.from({ length: 1 + this.#random(4 - Math.min(i, 2)) }, () => this.commit(store, partition)),
      ),
    )
  }

  #next(partition: string): Attempt {
    const number = this.attempts.filter((attempt) => attempt.partition === partition).length + 1
    const removed = number - 2 - this.#random(3)
    const change: Change = {
      revision: `${partition} ${number} ${this.#lifetime}`,
      expect: NO_EXPECTATION,
      // Some changes may use the reserve of a full disk.
      onlyRemoves: number % 4 === 0,
      put: new Map<string, Value>([
        [`mark:${number}`, { number }],
        ['latest:1', { number }],
        [`item:${number}`, { text: 'é'.repeat(this.#random(60)) }],
      ]),
      remove: new Set(removed > 0 ? [`item:${removed}`] : []),
      indexes: new Map([
        ['marks', { add: [entry(number)], remove: [] }],
        ['items', { add: [entry(number)], remove: removed > 0 ? [entry(removed)] : [] }],
        // An index that becomes empty and is created again.
        ['rare', number % 3 === 0 ? { add: [], remove: ['a 1'] } : { add: ['a 1'], remove: [] }],
      ]),
    }
    return { partition, number, lifetime: this.#lifetime, change, outcome: 'unknown' }
  }
}

const entry = (n: number) => `${String(n).padStart(6, '0')} ${n}`
const INDEXES = ['marks', 'items', 'rare']

/** The index entries of the records of {@link Commits}, and of those whose value names them: they follow from a record alone. */
export function entriesOfCommits(key: string, value: unknown): readonly (readonly [index: string, entry: string])[] {
  const [kind, number] = key.split(':')
  if (kind === 'mark' || kind === 'item') return [[`${kind}s`, entry(Number(number))]]
  const { number: latest = 0, i } = value as { readonly number?: number; readonly i?: string }
  if (key === 'latest:1' && latest % 3 !== 0) return [['rare', 'a 1']]
  return i === undefined ? [] : [['i', i]]
}

/**
 * Compares a store with the attempted commits: it must contain every acknowledged commit and no commit that was not
 * done, each commit in whole, and in order. Afterwards every outcome is known: what was read must not get lost, and
 * what was absent must not appear later.
 * @returns the violations
 */
export async function compare(store: Store, { attempts }: Commits): Promise<string[]> {
  const violations: string[] = []
  for (const partition of new Set(attempts.map((attempt) => attempt.partition))) {
    const inPartition = attempts.filter((attempt) => attempt.partition === partition)
    const actual = await readPartition(store, partition, inPartition)
    let missing: Attempt | undefined
    for (const attempt of inPartition) {
      const { revision } = attempt.change
      const present = actual.records.get(`mark:${attempt.number}`)?.revision === revision
      if (attempt.outcome === 'done' && !present) violations.push(`${revision} was acknowledged or read, and is lost`)
      if (attempt.outcome === 'not done' && present) violations.push(`${revision} was not done, and is present`)
      if (present && missing?.lifetime === attempt.lifetime)
        violations.push(`${revision} is present, and the earlier ${missing.change.revision} is not`)
      if (!present && attempt.outcome === 'unknown' && missing?.lifetime !== attempt.lifetime) missing = attempt
      attempt.outcome = present ? 'done' : 'not done'
    }
    const expected = contentAfter(inPartition.filter((attempt) => attempt.outcome === 'done'))
    if (!actual.dumpMatches) violations.push(`${partition} and its dump differ`)
    if (!sameContent(actual, expected))
      violations.push(`${partition} is torn: it contains ${textOf(actual)} instead of ${textOf(expected)}`)
  }
  return violations
}

/** The records of a partition in the order of their keys, and the entries of {@link INDEXES}. */
interface Content {
  readonly records: ReadonlyMap<string, Stored>
  readonly indexes: readonly (readonly string[])[]
}

async function readPartition(
  store: Store,
  partition: string,
  attempts: readonly Attempt[],
): Promise<Content & { readonly dumpMatches: boolean }> {
  const dumped: (readonly [string, Value])[] = []
  for await (const batch of store.dump(partition)) dumped.push(...batch)
  const keys = [...new Set([...attempts.flatMap(({ change }) => [...change.put.keys()]), ...dumped.map(([key]) => key)])].toSorted()
  const { records, ranges } = (await store.read(partition, {
    records: keys,
    ranges: INDEXES.map((index) => ({ index, limit: 1e6 })),
    counts: [],
    expect: NO_EXPECTATION,
  }))!
  const present = records.flatMap(({ key, stored }): [string, Stored][] => (stored === null ? [] : [[key!, stored]]))
  const dumpMatches =
    dumped.length === present.length && dumped.every(([key, value], i) => key === present[i]![0] && sameValue(value, present[i]![1].value))
  return { records: new Map(present), indexes: ranges.map(({ entries }) => entries), dumpMatches }
}

/** The content of a partition after exactly these commits. */
function contentAfter(attempts: readonly Attempt[]): Content {
  const records = new Map<string, Stored>()
  const indexes = new Map(INDEXES.map((name) => [name, new Set<string>()]))
  for (const { change } of attempts) {
    for (const [key, value] of change.put) records.set(key, { value, revision: change.revision })
    for (const key of change.remove) records.delete(key)
    for (const [name, { add, remove }] of change.indexes) {
      for (const entry of remove) indexes.get(name)!.delete(entry)
      for (const entry of add) indexes.get(name)!.add(entry)
    }
  }
  return {
    records: new Map([...records].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    indexes: [...indexes.values()].map((entries) => [...entries].toSorted()),
  }
}

/** Without a text of each: a search compares tens of thousands of contents, and almost all of them are the same. */
function sameContent(a: Content, b: Content): boolean {
  if (a.records.size !== b.records.size) return false
  for (const [key, { value, revision }] of a.records) {
    const other = b.records.get(key)
    if (other?.revision !== revision || !sameValue(value, other.value)) return false
  }
  return a.indexes.every((entries, i) => entries.length === b.indexes[i]!.length && entries.every((entry, j) => entry === b.indexes[i]![j]))
}

/** The values of {@link Commits} have no nested ones. */
function sameValue(a: Value, b: Value): boolean {
  if (a === b) return true
  const names = Object.keys(a)
  const others = Object.keys(b)
  return names.length === others.length && names.every((name, i) => name === others[i] && a[name] === b[name])
}

const textOf = ({ records, indexes }: Content) =>
  JSON.stringify([[...records].map(([key, { value, revision }]) => [key, value, revision]), indexes])

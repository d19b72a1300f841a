import type { Change, Store, Stored, Value } from '../../src/store/port.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { dice, type Dice } from './random.ts'

/** A commit that was tried, and what is known of it. */
export interface Attempt {
  readonly partition: string
  readonly number: number
  /** the life of the process that it was tried in: only within one there is an order */
  readonly life: string
  readonly change: Change
  /** done: it was acknowledged, or seen. not: it is certain that it was not done. */
  outcome: 'unknown' | 'done' | 'not'
}

/**
 * Commits of which each writes, changes and removes several records and index entries, leaves a mark of its own
 * that is never removed, and relies on nothing: so what is in a store tells which of them were done.
 */
export class Commits {
  readonly attempts: Attempt[]
  /** what no store may do, whatever its disk does */
  readonly faults: string[]
  readonly #die: Dice
  readonly #prefix: string

  constructor(seed: number, prefix = 'r', attempts: Attempt[] = [], faults: string[] = []) {
    this.faults = faults
    this.#die = dice(seed)
    this.#prefix = prefix
    this.attempts = attempts
  }

  /** The same so far, to go on from here in another way. */
  branch(seed: number): Commits {
    return new Commits(
      seed,
      `${this.#prefix}.${seed}`,
      this.attempts.map((attempt) => ({ ...attempt })),
      [...this.faults],
    )
  }

  /** Tries the next commit of a partition, and notes what becomes of it. */
  async commit(store: Pick<Store, 'commit'>, partition: string): Promise<Attempt> {
    const attempt = this.#next(partition)
    this.attempts.push(attempt)
    try {
      const outcome = await store.commit(partition, attempt.change)
      if (outcome === 'done') attempt.outcome = 'done'
      else this.faults.push(`${attempt.change.revision} relied on nothing, and was a conflict`)
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) this.faults.push(`${attempt.change.revision} threw ${String(error)}`)
      else if (error.outcomeKnown) attempt.outcome = 'not'
    }
    return attempt
  }

  /** Some at once in several partitions, the first of them the busiest. */
  async round(store: Pick<Store, 'commit'>, partitions: readonly string[]): Promise<void> {
    await Promise.all(
      partitions.flatMap((partition, i) => Array.from({ length: 1 + this.#die(4 - Math.min(i, 2)) }, () => this.commit(store, partition))),
    )
  }

  #next(partition: string): Attempt {
    const number = this.attempts.filter((attempt) => attempt.partition === partition).length + 1
    const old = number - 2 - this.#die(3)
    const at = String(number).padStart(6, '0')
    const change: Change = {
      revision: `${partition} ${number} ${this.#prefix}`,
      expect: { records: new Map(), indexes: new Map(), capacity: new Map() },
      put: new Map<string, Value>([
        [`mark:${number}`, { number }],
        ['latest:1', { number, lk1: 'lk1 1 2 00000000\n[]\n' }],
        [`thing:${number}`, { text: 'é'.repeat(this.#die(60)) }],
      ]),
      remove: new Set(old > 0 ? [`thing:${old}`] : []),
      indexes: new Map([
        ['marks', { add: [`${at} ${number}`], remove: [] }],
        ['things', { add: [`${at} ${number}`], remove: old > 0 ? [`${String(old).padStart(6, '0')} ${old}`] : [] }],
        // A list that is often empty, and then there again.
        ['rare', number % 3 === 0 ? { add: [], remove: ['a 1'] } : { add: ['a 1'], remove: [] }],
      ]),
    }
    return { partition, number, life: this.#prefix, change, outcome: 'unknown' }
  }
}

/**
 * What a store holds against what was tried: everything acknowledged, nothing that was not done, each commit
 * whole, in their order. Afterwards all is known: what was seen has to stay, and what was not may not come back.
 */
export async function compare(store: Store, { attempts }: Commits): Promise<string[]> {
  const violations: string[] = []
  for (const partition of new Set(attempts.map((attempt) => attempt.partition))) {
    const own = attempts.filter((attempt) => attempt.partition === partition)
    const seen = await look(store, partition, own)
    let missing: Attempt | undefined
    for (const attempt of own) {
      const { revision } = attempt.change
      const present = seen.revisions.get(`mark:${attempt.number}`) === revision
      if (attempt.outcome === 'done' && !present) violations.push(`${revision} was acknowledged, or seen, and is lost`)
      if (attempt.outcome === 'not' && present) violations.push(`${revision} was not done, and is there`)
      if (present && missing?.life === attempt.life)
        violations.push(`${revision} is there, and ${missing.change.revision} before it is not`)
      if (!present && attempt.outcome === 'unknown' && missing?.life !== attempt.life) missing = attempt
      attempt.outcome = present ? 'done' : 'not'
    }
    const expected = whole(own.filter((attempt) => attempt.outcome === 'done'))
    if (seen.text !== expected) violations.push(`${partition} is torn: it holds ${seen.text} instead of ${expected}`)
  }
  return violations
}

/** All that a partition holds, as text. */
async function look(store: Store, partition: string, attempts: readonly Attempt[]) {
  const dumped: (readonly [string, Value])[] = []
  for await (const piece of store.dump(partition)) dumped.push(...piece)
  const keys = [...new Set([...attempts.flatMap(({ change }) => [...change.put.keys()]), ...dumped.map(([key]) => key)])].toSorted()
  const { records, ranges } = (await store.read(partition, {
    records: keys,
    ranges: ['marks', 'things', 'rare'].map((index) => ({ index, limit: 1e6 })),
    counts: [],
    expect: { records: new Map(), indexes: new Map(), capacity: new Map() },
  }))!
  const found = records.flatMap(({ key, stored }): [string, Stored][] => (stored === null ? [] : [[key!, stored]]))
  const text = textOf(
    found,
    ranges.map(({ entries }) => entries),
  )
  const backup = dumped.map(([key, value]) => [key, value])
  const same = JSON.stringify(backup) === JSON.stringify(found.map(([key, { value }]) => [key, value]))
  return { revisions: new Map(found.map(([key, { revision }]) => [key, revision])), text: same ? text : `${text} and dumps another` }
}

/** What a partition holds in which just these were done. */
function whole(attempts: readonly Attempt[]): string {
  const records = new Map<string, Stored>()
  const indexes = new Map(['marks', 'things', 'rare'].map((name) => [name, new Set<string>()]))
  for (const { change } of attempts) {
    for (const [key, value] of change.put) records.set(key, { value, revision: change.revision })
    for (const key of change.remove) records.delete(key)
    for (const [name, { add, remove }] of change.indexes) {
      for (const entry of remove) indexes.get(name)!.delete(entry)
      for (const entry of add) indexes.get(name)!.add(entry)
    }
  }
  return textOf(
    [...records].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    [...indexes.values()].map((entries) => [...entries].toSorted()),
  )
}

const textOf = (records: readonly (readonly [string, Stored])[], ranges: readonly (readonly string[])[]) =>
  JSON.stringify([records.map(([key, { value, revision }]) => [key, value, revision]), ranges])

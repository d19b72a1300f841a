import { LRUCache } from 'lru-cache'
import type { Card } from '../model/card.ts'
import { isStuck, type ClaimRecord } from '../model/claim.ts'
import { changedKinds, type ChangedKind, type ChangeRecord } from '../model/change.ts'
import { durations } from '../model/durations.ts'
import { DAY, timestamp } from '../model/time.ts'
import type { Tombstone } from '../model/tombstone.ts'
import { indexes } from './indexes.ts'
import { entriesOf } from './indexing.ts'
import { keys } from './keys.ts'
import type { Change, Stored, Value } from './port.ts'

/** Who makes the changes of a transaction. */
export type Author = Pick<ChangeRecord, 'actor_id' | 'token_id' | 'request_id'>
/** The service itself, or its operator. */
export const SERVICE: Author = { actor_id: null, token_id: null, request_id: null }

/** How many boards a process remembers for {@link ChangeLog}. */
const REMEMBERED = 10_000
const kinds: ReadonlySet<string> = new Set(changedKinds)

/** What a transaction knows of the records that it writes. */
export interface KnownRecords {
  readonly before: ReadonlyMap<string, Stored | null>
  /** a record that was read, as the transaction leaves it */
  known(key: string): unknown
}

/**
 * Adds to a commit what it changes on boards, for the change feed. The entries are a part of the commit, so no change is without
 * one, in the order of the commits.
 *
 * A board is recognised by its record: a change of what is on it must have read it. Changes of what belongs to a deleted board or
 * card are not added.
 */
export class ChangeLog {
  readonly #clock: () => number
  /** the boards whose tombstones of a day this process has written */
  readonly #scheduled = new LRUCache<string, true>({ maxSize: REMEMBERED, sizeCalculation: () => 1 })

  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** @returns the change, with entries and with their tombstones */
  addTo(change: Change, author: Author, records: KnownRecords): Change {
    const append = new Map<string, { fetch: string; values: Value[] }>()
    const unscheduled: Tombstone[] = []
    const now = this.#clock()
    const at = timestamp(() => now)
    for (const key of [...change.put.keys(), ...change.remove]) {
      const changed = describe(key, change, records)
      if (changed === undefined) continue
      const { board_id, done } = changed
      const { name, fetch } = indexes.changes(board_id)
      const { actor_id, token_id, request_id } = author
      for (const { kind, id, action, ...more } of done) {
        const record: ChangeRecord = { at, kind, id, action, ...more, actor_id, token_id, request_id }
        const appended = append.get(name)
        if (appended !== undefined) appended.values.push(record)
        else {
          append.set(name, { fetch, values: [record] })
          if (!this.#scheduled.has(keys.tombstone(tombstoneIdOf(board_id, dayOf(now))))) unscheduled.push(tombstoneOf(board_id, now))
        }
      }
    }
    if (append.size === 0) return change
    return withTombstones(withEntries(change, change.put, change.indexes, append), unscheduled)
  }

  /** Remembers what a commit has scheduled. */
  committed({ put }: Change): void {
    // Stryker disable next-line ConditionalExpression,StringLiteral: other keys are never looked for, so they would only take space
    for (const key of put.keys()) if (key.startsWith('tombstone:')) this.#scheduled.set(key, true)
  }
}

/** The tombstone of the changes that a board has on one day: always the same, so it needs no read, and may be written again. */
function tombstoneOf(boardId: string, now: number): Tombstone {
  const day = dayOf(now)
  return {
    id: tombstoneIdOf(boardId, day),
    kind: 'changes',
    target: boardId,
    not_before: timestamp(() => (day + 1) * DAY + durations.clockSkew),
  }
}

function dayOf(now: number): number {
  return Math.floor(now / DAY)
}

/** A change with other records, entries and appended records. Written out: V8 takes microseconds to spread a change into another. */
function withEntries(
  { revision, lease, expect, onlyRemoves, remove }: Change,
  put: Change['put'],
  written: Change['indexes'],
  append: Change['append'],
): Change {
  return { revision, lease, expect, onlyRemoves, put, remove, indexes: written, append }
}

function withTombstones(change: Change, tombstones: readonly Tombstone[]): Change {
  // Stryker disable next-line ConditionalExpression: without tombstones the rest makes a copy that equals the change
  if (tombstones.length === 0) return change
  const put = new Map(change.put)
  const written = new Map(change.indexes)
  for (const tombstone of tombstones) {
    const key = keys.tombstone(tombstone.id)
    put.set(key, tombstone as unknown as Value)
    for (const [name, entry] of entriesOf(key, tombstone)) {
      const { add = [], remove = [] } = written.get(name) ?? {}
      written.set(name, { add: [...add, entry], remove })
    }
  }
  return withEntries(change, put, written, change.append)
}

/** What was done to an object. */
type Done = Pick<ChangeRecord, 'kind' | 'id' | 'action' | 'epoch' | 'attempts' | 'reason'>

/** What is changed on a board. */
interface Described {
  readonly board_id: string
  readonly done: readonly Done[]
}

/** The object that a record is: undefined if it is on no board, or if the board or the card has been deleted. */
function describe(key: string, change: Change, records: KnownRecords): Described | undefined {
  const [{ put, remove }, { before, known }] = [change, records]
  const [kind, id, userId] = key.split(':') as [kind: ChangedKind, id: string, userId?: string]
  if (!kinds.has(kind)) return undefined
  const old = before.get(key)?.value
  const value = (put.get(key) ?? old) as { readonly board_id?: string; readonly card_id?: string } | undefined
  // It was absent, and is removed.
  if (value === undefined) return undefined
  const boardOfCard = () => (known(keys.card(value.card_id!)) as { readonly board_id: string } | undefined)?.board_id
  const board_id = kind === 'board' ? id : (value.board_id ?? boardOfCard())
  if (board_id === undefined || known(keys.board(board_id)) === undefined) return undefined
  if (kind === 'claim') {
    const now = put.get(key) as ClaimRecord | undefined
    return now && { board_id, done: describeClaim(id, old as ClaimRecord | undefined, now, hasSucceeded(id, change, records)) }
  }
  const action: ChangeRecord['action'] = remove.has(key) ? 'deleted' : old === undefined ? 'created' : 'updated'
  return { board_id, done: [{ kind, id: userId ?? id, action }] }
}

/** What was done with a claim and with the work on its card. A renewal is nothing, and neither is the end of a claim that was lost. */
function describeClaim(id: string, old: ClaimRecord | undefined, now: ClaimRecord, hasSucceeded: boolean): Done[] {
  const { epoch, expires_at, attempts, question_id } = now
  const claim = { kind: 'claim', id, epoch } as const
  const work = { kind: 'work', id } as const
  const isNew = expires_at !== null && epoch !== old?.epoch
  if (old === undefined) return isNew ? [{ ...claim, action: 'claimed' }] : []
  // Not by the time: the commit follows from the time when the claim was read.
  const isLost = now.lost_epoch === old.epoch && old.lost_epoch !== old.epoch
  // What a success forgets in the same commit was an attempt, too.
  const failed = attempts > old.attempts ? attempts : isLost && !old.was_moved ? old.attempts + 1 : undefined
  const isForgotten = (failed !== undefined || old.failed_at !== null) && now.failed_at === null && !hasSucceeded
  const done: readonly (Done | false)[] = [
    old.expires_at !== null && expires_at === null && !isLost && { ...claim, action: 'released' },
    failed !== undefined && { ...work, action: 'failed', attempts: failed, reason: failed === attempts ? now.reason : null },
    isStuck(now, attempts) && !isStuck(old, old.attempts) && { ...work, action: 'stuck' },
    question_id !== null && question_id !== old.question_id && { ...work, action: 'asked' },
    old.question_id !== null && now.answer_id !== old.answer_id && { ...work, action: 'answered' },
    isForgotten && { ...work, action: 'retried' },
    isNew && { ...claim, action: 'claimed' },
  ]
  return done.filter((one) => one !== false)
}

/** Whether a commit completes a card, or moves it to another column: both forget its attempts. */
function hasSucceeded(cardId: string, { put }: Change, { before }: KnownRecords): boolean {
  const key = keys.card(cardId)
  const [old, now] = [before.get(key)?.value as Card | undefined, put.get(key) as Card | undefined]
  return now !== undefined && (now.column_id !== old?.column_id || (now.completed_at !== null && old.completed_at === null))
}

/** The id has a part of the board's, and the day. */
function tombstoneIdOf(boardId: string, day: number): string {
  return `tmb_${boardId.slice(boardId.indexOf('_') + 1).slice(0, 14)}0${String(day).padStart(5, '0')}`
}

/** The id of the tombstone that follows the one of a day, when that was due. */
export function secondTombstoneId(first: string): string {
  return `${first.slice(0, -6)}1${first.slice(-5)}`
}

/** The digits of the number of an entry: more than a driver can count. */
const DIGITS = 16

/** An entry of an index that records are appended to. Entries are ordered like their numbers. */
export function appendedEntry(number: number): string {
  return String(number).padStart(DIGITS, '0')
}

/**
 * Numbers the records that a change appends: the change then has them among those that it puts. The caller applies changes in the
 * order in which it numbers them.
 * @param lastOf the last entry of an index, with all changes that were numbered before
 */
export function numberAppended(change: Change, lastOf: (index: string) => string | undefined): Change {
  if (change.append === undefined) return change
  const put = new Map<string, Value>(change.put)
  const indexes = new Map(change.indexes)
  for (const [index, { fetch, values }] of change.append) {
    const last = Number(lastOf(index) ?? 0)
    const add = values.map((_value, i) => appendedEntry(last + 1 + i))
    for (const [i, entry] of add.entries()) put.set(fetch + entry, values[i]!)
    indexes.set(index, { add, remove: [] })
  }
  return withEntries(change, put, indexes, undefined)
}

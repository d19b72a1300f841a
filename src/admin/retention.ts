import { durations } from '../model/durations.ts'
import { limits } from '../model/limits.ts'
import { timestamp } from '../model/time.ts'
import type { Tombstone } from '../model/tombstone.ts'
import { secondTombstoneId } from '../resources/daily-tombstones.ts'
import { indexes, lastWord, type Index } from '../store/indexes.ts'
import { keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import type { AdminDeps } from './deps.ts'

// What is kept for a time and up to a number: changes, notices and the audit trail.

/** The number of records that one commit removes. Small commits do not delay requests. */
export const BATCH = 50

/**
 * One step for one kind of tombstone.
 * @returns the id of bytes to remove, if any
 */
export type Step = (tx: Transaction, tombstone: Tombstone, deps: AdminDeps) => Promise<string | undefined>

/**
 * Removes the changes of a board that are too old or too many, except the last one, which determines the next number. A
 * tombstone is due twice: after the day of the changes, when they may be too many, and when all of them are too old.
 */
export const collectChanges: Step = (tx, tombstone, { clock, changes = defaultRetention }) =>
  collectAppended(tx, tombstone, indexes.changes(tombstone.target), clock(), changes)

/** The same for the notices of a person. */
export const collectNotices: Step = (tx, tombstone, { clock }) =>
  collectAppended(tx, tombstone, indexes.notices(tombstone.target), clock(), { age: durations.notices, count: limits.noticesPerPerson })

async function collectAppended(
  tx: Transaction,
  tombstone: Tombstone,
  index: Index<{ readonly at: string }>,
  now: number,
  { age, count }: typeof defaultRetention,
): Promise<undefined> {
  const { entries, values } = await tx.range(index, { limit: BATCH + 1, weak: true })
  const [total = 0] = await tx.counts([index])
  const end = timestamp(() => now - age)
  const removable = Math.min(BATCH, total - 1)
  const fresh = values.findIndex((change, i) => i >= removable || (change !== undefined && change.at >= end && total - i <= count))
  const expired = entries.slice(0, fresh === -1 ? removable : fresh)
  if (expired.length > 0) {
    const removed = expired.map((entry) => index.fetch + entry)
    await tx.confirm(removed)
    for (const key of removed) tx.remove(key)
    return undefined
  }
  await scheduleAgain(tx, tombstone, age)
  return undefined
}

/** Removes a tombstone that was due. After the first time, it is due again when everything of its day is too old. */
async function scheduleAgain(tx: Transaction, { id: first, kind, target, not_before, again }: Tombstone, age: number): Promise<void> {
  tx.remove(keys.tombstone(first))
  if (again === true) return
  // It has another id: a process whose clock is far behind may write the first one again.
  const id = secondTombstoneId(first)
  if ((await tx.get(keys.tombstone(id))) !== undefined) return
  tx.put(keys.tombstone(id), { id, kind, target, not_before: timestamp(() => Date.parse(not_before) + age), again: true })
}

/**
 * Removes the entries of the audit trail that are too old, or too many. Their tombstone is due twice, as for changes.
 */
export const collectAudit: Step = async (tx, tombstone, { clock, auditAge = durations.audit }) => {
  const index = indexes.audit()
  const { entries } = await tx.range(index, { limit: BATCH, weak: true, entriesOnly: true })
  const [total = 0] = await tx.counts([index])
  const end = timestamp(() => clock() - auditAge)
  const expired = entries.filter((entry, i) => entry < end || total - i > limits.auditBatches).map((entry) => keys.audit(lastWord(entry)))
  if (expired.length > 0) {
    await tx.read(expired)
    for (const key of expired) tx.remove(key)
    return undefined
  }
  await scheduleAgain(tx, tombstone, auditAge)
  return undefined
}

const defaultRetention: { readonly age: number; readonly count: number } = { age: durations.changes, count: limits.changesPerBoard }

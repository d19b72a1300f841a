import { OPERATOR_AGENT } from '../../http/operator-requests.ts'
import type { AuditEntry } from '../../model/audit.ts'
import type { Card } from '../../model/card.ts'
import type { ChangeRecord } from '../../model/change.ts'
import { limits } from '../../model/limits.ts'
import { indexes } from '../../store/indexes.ts'
import type { Transaction } from '../../store/transaction.ts'
import { authorsOf } from './authors.ts'
import type { Reader } from '../reader.ts'

/** Changes of the board that a page of a history examines at most, and requests that it shows. */
export const EXAMINED = 1000
const SHOWN = 50
/** Where the entry of a request is in the audit trail: in one of the first batches of its author that follow the change. */
const BATCHES = 3
/** in milliseconds; an entry is written within a second, unless storage fails */
const BATCH_DELAY = 10_000

/** What one request changed on a card. */
export interface HistoryItem {
  readonly at: string
  /** who made it, in words */
  readonly by: string
  readonly changes: readonly ChangeRecord[]
  /** what the audit trail has of it: it names operations, where the feed knows only that the card was changed */
  readonly entries: readonly AuditEntry[]
}

/** A part of the changes of a card, newest first. */
export interface History {
  readonly items: readonly HistoryItem[]
  /** where the older changes begin; undefined: these are the oldest */
  readonly older: string | undefined
  /** whether the part has as many requests as are shown at once; if not, and there are older changes, they were not examined */
  readonly isFull: boolean
}

type Request = Pick<HistoryItem, 'at' | 'changes'> & { readonly entry: string }

/**
 * Reads what was changed on a card from the change feed of its board, which every reader of the card may read, and the names of the
 * operations from the audit trail. Only a part of the feed is read: a board can have very many changes.
 * @param card as the caller has read it in this request
 * @param before {@link History.older} of the part before; anything else begins with the newest change
 */
export async function readHistory(reader: Reader, card: Card, before: string): Promise<History> {
  const { requests, older, trail } = await reader.transact(async (tx) => {
    const found = await readRequests(tx, card, /^\d{16}$/.test(before) ? before : undefined)
    return { ...found, trail: await readEntries(tx, found.requests) }
  })
  const items = requests.map(({ at, changes }) => {
    const [{ request_id, actor_id, token_id, token_name }] = changes as [ChangeRecord]
    // The trail's entries under this id count only if they are about the card and by the same author.
    const entries = (trail.get(request_id ?? '') ?? []).filter(
      (entry) => entry.outcome === 'done' && entry.user_id === actor_id && entry.token_id === token_id && entry.ids.includes(card.id),
    )
    return { at, changes, entries, actor_id, token_id, token_name, isByOperator: entries.some(({ agent }) => agent === OPERATOR_AGENT) }
  })
  const authors = await authorsOf(reader, items)
  return {
    items: items.map(({ at, changes, entries }, i) => ({ at, by: authors[i]!, changes, entries })),
    older,
    isFull: items.length === SHOWN,
  }
}

/** Finds the requests that changed a card, or what is on it now, in a part of the feed. */
async function readRequests(
  tx: Transaction,
  card: Card,
  before: string | undefined,
): Promise<{ requests: Request[]; older: string | undefined }> {
  const part = { index: indexes.changes(card.board_id), options: { before, limit: EXAMINED, reverse: true, weak: true } } as const
  const all = { limit: limits.commentsPerCard, weak: true, entriesOnly: true } as const
  const lists = [indexes.subtasks(card.id), indexes.comments(card.id), indexes.attachments(card.id)]
  const { ranges } = await tx.load({ ranges: [part, ...lists.map((index) => ({ index, options: all }))] })
  const [feed, ...owned] = ranges as unknown as [{ entries: string[]; values: (ChangeRecord | undefined)[] }, ...{ entries: string[] }[]]
  const ids = new Set([card.id, ...owned.flatMap(({ entries }) => entries.map((entry) => entry.slice(entry.lastIndexOf(' ') + 1)))])
  const requests: (Request & { changes: ChangeRecord[] })[] = []
  for (const [i, change] of feed.values.entries()) {
    if (change === undefined || !ids.has(change.id)) continue
    const last = requests.at(-1)
    if (last !== undefined && change.request_id !== null && last.changes[0]!.request_id === change.request_id) last.changes.unshift(change)
    else if (requests.length === SHOWN) return { requests, older: feed.entries[i - 1] }
    else requests.push({ at: change.at, changes: [change], entry: feed.entries[i]! })
  }
  return { requests, older: feed.entries.length < EXAMINED ? undefined : feed.entries.at(-1) }
}

/** Reads the entries of the audit trail around requests, by the ids of requests. Those that it does not find are in a busier part of it. */
async function readEntries(tx: Transaction, requests: readonly Request[]): Promise<Map<string, AuditEntry[]>> {
  const found = new Map<string, AuditEntry[]>()
  const seen = new Set<string>()
  for (const { at, changes } of requests.toReversed()) {
    const [{ actor_id, request_id }] = changes as [ChangeRecord]
    if (actor_id === null || request_id === null || found.has(request_id) || !changes.some(isUpdate)) continue
    const before = new Date(Date.parse(at) + BATCH_DELAY).toISOString()
    const { values } = await tx.range(indexes.auditOf(actor_id), { after: at, before, limit: BATCHES, weak: true })
    for (const batch of values) {
      if (batch === undefined || seen.has(batch.id)) continue
      seen.add(batch.id)
      for (const entry of batch.entries) found.set(entry.request_id, [...(found.get(entry.request_id) ?? []), entry])
    }
  }
  return found
}

/** Whether the feed does not say how the card was changed. */
export function isUpdate({ kind, action }: ChangeRecord): boolean {
  return kind === 'card' && action === 'updated'
}

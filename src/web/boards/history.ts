import { OPERATOR_AGENT } from '../../http/member-requests.ts'
import type { AuditEntry } from '../../model/audit.ts'
import type { Card } from '../../model/card.ts'
import type { ChangeRecord } from '../../model/change.ts'
import { limits } from '../../model/limits.ts'
import { indexes } from '../../store/indexes.ts'
import { keys, type Key } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { authorsOf } from './authors.ts'
import type { People } from './people.ts'
import { quoted } from '../phrases.ts'
import type { KnownChange, Names } from './told-changes.ts'
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
  readonly changes: readonly KnownChange[]
}

/** A part of the changes of a card, newest first. */
export interface History {
  readonly items: readonly HistoryItem[]
  readonly names: Names
  /** where the older changes begin; undefined: these are the oldest */
  readonly older: string | undefined
  /** whether the part has as many requests as are shown at once; if not, and there are older changes, they were not examined */
  readonly isFull: boolean
}

type Request = Pick<HistoryItem, 'at' | 'changes'>

/**
 * Reads what was changed on a card from the change feed of its board, which every reader of the card may read. Only a part of the feed is
 * read: a board can have very many changes.
 * @param card as the caller has read it in this request
 * @param before {@link History.older} of the part before; anything else begins with the newest change
 */
export async function readHistory(reader: Reader, card: Card, people: People, before: string): Promise<History> {
  const { requests, older, trail, names } = await reader.transact(async (tx) => {
    const found = await readRequests(tx, card, /^\d{16}$/.test(before) ? before : undefined)
    return { ...found, trail: await readEntries(tx, found.requests), names: await readNames(tx, found.requests) }
  })
  const made = requests.map(({ changes }) => {
    const [{ request_id, actor_id, token_id, token_name }] = changes as readonly [KnownChange]
    // The trail's entries under this id count only if they are about the card and by the same author.
    const isByOperator = (trail.get(request_id ?? '') ?? []).some(
      ({ agent, user_id, ids }) => agent === OPERATOR_AGENT && user_id === actor_id && ids.includes(card.id),
    )
    return { actor_id, token_id, token_name, isByOperator }
  })
  const authors = await authorsOf(reader, made)
  return {
    items: requests.map((request, i) => ({ ...request, by: authors[i]! })),
    names: { ...names, card: await readCards(reader, requests), person: (id) => people.nameOf(id) },
    older,
    isFull: requests.length === SHOWN,
  }
}

/** Finds the requests that changed a card, or what is on it, in a part of the feed. */
async function readRequests(
  tx: Transaction,
  { id: cardId, board_id }: Card,
  before: string | undefined,
): Promise<{ requests: readonly Request[]; older: string | undefined }> {
  const part = { index: indexes.changes(board_id), options: { before, limit: EXAMINED, reverse: true, weak: true } } as const
  const all = { limit: limits.commentsPerCard, weak: true, entriesOnly: true } as const
  const lists = [indexes.subtasks(cardId), indexes.comments(cardId), indexes.attachments(cardId)]
  // The card as the newest of these changes has left it.
  const { records, ranges } = await tx.load({
    records: [keys.card(cardId)],
    ranges: [part, ...lists.map((index) => ({ index, options: all }))],
  })
  const [feed, ...owned] = ranges as unknown as [{ entries: string[]; values: (ChangeRecord | undefined)[] }, ...{ entries: string[] }[]]
  const ids = new Set([cardId, ...owned.flatMap(({ entries }) => entries.map((entry) => entry.slice(entry.lastIndexOf(' ') + 1)))])
  const requests: (Request & { changes: KnownChange[] })[] = []
  // What is known of the card at the place in the feed.
  let known: Values = before === undefined ? (records[0] ?? {}) : {}
  for (const [i, change] of feed.values.entries()) {
    // What was on the card and was deleted.
    if (change?.last?.['card_id'] === cardId) ids.add(change.id)
    if (change === undefined || !ids.has(change.id)) continue
    const last = requests.at(-1)
    const isSame = last !== undefined && change.request_id !== null && last.changes[0]!.request_id === change.request_id
    if (!isSame && requests.length === SHOWN) return { requests, older: feed.entries[i - 1] }
    const told = { ...change, to: change.kind === 'card' ? known : {}, title: titleOf(change.last) }
    // A change of an earlier version does not say what it changed.
    if (change.kind === 'card') known = change.changed === undefined ? {} : { ...known, ...change.from }
    if (isSame) last.changes.unshift(told)
    else requests.push({ at: change.at, changes: [told] })
  }
  return { requests, older: feed.entries.length < EXAMINED ? undefined : feed.entries.at(-1) }
}
type Values = KnownChange['to']

function titleOf(object: Readonly<Record<string, unknown>> | undefined): string | undefined {
  return (object?.['title'] ?? object?.['name']) as string | undefined
}

/** Reads the names of columns, labels, subtasks and attachments. All of them are on the board, which the person may read. */
async function readNames(tx: Transaction, requests: readonly Request[]): Promise<Pick<Names, 'column' | 'label' | 'titleOf'>> {
  const changes = requests.flatMap((request) => request.changes)
  const valuesOf = (member: string) => new Set(changes.flatMap(({ from, to }) => [from?.[member], to[member]]).flat())
  const ids = changes.flatMap(({ kind, id, action }) => (TITLED.has(kind) && action !== 'deleted' ? [`${kind}:${id}`] : []))
  const named = [
    ...idsIn(valuesOf('column_id')).map((id) => keys.column(id)),
    ...idsIn(valuesOf('label_ids')).map((id) => keys.label(id)),
    ...new Set(ids as Key<object>[]),
  ]
  const records = await tx.read(named as readonly Key<object>[])
  const titles = new Map(named.map((key, i) => [key.slice(key.indexOf(':') + 1), titleOf(records[i] as Record<string, unknown>)]))
  const find = (id: string) => titles.get(id)
  return { column: find, label: find, titleOf: find }
}
const TITLED: ReadonlySet<string> = new Set(['subtask', 'attachment'])

function idsIn(values: ReadonlySet<unknown>): string[] {
  return [...values].filter((value) => typeof value === 'string')
}

/** Cards that changes name at most. */
const MOST_CARDS = 20

/** Reads the cards that blocked the card, as the person may read them. */
async function readCards(reader: Reader, requests: readonly Request[]): Promise<Names['card']> {
  const lists = requests.flatMap(({ changes }) => changes.filter(({ from }) => from?.['blocker_ids'] !== undefined))
  const ids = new Set(lists.flatMap(({ from, to }) => [from!['blocker_ids'], to['blocker_ids']]).flat())
  const asked = idsIn(ids).slice(0, MOST_CARDS)
  const cards = await Promise.all(asked.map((card_id) => reader.find<Card>('cards.read', { card_id })))
  const found = new Map(asked.flatMap((id, i) => (cards[i] === undefined ? [] : [[id, cards[i]] as const])))
  return (id) => {
    const card = found.get(id)
    return card && quoted(id, card.title, `${reader.base}/cards/${id}`)
  }
}

/**
 * Reads the entries of the audit trail around the requests of people, by the ids of requests: they know which of them the operator made.
 * Those that it does not find are in a busier part of it.
 */
async function readEntries(tx: Transaction, requests: readonly Request[]): Promise<Map<string, AuditEntry[]>> {
  const found = new Map<string, AuditEntry[]>()
  const seen = new Set<string>()
  for (const { at, changes } of requests.toReversed()) {
    const [{ actor_id, token_id, request_id }] = changes as readonly [KnownChange]
    if (actor_id === null || token_id !== null || request_id === null || found.has(request_id)) continue
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

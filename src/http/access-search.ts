import type { Found, FoundAction, SearchPage } from '../resources/access/search-schema.ts'
import { boardCandidates } from '../resources/boards/queries.ts'
import { namesInPath } from '../resources/operation.ts'
import { indexes, type Index } from '../store/indexes.ts'
import { assumedCaller } from '../authz/assumed-caller.ts'
import type { Card } from '../model/card.ts'
import { ApiError } from '../model/errors.ts'
import type { Membership } from '../model/workspace.ts'
import { loadTarget, parentBoard } from '../resources/targets.ts'
import type { ItemRecord } from './decision-record.ts'
import { decideAll, weightOf, type AskingAttempt } from './evaluation.ts'
import { hasScope, requireVisible } from './permission.ts'
import type { Evaluated } from './question.ts'

// The search of AuthZEN 1.0 (§8): it finds what evaluations of the same questions would allow, and decides each as they do.

/** Candidates that are read and decided at once, at least. */
const AT_ONCE = 25
/** Candidates that are decided for one page. A page that has found less by then ends there. */
const FOR_A_PAGE = 400

/** Something that was found, and its position in the order of the search. */
interface Place<Item> {
  readonly position: string
  readonly item: Item
}

/** Something that a search decides about. */
interface Candidate<Item> {
  readonly position: string
  /** undefined: it was deleted, and its index entry is not collected yet */
  readonly item: Item | undefined
}

/** What a search goes through. */
interface Searched<Item> {
  /** The next candidates after a position, in an order that does not change. */
  read(after: string | undefined, limit: number): Promise<{ readonly candidates: readonly Candidate<Item>[]; readonly more: boolean }>
  /** the question about one of them */
  questionOf(item: Item): Evaluated
  /** what is another one in each question: its record does not have it */
  readonly varies: 'resource' | 'subject'
  /** whether the caller may know of each of them; otherwise, of those alone whose answer is not 404 */
  readonly isKnown: boolean
}

/**
 * Finds the operations that may be performed on a resource. One that must name something that the search does not name is found if it
 * is allowed with some of it.
 * @param asked the operations behind the last page
 * @throws {ApiError} `rate_limited`
 */
export async function searchActions(
  attempt: AskingAttempt,
  asked: readonly Evaluated[],
  { limit }: Pick<SearchPage, 'limit'>,
): Promise<Found<FoundAction>> {
  const { services, unit, record, turn } = attempt
  await attempt.chargeStated({ questions: asked.reduce((sum, one) => sum + weightOf(attempt, one), 0) })
  const records: ItemRecord[] = [...(record.evaluations ?? [])]
  record.evaluations = records
  const results = await decideAll(services, unit, asked, records, turn)
  const found = asked.flatMap(({ operation: { id: name }, open }, i) =>
    results[i]!.decision ? [{ position: name, item: { name, ...(open.length > 0 && { properties: { requires: [...open] } }) } }] : [],
  )
  return toFound(found, limit)
}

/**
 * Finds the boards that the caller can see and an operation may be performed on, oldest first.
 * @param one the question; its first parameter is what is searched for
 * @throws {ApiError} `rate_limited`
 */
export function searchBoards(attempt: AskingAttempt, one: Evaluated, page: SearchPage): Promise<Found<string>> {
  const searched: Searched<string> = {
    async read(after, limit) {
      const { candidates, more } = await boardCandidates(attempt.unit, after, limit)
      return { candidates: candidates.map(({ position, item }) => ({ position, item: item?.data.id })), more }
    },
    questionOf: (id) => withTarget(one, id),
    varies: 'resource',
    isKnown: false,
  }
  return search(attempt, one, searched, page)
}

/**
 * Finds the cards of a board that an operation may be performed on, archived ones included, in the order of their ids. A board that the
 * caller has no access to has none, like one that does not exist.
 * @throws {ApiError} `rate_limited`
 */
export async function searchCards(attempt: AskingAttempt, one: Evaluated, boardId: string, page: SearchPage): Promise<Found<string>> {
  if (hasScope(attempt.services, one.operation, one.caller) && !(await isSeen(attempt, one, boardId))) return NOTHING
  const searched: Searched<Card> = {
    read: (after, limit) => readIndex(attempt, indexes.boardCards(boardId), after, limit),
    questionOf: ({ id }) => withTarget(one, id),
    varies: 'resource',
    isKnown: true,
  }
  const { items, next } = await search(attempt, one, searched, page)
  return { items: items.map(({ id }) => id), next }
}

/**
 * Finds the members who may perform an operation, in the order in which they joined.
 * @param one the question about the caller, with the scope that is asked about
 * @throws {ApiError} `rate_limited`
 */
export async function searchMembers(attempt: AskingAttempt, one: Evaluated, page: SearchPage): Promise<Found<string>> {
  const { workspaceId, token } = one.caller
  const searched: Searched<Membership> = {
    read: (after, limit) => readIndex(attempt, indexes.members(), after, limit),
    questionOf: (membership) => ({ ...one, caller: assumedCaller(membership, workspaceId, token!.scopes) }),
    varies: 'subject',
    isKnown: true,
  }
  const { items, next } = await search(attempt, one, searched, page)
  return { items: items.map(({ user_id }) => user_id), next }
}

const NOTHING = { items: [], next: undefined }

/** Whether the caller has access to a board, whoever is asked about. */
async function isSeen({ services, unit, record }: AskingAttempt, { operation }: Evaluated, boardId: string): Promise<boolean> {
  const own: ItemRecord = { operation: operation.id }
  try {
    const board = await loadTarget(parentBoard, unit.with({ params: { board_id: boardId } }))
    requireVisible(services, operation, unit.caller, board, own)
    return true
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
    own.code = error.code
    record.evaluations = [...(record.evaluations ?? []), own]
    return false
  }
}

async function readIndex<Item>({ unit }: AskingAttempt, index: Index<Item>, after: string | undefined, limit: number) {
  const { entries, values } = await unit.tx.range(index, { after, limit })
  return { candidates: entries.map((position, i) => ({ position, item: values[i] })), more: entries.length >= limit }
}

function withTarget(one: Evaluated, id: string): Evaluated {
  const [parameter] = namesInPath(one.operation.path)
  return { ...one, params: { ...one.params, [parameter!]: id } }
}

/** @param one a question that has the scope of all that follow */
async function search<Item>(
  attempt: AskingAttempt,
  one: Evaluated,
  { read, questionOf, varies, isKnown }: Searched<Item>,
  { limit, after }: SearchPage,
): Promise<Found<Item>> {
  const { services, unit, record: ofAttempt, turn } = attempt
  const before = ofAttempt.evaluations ?? []
  const counted = new Map<string, ItemRecord>()
  const decide = async (asked: readonly Evaluated[]) => {
    const records: ItemRecord[] = []
    const results = await decideAll(services, unit, asked, records, turn)
    for (const record of records) countRecord(counted, { ...record, [varies]: undefined })
    ofAttempt.evaluations = [...before, ...counted.values()]
    return results
  }
  // If the scope is not enough, nothing is read.
  if (!hasScope(services, one.operation, one.caller)) {
    await decide([one])
    return NOTHING
  }
  const found: Place<Item>[] = []
  let [examined, questions] = [0, 0]
  let last = after
  let lastKnown: string | undefined
  for (;;) {
    const { candidates, more } = await read(last, Math.max(limit + 1 - found.length, AT_ONCE))
    const places = candidates.flatMap(({ position, item }) => (item === undefined ? [] : [{ position, item, asked: questionOf(item) }]))
    examined += places.length
    for (const { asked } of places) questions += weightOf(attempt, asked)
    await attempt.chargeStated({ questions })
    const results = await decide(places.map(({ asked }) => asked))
    for (const [i, { position, item }] of places.entries()) {
      const { decision, context } = results[i]!
      if (decision) found.push({ position, item })
      // A page token reveals only what the caller may see.
      if (isKnown || decision || context.code !== 'not_found' || context.parameter !== undefined) lastKnown = position
    }
    if (!more || found.length > limit) return toFound(found, limit)
    if (examined >= FOR_A_PAGE && lastKnown !== undefined) return { items: found.map(({ item }) => item), next: lastKnown }
    last = candidates.at(-1)!.position
  }
}

function toFound<Item>(found: readonly Place<Item>[], limit: number): Found<Item> {
  const page = found.slice(0, limit)
  return { items: page.map(({ item }) => item), next: found.length > limit ? page.at(-1)!.position : undefined }
}

/** Adds the record of a search: the same ones are one, with their number. So few facts make few lines. */
function countRecord(known: Map<string, ItemRecord>, record: ItemRecord): void {
  const key = JSON.stringify(record)
  const same = known.get(key)
  if (same === undefined) known.set(key, { ...record, count: 1 })
  else same.count!++
}

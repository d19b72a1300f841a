import { OWN_ID } from '../model/fields.ts'
import type { Evaluation } from '../resources/access/schema.ts'
import type { ActionQuestion, Found, FoundAction, FoundResource, ResourceQuestion, SearchPage } from '../resources/access/search-schema.ts'
import { boardCandidates } from '../resources/boards/queries.ts'
import { namesInPath, type OperationRequest } from '../resources/operation.ts'
import type { ItemRecord } from './decision-record.ts'
import { Issues, type Refuse } from '../model/validation.ts'
import { decideAll, type AskingAttempt, type EvaluationServices } from './evaluation.ts'
import { hasScope } from './permission.ts'
import { checkSubject, furtherNames, NO_OPERATION, readNames, typeOf, UNKNOWN_MEMBER, unknownMembers, type Evaluated } from './question.ts'

// The search of AuthZEN 1.0 (§8): it finds what evaluations of the same questions would allow, and decides each as they do.

/** The type of the resources that can be searched for: an index has those that the caller may see, in an order that does not change. */
const BOARD = 'board'
/** Boards that are read and decided at once, at least. */
const AT_ONCE = 25
/** Boards that are decided for one page. A page that has found less by then ends there. */
const FOR_A_PAGE = 400

/** The subject of a search that names none. */
const OWN_TOKEN: Evaluation['subject'] = { type: 'token', id: OWN_ID }

/** Something that was found, and its position in the order of the search. */
interface Place<Item> {
  readonly position: string
  readonly item: Item
}

/**
 * Finds the operations that the caller may perform on a resource. One that must name something that the search does not name is found if it
 * is allowed with some of it.
 * @throws {ApiError} `validation_failed`, `rate_limited`
 */
export async function findActions(
  attempt: AskingAttempt,
  { subject = OWN_TOKEN, resource }: ActionQuestion,
  { limit, after }: SearchPage,
): Promise<Found<FoundAction>> {
  const { services, unit, record, turn } = attempt
  const { caller } = unit
  const issues = new Issues()
  const refused = new Set<string>()
  // Many operations may have the same issue.
  const refuse: Refuse = (path, message) => {
    if (!refused.has(path)) issues.refuse(path, message)
    refused.add(path)
  }
  checkSubject(caller, subject, refuse)
  const { type, properties = {} } = resource
  const ofType = services.operations.filter((operation) => typeOf(operation) === type)
  if (ofType.length === 0) refuse('resource.type', `must be one of ${[...new Set(services.operations.map(typeOf))].join(', ')}`)
  const taken = new Set(ofType.flatMap(furtherNames))
  for (const name of Object.keys(properties))
    if (!taken.has(name)) refuse(`resource.properties.${name}`, 'names nothing in an operation on this resource')
  const asked = ofType.slice(ofType.findIndex(({ id }) => id === after) + 1).map((operation) => {
    const names = furtherNames(operation)
    const own = Object.fromEntries(Object.entries(properties).filter(([name]) => names.includes(name)))
    return readNames(operation, caller, undefined, { id: resource.id, properties: own }, refuse, true)
  })
  issues.throwIfAny()
  await attempt.chargeStated({ questions: asked.length })
  const records: ItemRecord[] = []
  record.evaluations = records
  const results = await decideAll(services, unit, asked, records, turn)
  const found = asked.flatMap(({ operation: { id: name }, open }, i) =>
    results[i]!.decision ? [{ position: name, item: { name, ...(open.length > 0 && { properties: { requires: [...open] } }) } }] : [],
  )
  return toFound(found, limit)
}

/**
 * Finds the boards that the caller may perform an operation on, oldest first.
 * @throws {ApiError} `validation_failed`, `rate_limited`
 */
export async function findResources(
  attempt: AskingAttempt,
  question: ResourceQuestion,
  { limit, after }: SearchPage,
): Promise<Found<FoundResource>> {
  const { services, unit, record: ofAttempt, turn } = attempt
  const one = readResourceQuestion(services, unit, question)
  const counted = new Map<string, ItemRecord>()
  const decide = async (asked: readonly Evaluated[]) => {
    const records: ItemRecord[] = []
    const results = await decideAll(services, unit, asked, records, turn)
    for (const record of records) countRecord(counted, record)
    ofAttempt.evaluations = [...counted.values()]
    return results
  }
  // If the scope of the token is not enough, no board is read.
  if (!hasScope(services, one.operation, unit.caller)) {
    await decide([one])
    return { items: [], next: undefined }
  }
  const [parameter] = namesInPath(one.operation.path)
  const found: Place<FoundResource>[] = []
  let examined = 0
  let last = after
  let lastVisible: string | undefined
  for (;;) {
    const { candidates, more } = await boardCandidates(unit, last, Math.max(limit + 1 - found.length, AT_ONCE))
    const boards = candidates.flatMap(({ position, item }) => (item === undefined ? [] : [{ position, id: item.data.id }]))
    examined += boards.length
    await attempt.chargeStated({ questions: examined })
    const results = await decide(boards.map(({ id }) => ({ ...one, params: { ...one.params, [parameter!]: id } })))
    for (const [i, { position, id }] of boards.entries()) {
      const { decision, context } = results[i]!
      if (decision) found.push({ position, item: { type: BOARD, id } })
      // A page token reveals only what the caller may see.
      if (decision || context.code !== 'not_found' || context.parameter !== undefined) lastVisible = position
    }
    if (!more || found.length > limit) return toFound(found, limit)
    if (examined >= FOR_A_PAGE && lastVisible !== undefined) return { items: found.map(({ item }) => item), next: lastVisible }
    last = candidates.at(-1)!.position
  }
}

/**
 * Reads the question that is asked about each board.
 * @throws {ApiError} `validation_failed`
 */
function readResourceQuestion(
  { operations }: EvaluationServices,
  { caller }: OperationRequest,
  { subject = OWN_TOKEN, action, resource: { type, properties } }: ResourceQuestion,
): Evaluated {
  const issues = new Issues()
  checkSubject(caller, subject, issues.refuse)
  if (type !== BOARD) issues.refuse('resource.type', 'must be board: list other resources, and ask /access/evaluations about them')
  const operation = operations.find(({ id }) => id === action.name)
  if (operation === undefined) issues.refuse('action.name', NO_OPERATION)
  else if (typeOf(operation) !== BOARD) issues.refuse('action.name', `is no operation on a board, but on a ${typeOf(operation)}`)
  issues.throwIfAny()
  const one = readNames(operation!, caller, action.properties, { id: '', properties }, issues.refuse, true)
  for (const name of unknownMembers(one)) issues.refuse(`action.properties.${name}`, UNKNOWN_MEMBER)
  issues.throwIfAny()
  return one
}

function toFound<Item>(found: readonly Place<Item>[], limit: number): Found<Item> {
  const page = found.slice(0, limit)
  return { items: page.map(({ item }) => item), next: found.length > limit ? page.at(-1)!.position : undefined }
}

/**
 * Adds the record of a search for resources: those that differ in the resource alone are one, with their number. So few facts make few
 * lines.
 */
function countRecord(known: Map<string, ItemRecord>, { resource: _one, ...record }: ItemRecord): void {
  const key = JSON.stringify(record)
  const same = known.get(key)
  if (same === undefined) known.set(key, { ...record, count: 1 })
  else same.count!++
}

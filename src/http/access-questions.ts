import { assumedCaller } from '../authz/assumed-caller.ts'
import { scopes } from '../model/token.ts'
import { OWN_ID } from '../model/fields.ts'
import { Issues, type Refuse } from '../model/validation.ts'
import type { Evaluation } from '../resources/access/schema.ts'
import type {
  ActionQuestion,
  Found,
  FoundAction,
  FoundResource,
  FoundSubject,
  ResourceQuestion,
  SearchPage,
  SubjectQuestion,
} from '../resources/access/search-schema.ts'
import type { Operation } from '../resources/operation.ts'
import { searchActions, searchBoards, searchMembers } from './access-search.ts'
import type { AskingAttempt } from './evaluation.ts'
import { checkSubject, furtherNames, NO_OPERATION, readNames, typeOf, UNKNOWN_MEMBER, unknownMembers, type Evaluated } from './question.ts'

// The searches below /v1. What they name must exist in the contract: a mistake is refused.

/** The type of the resources that are searched for below /v1. */
const BOARD = 'board'

/** The subject of a search that names none. */
const OWN_TOKEN: Evaluation['subject'] = { type: 'token', id: OWN_ID }

/**
 * Finds the operations that the caller may perform on a resource.
 * @throws {ApiError} `validation_failed`, `rate_limited`
 */
export async function findActions(
  attempt: AskingAttempt,
  { subject = OWN_TOKEN, resource }: ActionQuestion,
  { limit, after }: SearchPage,
): Promise<Found<FoundAction>> {
  const { services, unit } = attempt
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
  const asked = operationsAfter(ofType, after).map((operation) => {
    const own = { id: resource.id, properties: propertiesOf(operation, properties) }
    return readNames(operation, caller, undefined, own, refuse, true)
  })
  issues.throwIfAny()
  return searchActions(attempt, asked, { limit })
}

/** The operations behind the one that ended the last page. */
export function operationsAfter(operations: readonly Operation[], after: string | undefined): readonly Operation[] {
  return operations.slice(operations.findIndex(({ id }) => id === after) + 1)
}

/** Those properties of a resource that an operation takes. */
export function propertiesOf(operation: Operation, properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const names = furtherNames(operation)
  return Object.fromEntries(Object.entries(properties).filter(([name]) => names.includes(name)))
}

/**
 * Finds the boards that the caller may perform an operation on.
 * @throws {ApiError} `validation_failed`, `rate_limited`
 */
export async function findResources(
  attempt: AskingAttempt,
  { subject = OWN_TOKEN, action, resource: { type, properties } }: ResourceQuestion,
  page: SearchPage,
): Promise<Found<FoundResource>> {
  const issues = new Issues()
  checkSubject(attempt.unit.caller, subject, issues.refuse)
  if (type !== BOARD) issues.refuse('resource.type', 'must be board: list other resources, and ask /access/evaluations about them')
  const operation = findOperation(attempt, action.name, issues.refuse)
  if (operation !== undefined && typeOf(operation) !== BOARD)
    issues.refuse('action.name', `is no operation on a board, but on a ${typeOf(operation)}`)
  issues.throwIfAny()
  return foundAs(BOARD, await searchBoards(attempt, readOpen(attempt, operation!, action, { id: '', properties }), page))
}

/**
 * Finds the members who may perform an operation on a resource.
 * @throws {ApiError} `validation_failed`, `rate_limited`
 */
export async function findSubjects(
  attempt: AskingAttempt,
  { subject, action, resource }: SubjectQuestion,
  page: SearchPage,
): Promise<Found<FoundSubject>> {
  const { caller } = attempt.unit
  const issues = new Issues()
  const operation = findOperation(attempt, action.name, issues.refuse)
  if (operation !== undefined && typeOf(operation) !== resource.type)
    issues.refuse('resource.type', `must be ${typeOf(operation)} for ${operation.id}`)
  issues.throwIfAny()
  const { scope = scopes.at(-1)! } = subject?.properties ?? {}
  const one = readOpen(attempt, operation!, action, resource)
  const self = assumedCaller(caller.membership, caller.workspaceId, [scope])
  return foundAs('user', await searchMembers(attempt, { ...one, caller: self }, page))
}

/** What was found, as entities of a type. */
export function foundAs<const Type extends string>(type: Type, { items, next }: Found<string>): Found<{ type: Type; id: string }> {
  return { items: items.map((id) => ({ type, id })), next }
}

function findOperation({ services }: AskingAttempt, name: string, refuse: Refuse): Operation | undefined {
  const operation = services.operations.find(({ id }) => id === name)
  if (operation === undefined) refuse('action.name', NO_OPERATION)
  return operation
}

/**
 * Reads the question of a search. What it must name, and does not, is open.
 * @throws {ApiError} `validation_failed`
 */
function readOpen(
  { unit }: AskingAttempt,
  operation: Operation,
  action: Evaluation['action'],
  resource: Pick<Evaluation['resource'], 'id' | 'properties'>,
): Evaluated {
  const issues = new Issues()
  const one = readNames(operation, unit.caller, action.properties, resource, issues.refuse, true)
  for (const name of unknownMembers(one)) issues.refuse(`action.properties.${name}`, UNKNOWN_MEMBER)
  issues.throwIfAny()
  return one
}

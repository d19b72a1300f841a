import { assumedCaller } from '../authz/assumed-caller.ts'
import type { Caller } from '../authz/context.ts'
import { ApiError, notFound } from '../model/errors.ts'
import { OWN_ID } from '../model/fields.ts'
import { isId } from '../model/ids.ts'
import { scopes as allScopes } from '../model/token.ts'
import { invalidMember, Issues } from '../model/validation.ts'
import { isActive } from '../model/workspace.ts'
import type { AskedActions, AskedQuestion, AskedResources, AskedSubjects, DecisionPoint } from '../resources/access/authzen.ts'
import type { EvaluationResult, Semantic } from '../resources/access/schema.ts'
import type { Found, SearchPage } from '../resources/access/search-schema.ts'
import type { Operation } from '../resources/operation.ts'
import { keys } from '../store/keys.ts'
import { foundAs, operationsAfter, propertiesOf } from './access-questions.ts'
import { searchActions, searchBoards, searchCards, searchMembers } from './access-search.ts'
import { shapeOf } from './body-members.ts'
import type { ItemRecord } from './decision-record.ts'
import { decideAll, STOPS, type AskingAttempt, type Undecidable } from './evaluation.ts'
import { requireAccess, requireScope } from './permission.ts'
import { readNames, typeOf, type Evaluated } from './question.ts'

// Questions as AuthZEN 1.0 has them: what is unknown is no mistake of the request, so it is answered with a denial or with nothing.

const BOARD = 'board'
const CARD = 'card'
const USER = 'user'
const TOKEN = 'token'
/** The operation that asks about others: who may perform it may ask whether they may do one thing. */
const ASKS_ABOUT_OTHERS = 'access.search_subject'

type AskedSubject = AskedQuestion['subject']
type NamedResource = Pick<AskedQuestion['resource'], 'id' | 'properties'>
/** Another person whom a question is about, before it is known who that is. */
interface Other {
  readonly userId: string
  readonly scopes: readonly string[]
}

/** The decision point for one request. */
export class DecisionPointOfAttempt implements DecisionPoint {
  readonly #attempt: AskingAttempt
  readonly #records: ItemRecord[] = []

  constructor(attempt: AskingAttempt) {
    this.#attempt = attempt
  }

  async evaluate(asked: AskedQuestion): Promise<EvaluationResult> {
    const other = readSubject(this.#caller, asked.subject)
    if ('scopes' in other) await this.#requireOthers()
    const [result] = await this.evaluateAll([asked], 'execute_all')
    return result!
  }

  async evaluateAll(asked: readonly (AskedQuestion | ApiError)[], semantic: Semantic): Promise<EvaluationResult[]> {
    const { services, unit, record, turn } = this.#attempt
    const subjects = asked.map((one) => (one instanceof ApiError ? one : readSubject(this.#caller, one.subject)))
    const others = subjects.filter((one) => 'scopes' in one)
    await this.#attempt.chargeStated({ questions: asked.length + others.length })
    const callers = await this.#loadOthers(others)
    const questions: (Evaluated | Undecidable)[] = []
    for (const [i, one] of asked.entries()) {
      await turn.spent()
      const subject = subjects[i]!
      const caller = 'scopes' in subject ? callers(subject) : subject
      questions.push(caller instanceof ApiError ? { error: caller } : readQuestion(this.#attempt, caller, one as AskedQuestion))
    }
    record.evaluations = this.#records
    return decideAll(services, unit, questions, this.#records, turn, STOPS[semantic])
  }

  async findSubjects({ subject, action, resource }: AskedSubjects, page: SearchPage) {
    const scopes = readScopes(subject.properties)
    const operation = this.#findOperation(action.name, resource.type)
    if (subject.type !== USER || operation === undefined) return NOTHING
    const { membership, workspaceId } = this.#caller
    const one = readOpen(this.#attempt, assumedCaller(membership, workspaceId, scopes ?? ALL), operation, action, resource)
    return one === undefined ? NOTHING : foundAs(USER, await searchMembers(this.#attempt, one, page))
  }

  async findResources({ subject, action, resource }: AskedResources, page: SearchPage) {
    const caller = await this.#loadSubject(subject)
    const operation = this.#findOperation(action.name, resource.type)
    if (caller === undefined || operation === undefined) return NOTHING
    const one = readOpen(this.#attempt, caller, operation, action, { ...resource, id: '' })
    if (one === undefined) return NOTHING
    if (resource.type === BOARD) return foundAs(BOARD, await searchBoards(this.#attempt, one, page))
    if (resource.type !== CARD) throw invalidMember('resource.type', 'cannot be searched for: only board and card can')
    const boardId = resource.properties?.['board_id']
    if (typeof boardId !== 'string') throw invalidMember('resource.properties.board_id', 'is missing: cards are searched for on one board')
    return foundAs(CARD, await searchCards(this.#attempt, one, boardId, page))
  }

  async findActions({ subject, resource }: AskedActions, { limit, after }: SearchPage) {
    const caller = await this.#loadSubject(subject)
    if (caller === undefined) return NOTHING
    const ofType = this.#attempt.services.operations.filter((operation) => typeOf(operation) === resource.type)
    const asked = operationsAfter(ofType, after).map((operation) => readOpen(this.#attempt, caller, operation, undefined, resource))
    return searchActions(
      this.#attempt,
      asked.filter((one) => one !== undefined),
      { limit },
    )
  }

  get #caller(): Caller {
    return this.#attempt.unit.caller
  }

  /** An operation on resources of a type. */
  #findOperation(name: string, type: string): Operation | undefined {
    return this.#attempt.services.operations.find((one) => one.id === name && typeOf(one) === type)
  }

  /**
   * Who a search is about; undefined: nobody.
   * @throws {ApiError} `forbidden`
   */
  async #loadSubject(asked: AskedSubject): Promise<Caller | undefined> {
    const subject = readSubject(this.#caller, asked)
    if (subject instanceof ApiError && subject.code !== 'not_found') throw subject
    if (!('scopes' in subject)) return subject instanceof ApiError ? undefined : subject
    await this.#requireOthers()
    const caller = (await this.#loadOthers([subject]))(subject)
    return caller instanceof ApiError ? undefined : caller
  }

  /**
   * Reads the memberships of others, if the caller may ask about them.
   * @returns the caller that each of them would be, or the error that answers a question about them
   */
  async #loadOthers(others: readonly Other[]): Promise<(other: Other) => Caller | ApiError> {
    const { workspaceId } = this.#caller
    try {
      if (others.length > 0) await this.#requireOthers()
    } catch (error) {
      if (error instanceof ApiError) return () => error
      throw error
    }
    const keysOfOthers = [...new Set(others.map(({ userId }) => keys.membership(userId)))]
    const memberships = await this.#attempt.unit.tx.read(keysOfOthers)
    const known = new Map(keysOfOthers.map((key, i) => [key, memberships[i]]))
    return ({ userId, scopes }) => {
      const membership = known.get(keys.membership(userId))
      return isActive(membership) ? assumedCaller(membership, workspaceId, scopes) : notFound('subject')
    }
  }

  /**
   * Requires that the caller may ask what others may do. This is recorded as a question of its own.
   * @throws {ApiError} `insufficient_scope`, `forbidden`
   */
  async #requireOthers(): Promise<void> {
    const { services, unit, record } = this.#attempt
    const operation = services.operations.find(({ id }) => id === ASKS_ABOUT_OTHERS) as Operation & { readonly kind: 'single' }
    if (this.#records.some((one) => one.operation === operation.id)) return
    const own: ItemRecord = { operation: operation.id }
    this.#records.push(own)
    record.evaluations = this.#records
    try {
      requireScope(services, operation, unit.caller, own)
      await requireAccess(services, operation, unit, {}, own)
    } catch (error) {
      if (error instanceof ApiError) own.code = error.code
      throw error
    }
  }
}

const NOTHING: Found<never> = { items: [], next: undefined }
/** What a person may have a token for. */
const ALL = [allScopes.at(-1)!]

/**
 * Who a question is about. `me` and the own token are the calling token, unless a scope is stated; a user is a person, who may have a
 * token of the stated scope, or of any.
 */
function readSubject(caller: Caller, { type, id, properties }: AskedSubject): Caller | Other | ApiError {
  let scopes: readonly string[] | undefined
  try {
    scopes = readScopes(properties)
  } catch (error) {
    return error as ApiError
  }
  const isPerson = type === USER && isId('user', id)
  const isCaller = (id === OWN_ID && (type === USER || type === TOKEN)) || (type === TOKEN && id === caller.token?.id)
  if (isCaller && scopes === undefined) return caller
  if (isCaller || (isPerson && id === caller.userId)) return assumedCaller(caller.membership, caller.workspaceId, scopes ?? ALL)
  return isPerson ? { userId: id, scopes: scopes ?? ALL } : notFound('subject')
}

/**
 * The scopes that a subject states, as one text (RFC 6749 §3.3) or as a list.
 * @throws {ApiError} `validation_failed`
 */
function readScopes(properties: AskedSubject['properties']): readonly string[] | undefined {
  const stated = properties?.['scope']
  if (stated == null) return undefined
  if (typeof stated === 'string') return stated.split(' ')
  if (Array.isArray(stated) && stated.every((one) => typeof one === 'string')) return stated
  throw invalidMember('subject.properties.scope', 'must be a text or a list of texts')
}

function readQuestion(attempt: AskingAttempt, caller: Caller, { action, resource }: AskedQuestion): Evaluated | Undecidable {
  const { services } = attempt
  const operation = services.operations.find(({ id }) => id === action.name)
  if (operation === undefined) return { error: notFound('action') }
  const type = typeOf(operation)
  if (resource.type !== type) {
    const isType = services.operations.some((one) => typeOf(one) === resource.type)
    return { operation, error: isType ? invalidMember('resource.type', `must be ${type} for ${operation.id}`) : notFound() }
  }
  const one = readAbout(attempt, caller, operation, action, resource)
  return one instanceof ApiError ? { operation, error: one } : one
}

/** Reads what is asked about each result of a search. What it must name, and does not, is open. Undefined: nothing can be asked so. */
function readOpen(
  attempt: AskingAttempt,
  caller: Caller,
  operation: Operation,
  action: AskedQuestion['action'] | undefined,
  resource: NamedResource,
): Evaluated | undefined {
  const one = readAbout(attempt, caller, operation, action, resource, true)
  return one instanceof ApiError ? undefined : one
}

/** @param isOpen whether it may leave out what the operation must name */
function readAbout(
  attempt: AskingAttempt,
  caller: Caller,
  operation: Operation,
  action: AskedQuestion['action'] | undefined,
  { id, properties = {} }: NamedResource,
  isOpen?: boolean,
): Evaluated | ApiError {
  const issues = new Issues()
  const own = { id, properties: propertiesOf(operation, properties) }
  const one = readNames(operation, attempt.unit.caller, changedBy(attempt, operation, action), own, issues.refuse, isOpen)
  return issues.error ?? { ...one, caller }
}

/** Those properties of an action that are members of its body, or fields that the policy knows: for others, there is nothing to decide. */
function changedBy({ services }: AskingAttempt, operation: Operation, action: AskedQuestion['action'] | undefined) {
  const shape = shapeOf(operation)
  const { fields = [] } = services.engine.vocabulary.permissions.get(operation.permission)!
  const isKnown = (name: string) => Object.hasOwn(shape, name) || fields.includes(name)
  return Object.fromEntries(Object.entries(action?.properties ?? {}).filter(([name]) => isKnown(name)))
}

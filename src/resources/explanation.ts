import { isAuthenticated } from '../authz/facts.ts'
import { errors, type ErrorCode } from '../model/errors.ts'
import { dependence, explain, type Dependence, type Explanation } from '../policy/explain.ts'
import type { Engine } from '../policy/engine.ts'
import type { Facts } from '../policy/evaluate.ts'
import { isOfWebApp, type FurtherPermission, type PolicyOperation } from '../policy/operations.ts'

/** The policy's part of the response that a request would get. A conflict or an invalid body is still possible. */
export interface ExpectedResponse {
  readonly status: number
  /** absent if it is allowed */
  readonly code?: ErrorCode | undefined
  /** the name of the parameter or member that names the resource that cannot be used; absent if the path names it */
  readonly parameter?: string | undefined
  /** of a list: the item is left out */
  readonly leftOut?: true
}

/** The facts of an item that a member of the body names in addition. */
export type FurtherFacts = Omit<FurtherPermission, 'row'> & { readonly facts: Facts }

/** A decision about an item that the body names in addition. */
export interface FurtherExplanation extends Explanation {
  readonly member: string
  readonly parameter: string
}

/** Why an operation is allowed or denied. Plain data. */
export interface OperationExplanation {
  readonly operation: string
  /** method and path; `web app` if only the web app does it */
  readonly request: string
  readonly allowed: boolean
  readonly response: ExpectedResponse
  readonly decision: Explanation
  /** of the permissions about items that the body names, in the order in which they are asked */
  readonly further: readonly FurtherExplanation[]
  readonly notes: readonly string[]
}

/** What a decision about an operation depends on. */
export interface AskedOperation {
  /** of one that only the decisions of a policy describe, no status is known */
  readonly operation: PolicyOperation & { readonly status?: number }
  /** the scope, and the facts of its permission */
  readonly facts: Facts
  readonly fields?: readonly string[] | undefined
  /** in the order of the further permissions */
  readonly further?: readonly FurtherFacts[]
}

/**
 * Explains the decisions about an operation. If only the web app does it, the person is signed in, and there is no token: the scope table
 * is not asked.
 * @throws {TypeError} see {@link explain}
 */
export function explainOperation(engine: Engine, { operation, facts, fields, further = [] }: AskedOperation): OperationExplanation {
  const decision = explain(engine, operation.permission, facts, fields)
  const items = further.map(({ member, parameter = member, ...one }) => ({
    member,
    parameter,
    ...explain(engine, one.permission, one.facts),
  }))
  const isMember = isAuthenticated(facts)
  const response = isMember ? responseTo(operation, [decision, ...items]) : errorOf(codeOfStrangers(operation))
  const allowed = response.code === undefined && response.leftOut !== true
  return { ...describeOperation(operation), allowed, response, decision, further: items, notes: notesOn(operation, isMember) }
}

/** What somebody is answered whose membership has ended: to them, a workspace in the web app does not exist. */
function codeOfStrangers(operation: PolicyOperation): ErrorCode {
  return isOfWebApp(operation) ? 'not_found' : 'unauthorized'
}

/** The id and the request line of an operation. */
export function describeOperation({ id, method, path }: PolicyOperation): Pick<OperationExplanation, 'operation' | 'request'> {
  return { operation: id, request: `${method} ${path}` }
}

/** The response to the first decision that denies. */
function responseTo(
  { status = 200, kind }: AskedOperation['operation'],
  decisions: readonly (Explanation & { readonly parameter?: string })[],
): ExpectedResponse {
  const denied = decisions.find(({ answer }) => answer !== 'allowed')
  if (denied === undefined) return { status }
  if (kind === 'filtered_list' && denied.answer !== 'insufficient_scope') return { status, leftOut: true }
  return errorOf(denied.answer as ErrorCode, denied.answer === 'not_found' ? denied.parameter : undefined)
}

/** The response with an error. */
export function errorOf(code: ErrorCode, parameter?: string): ExpectedResponse {
  return { status: errors[code].status, code, ...(parameter !== undefined && { parameter }) }
}

function notesOn(operation: PolicyOperation, isMember: boolean): string[] {
  const { kind, permission } = operation
  if (isOfWebApp(operation))
    return [
      'It is done in the web app, by a person who is signed in. No token can do it, whatever its scope.',
      ...(isMember ? [] : ['The membership has ended: to this person, the workspace does not exist.']),
    ]
  if (kind === 'filtered_list')
    return ['The list is answered to everyone with the scope: each item is decided on its own, and is left out if it is denied.']
  return permission === 'batch Board' ? ['Each operation of the batch is decided on its own as well.'] : []
}

/** How the answer of an operation depends on facts that are not known. */
export interface OperationDependence {
  readonly operation: string
  readonly request: string
  /** only the stated ones */
  readonly facts: Facts
  readonly answers: readonly Dependence[]
  /** of the permissions about items that the body names */
  readonly further: readonly { readonly member: string; readonly facts: Facts; readonly answers: readonly Dependence[] }[]
  readonly notes: readonly string[]
}

/** The answer about a stored resource. About a list: how the answer for each item depends on it. */
export type StoredAnswer = OperationExplanation | (OperationDependence & { readonly allowed: boolean; readonly response: ExpectedResponse })

/**
 * Tells how the answer depends on the facts that are not stated.
 * @throws {TypeError} see {@link dependence}
 */
export function dependenceOf(engine: Engine, { operation, facts, fields, further = [] }: AskedOperation): OperationDependence {
  const items = further.map(({ member, permission, facts: ofItem }) => ({
    member,
    facts: ofItem,
    answers: dependence(engine, permission, ofItem),
  }))
  const answers = dependence(engine, operation.permission, facts, fields)
  // The tables deny everything to someone whose membership has ended, but what is answered does not depend on them.
  const isMembershipKnown = Object.hasOwn(facts, 'caller.membership') || !engine.vocabulary.facts.has('caller.membership')
  const { status, code } = errorOf(codeOfStrangers(operation))
  const notes = isMembershipKnown ? [] : [`If the membership has ended, the response is ${status} ${code}, before the tables are asked.`]
  return { ...describeOperation(operation), facts, answers, further: items, notes }
}

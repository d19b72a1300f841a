import type { z } from 'zod'
import { tokenOf, type Caller } from '../authz/context.ts'
import { scopeFacts } from '../authz/facts.ts'
import { ApiError, notFound } from '../model/errors.ts'
import { OWN_ID } from '../model/fields.ts'
import type { Scope } from '../model/token.ts'
import type { Evaluation, EvaluationResult, Question, Semantic } from '../resources/access/schema.ts'
import { namesInPath, type Operation, type OperationRequest } from '../resources/operation.ts'
import type { Stint } from '../resources/scheduler.ts'
import { readsOf, textsOf } from '../resources/targets.ts'
import type { Read } from '../store/reads.ts'
import { isIdMember, isUserMember, shapeOf } from './body-members.ts'
import { validationFailed, type ValidationIssue } from './error-mapping.ts'
import { recordResources } from './decision-lines.ts'
import type { DecisionRecord, ItemRecord } from './decision-record.ts'
import { requireAccess, requireScope } from './permission.ts'
import { withOwnId, withOwnParameter } from './own-id.ts'
import type { Services } from './services.ts'

/** What an evaluation depends on. */
export type EvaluationServices = Pick<Services, 'engine' | 'operations'>

/** The type of the resource of operations whose path has no parameter. */
const WORKSPACE = 'workspace'

/** The decision that stops the questions after it. */
const STOPS: Readonly<Record<Semantic, boolean | undefined>> = {
  execute_all: undefined,
  deny_on_first_deny: false,
  permit_on_first_permit: true,
}

/** A request that is not made: what an operation would be called with, as far as its permission depends on it. */
export interface Evaluated {
  readonly operation: Operation
  readonly params: Readonly<Record<string, string>>
  /** the members of the body that the decision depends on */
  readonly body: Readonly<Record<string, unknown>>
  /** the members of the body that are to be changed; undefined: all that the operation takes */
  readonly members: readonly string[] | undefined
  /** the workspace that the question names, if it is about the workspace itself */
  readonly workspaceId: string | undefined
}

/**
 * Decides questions about permissions: with the functions, the facts and the order in which a request itself is decided. Only what a
 * request does after its decision is left out. All reads belong to one state of the data: a later read fails if an earlier one
 * would now be another, and the request starts again.
 * @param request that of the evaluation itself
 * @param stint its steps: to read a question, and to decide it, takes 30 µs, and many times that if it names many ids
 * @returns the decisions, in the order of the questions, up to the one after which it stops
 * @throws {ApiError} `validation_failed` if a question names nothing that can be decided
 */
export async function evaluate(
  services: EvaluationServices,
  request: OperationRequest,
  record: DecisionRecord,
  questions: readonly Question[],
  semantic: Semantic,
  stint: Stint,
): Promise<EvaluationResult[]> {
  const evaluated = await readQuestions(services, request.caller, questions, stint)
  const targets = await readTargets(services, request, evaluated)
  const results: EvaluationResult[] = []
  const records: ItemRecord[] = []
  record.evaluations = records
  for (const [i, one] of evaluated.entries()) {
    await stint.next()
    const own: ItemRecord = { operation: one.operation.id }
    recordResources(own, one.params)
    records.push(own)
    const result = await decide(services, request, one, targets[i]!, own)
    results.push(result)
    if (result.decision === STOPS[semantic]) break
  }
  return results
}

/** The records of a target, or the reason why there is none. */
type TargetRecords = readonly unknown[] | ApiError

/** Reads the targets of all questions in one snapshot, except of those that the token may not be used for. */
async function readTargets(
  { engine }: EvaluationServices,
  { tx, caller }: OperationRequest,
  all: readonly Evaluated[],
): Promise<TargetRecords[]> {
  const texts = textsOf(caller)
  const reads: Read[] = []
  const places = all.map(({ operation, params }) => {
    const at = reads.length
    const { allowed } = engine.checkScope(operation.permission, scopeFacts(engine.vocabulary, tokenOf(caller)))
    const found = allowed && operation.kind === 'single' ? readsOf(operation.target, params, at, texts) : []
    if (found instanceof ApiError) return found
    reads.push(...found)
    return [at, reads.length] as const
  })
  const records = reads.length === 0 ? [] : await tx.prefetch({ records: reads })
  return places.map((place) => (place instanceof ApiError ? place : records.slice(...place)))
}

/** Decides one question, in the order in which its request would be decided. */
async function decide(
  services: EvaluationServices,
  request: OperationRequest,
  one: Evaluated,
  records: TargetRecords,
  record: ItemRecord,
): Promise<EvaluationResult> {
  const { operation, workspaceId } = one
  try {
    requireScope(services, operation, request.caller, record)
    record.stage = 'input'
    const own = requestOf(one, request)
    record.stage = 'target'
    if (records instanceof ApiError) throw records
    if (workspaceId !== undefined && workspaceId !== request.caller.workspaceId) throw notFound()
    if (operation.kind === 'single') {
      await requireAccess(services, operation, own, operation.target.from(records), record)
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    record.code = error.code
    return { decision: false, context: deniedContext(error, record) }
  }
  const { row = operation.row, reason = EACH_ITEM } = record.decision ?? {}
  return { decision: true, context: { reason, required_scope: record.scope!.required as Scope, row } }
}

const EACH_ITEM = 'Each item is decided on its own: those without access are left out.'

/** The request that is asked about. @throws {ApiError} `validation_failed` */
export function requestOf(one: Evaluated, request: OperationRequest): OperationRequest {
  const { operation, params } = one
  const receive = operation.takesUpload && Object.keys(one.body).length === 0 ? noUpload : undefined
  const body = bodyOf(one)
  const broken = operation.bodyRule?.(params, body)
  if (broken !== undefined) throw validationFailed([{ in: 'body', ...broken }])
  return { ...request, params, query: {}, body, receive }
}

function deniedContext({ code, message, details }: ApiError, { scope }: ItemRecord): EvaluationResult['context'] {
  const { reason = message, row, granted_scopes, parameter } = (details.members ?? {}) as Partial<EvaluationResult['context']>
  return {
    code,
    reason,
    required_scope: scope!.required as Scope,
    ...(granted_scopes !== undefined && { granted_scopes: [...granted_scopes] }),
    ...(row !== undefined && { row }),
    ...(parameter !== undefined && { parameter }),
  }
}

/** An upload that is not there: who uploads a file owns it. */
async function noUpload(): Promise<never> {
  throw new TypeError('an evaluation receives no file')
}

/** The body of the request, as far as its permission depends on it. @throws {ApiError} `validation_failed` */
function bodyOf({ operation, body, members }: Evaluated): object {
  const taken = Object.keys(shapeOf(operation))
  const unknown = (members ?? []).filter((name) => !taken.includes(name))
  if (unknown.length > 0)
    throw validationFailed(unknown.map((name) => ({ in: 'body', path: name.slice(0, LONGEST_NAME), message: 'is not a known member' })))
  const changed = members ?? taken
  return operation.fields === undefined ? { ...defaultsOf(operation), ...body } : Object.fromEntries(changed.map((name) => [name, null]))
}

/** characters of a name that an answer repeats */
const LONGEST_NAME = 100

/** Reads all questions. @throws {ApiError} `validation_failed`, with the issues of all */
export async function readQuestions(
  { operations }: EvaluationServices,
  caller: Caller,
  questions: readonly Question[],
  stint: Stint,
): Promise<Evaluated[]> {
  const issues: ValidationIssue[] = []
  const evaluated: Evaluated[] = []
  for (const { asked, path } of questions) {
    await stint.next()
    const read = readQuestion(operations, caller, asked, (at, message) => issues.push({ in: 'body', path: path + at, message }))
    if (read !== undefined) evaluated.push(read)
  }
  if (issues.length > 0) throw validationFailed(issues)
  return evaluated
}

function readQuestion(
  operations: readonly Operation[],
  caller: Caller,
  { subject, action, resource }: Evaluation,
  refuse: (path: string, message: string) => void,
): Evaluated | undefined {
  const own = [OWN_ID, { user: caller.userId, token: tokenOf(caller).id }[subject.type]]
  if (!own.includes(subject.id)) refuse('subject.id', 'must be me, or your own id: what others may do is not answered')
  const operation = operations.find(({ id }) => id === action.name)
  if (operation === undefined) return void refuse('action.name', 'is not the id of an operation')
  const [first, ...others] = namesInPath(operation.path)
  const type = first?.replace(/_id$/, '') ?? WORKSPACE
  if (resource.type !== type) refuse('resource.type', `must be ${type} for ${operation.id}`)
  const { properties = {} } = resource
  const names = namesOf(operation)
  for (const name of Object.keys(properties))
    if (!others.includes(name) && !names.has(name)) refuse(`resource.properties.${name}`, 'names nothing in this operation')
  const params: Record<string, string> = first === undefined ? {} : { [first]: resource.id }
  for (const name of others) {
    const value = properties[name]
    if (typeof value === 'string') params[name] = value
    else refuse(`resource.properties.${name}`, value === undefined ? 'is missing' : 'must be text')
  }
  const body: Record<string, unknown> = {}
  for (const [name, schema] of names) {
    const given = Object.hasOwn(properties, name) ? properties[name] : action.properties?.[name]
    const value = isUserMember(schema) ? withOwnId(given, caller.userId) : given
    // A file that is uploaded has no id.
    if (value === undefined && (operation.takesUpload || schema.safeParse(undefined).success)) continue
    const result = schema.safeParse(value)
    if (result.success) body[name] = result.data
    else refuse(`resource.properties.${name}`, value === undefined ? 'is missing' : 'has not the type that the operation takes')
  }
  const workspaceId = first === undefined && resource.id !== OWN_ID ? resource.id : undefined
  // Clients send empty properties for no properties.
  const members = Object.keys(action.properties ?? {})
  return {
    operation,
    params: withOwnParameter(params, caller.userId),
    body,
    members: members.length === 0 ? undefined : members,
    workspaceId,
  }
}

const knownNames = new WeakMap<Operation, ReadonlyMap<string, z.ZodType>>()

/** The members of the body of an operation that its decision depends on: ids, lists of ids, and what is decided item by item. */
function namesOf(operation: Operation): ReadonlyMap<string, z.ZodType> {
  let names = knownNames.get(operation)
  if (names === undefined) {
    const decided = new Set(operation.also.map(({ member }) => member))
    names = new Map(Object.entries(shapeOf(operation)).filter(([name, schema]) => decided.has(name) || isIdMember(schema)))
    knownNames.set(operation, names)
  }
  return names
}

/** The members of the body that have a value if a request leaves them out. */
function defaultsOf(operation: Operation): object {
  return Object.fromEntries(
    Object.entries(shapeOf(operation)).flatMap(([name, schema]) => {
      const { success, data } = schema.safeParse(undefined)
      return success && data !== undefined ? [[name, data]] : []
    }),
  )
}

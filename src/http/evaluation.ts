import { ApiError, notFound } from '../model/errors.ts'
import type { Scope } from '../model/token.ts'
import type { EvaluationResult, Question, Semantic } from '../resources/access/schema.ts'
import type { Operation, OperationRequest } from '../resources/operation.ts'
import type { Turn } from '../governor/turns.ts'
import { recordResources, type ItemRecord } from './decision-record.ts'
import { hasScope, requireAccess, requirePossible, requireScope } from './permission.ts'
import { prefetchTargets, type TargetRecords } from './prefetch.ts'
import { readQuestions, requestOf, type Evaluated } from './question.ts'
import type { Services, UsingAttempt } from './services.ts'

/** What an evaluation depends on. */
export type EvaluationServices = Pick<Services, 'engine' | 'operations'>

/** An attempt that asks questions. To read a question, and to decide it, takes 30 µs, and many times that if it names many ids. */
export interface AskingAttempt extends Pick<UsingAttempt, 'unit' | 'record' | 'chargeStated'> {
  readonly services: EvaluationServices
  readonly turn: Pick<Turn, 'spent'>
}

/** The decision that stops the questions after it. */
export const STOPS: Readonly<Record<Semantic, boolean | undefined>> = {
  execute_all: undefined,
  deny_on_first_deny: false,
  permit_on_first_permit: true,
}

/**
 * Decides questions about permissions with the functions, the facts and the order that decide a request itself. Only what a
 * request does after its decision is left out. All reads belong to one state of the data: a later read fails if an earlier one
 * would now be another, and the request starts again.
 * @returns the decisions, in the order of the questions, up to the one that it stops after
 * @throws {ApiError} `validation_failed` if a question names nothing that can be decided; `rate_limited`
 */
export async function evaluate(attempt: AskingAttempt, questions: readonly Question[], semantic: Semantic): Promise<EvaluationResult[]> {
  const { services, unit, record, turn } = attempt
  await attempt.chargeStated({ questions: questions.length })
  const evaluated = await readQuestions(services, unit.caller, questions, turn)
  const records: ItemRecord[] = []
  record.evaluations = records
  return decideAll(services, unit, evaluated, records, turn, STOPS[semantic])
}

/** A question that names nothing that can be decided, with the error that is its answer. */
export interface Undecidable {
  readonly error: ApiError
  /** undefined: there is no such operation */
  readonly operation?: Operation | undefined
}

/**
 * Decides questions that were read. One about another person is decided twice: what the caller has no access to is answered like
 * what is absent, whatever that person may do.
 * @param records the record of each decision is added to them
 * @param last the decision that it stops after; undefined: all are decided
 */
export async function decideAll(
  services: EvaluationServices,
  request: OperationRequest,
  asked: readonly (Evaluated | Undecidable)[],
  records: ItemRecord[],
  turn: Pick<Turn, 'spent'>,
  last?: boolean,
): Promise<EvaluationResult[]> {
  const targets = await prefetchTargets(
    request,
    asked.flatMap((one) => targetsOf(services, request, one)),
  )
  const results: EvaluationResult[] = []
  for (const [i, one] of asked.entries()) {
    await turn.spent()
    const record: ItemRecord = { ...(one.operation !== undefined && { operation: one.operation.id }) }
    records.push(record)
    const result =
      'error' in one
        ? denied(one.error, record)
        : await decide(services, request, one, { ofCaller: targets[2 * i]!, ofSubject: targets[2 * i + 1]! }, record)
    results.push(result)
    if (result.decision === last) break
  }
  return results
}

/** Whether a question is about another person than the one who asks. */
function isAboutAnother({ caller }: Evaluated, request: OperationRequest): boolean {
  return caller.userId !== request.caller.userId
}

/** How many questions one counts as: one about another person is decided for the caller, too. */
export function weightOf({ unit }: Pick<AskingAttempt, 'unit'>, one: Evaluated): number {
  return isAboutAnother(one, unit) ? 2 : 1
}

/** The targets that a question reads: for who asks, if it is about another person, and for who would perform it. */
function targetsOf(services: EvaluationServices, request: OperationRequest, one: Evaluated | Undecidable) {
  // What the token may not be used for is not read.
  if ('error' in one || !hasScope(services, one.operation, one.caller)) return [undefined, undefined]
  return [isAboutAnother(one, request) ? { ...one, caller: request.caller } : undefined, one]
}

interface ReadTargets {
  readonly ofCaller: TargetRecords
  readonly ofSubject: TargetRecords
}

/** Decides one question in the order of a request's steps. */
async function decide(
  services: EvaluationServices,
  request: OperationRequest,
  one: Evaluated,
  { ofCaller, ofSubject }: ReadTargets,
  record: ItemRecord,
): Promise<EvaluationResult> {
  const { operation, caller, open, params } = one
  recordResources(record, params)
  if (open.length > 0) record.open = open
  try {
    if (isAboutAnother(one, request)) record.subject = caller.userId
    requireScope(services, operation, caller, record)
    if (isAboutAnother(one, request)) await requireSeen(services, request, one, ofCaller, record)
    await requireAllowed(services, request, one, ofSubject, record)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return denied(error, record)
  }
  const { row = operation.row, reason = EACH_ITEM } = record.decision ?? {}
  return { decision: true, context: { reason, required_scope: requiredScope(record.scope), row } }
}

/**
 * Refuses a question about another person if it names something that the caller has no access to.
 * @throws {ApiError} `not_found`
 */
async function requireSeen(
  services: EvaluationServices,
  request: OperationRequest,
  one: Evaluated,
  records: TargetRecords,
  record: ItemRecord,
): Promise<void> {
  const own: ItemRecord = {}
  try {
    await requireAllowed(services, request, { ...one, caller: request.caller }, records, own)
  } catch (error) {
    // Another refusal is about what the caller may do, which was not asked.
    if (error instanceof ApiError && error.code !== 'not_found') return
    Object.assign(record, own)
    throw error
  }
}

/** @throws {ApiError} what the operation would be refused with, after its scope */
async function requireAllowed(
  services: EvaluationServices,
  request: OperationRequest,
  one: Evaluated,
  records: TargetRecords,
  record: ItemRecord,
): Promise<void> {
  const { operation, caller, workspaceId, open } = one
  const own = requestOf(one, request)
  if (records instanceof ApiError) throw records
  if (workspaceId !== undefined && workspaceId !== caller.workspaceId) throw notFound()
  if (operation.kind !== 'single') return
  const target = operation.target.from(records)
  if (open.length > 0) requirePossible(services, operation, own, target, record)
  else await requireAccess(services, operation, own, target, record)
}

/** Undefined for a person in the web app, whose answers are not sent: the scope table does not decide about them. */
function requiredScope(scope: ItemRecord['scope']): Scope {
  return scope?.required as Scope
}

const EACH_ITEM = 'Each item is decided on its own: those without access are left out.'

function denied(error: ApiError, record: ItemRecord): EvaluationResult {
  record.code = error.code
  return { decision: false, context: deniedContext(error, record) }
}

function deniedContext({ code, message, details }: ApiError, { scope }: ItemRecord): EvaluationResult['context'] {
  const { reason = message, row, granted_scopes, parameter } = (details.members ?? {}) as Partial<EvaluationResult['context']>
  return {
    code,
    reason,
    required_scope: requiredScope(scope),
    ...(granted_scopes !== undefined && { granted_scopes: [...granted_scopes] }),
    // Stryker disable next-line ConditionalExpression: JSON leaves out a member without a value
    ...(row !== undefined && { row }),
    // Stryker disable next-line ConditionalExpression: as above
    ...(parameter !== undefined && { parameter }),
  }
}

import { ApiError, notFound } from '../model/errors.ts'
import type { Scope } from '../model/token.ts'
import type { EvaluationResult, Question, Semantic } from '../resources/access/schema.ts'
import type { OperationRequest } from '../resources/operation.ts'
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
const STOPS: Readonly<Record<Semantic, boolean | undefined>> = {
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

/**
 * Decides questions that were read.
 * @param records the record of each decision is added to them
 * @param last the decision that it stops after; undefined: all are decided
 */
export async function decideAll(
  services: EvaluationServices,
  request: OperationRequest,
  evaluated: readonly Evaluated[],
  records: ItemRecord[],
  turn: Pick<Turn, 'spent'>,
  last?: boolean,
): Promise<EvaluationResult[]> {
  // Those that the token may not be used for are not read.
  const targets = await prefetchTargets(
    request,
    evaluated.map((one) => (hasScope(services, one.operation, request.caller) ? one : undefined)),
  )
  const results: EvaluationResult[] = []
  for (const [i, one] of evaluated.entries()) {
    await turn.spent()
    const own: ItemRecord = { operation: one.operation.id, ...(one.open.length > 0 && { open: one.open }) }
    recordResources(own, one.params)
    records.push(own)
    const result = await decide(services, request, one, targets[i]!, own)
    results.push(result)
    if (result.decision === last) break
  }
  return results
}

/** Decides one question in the order of a request's steps. */
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
    const own = requestOf(one, request)
    if (records instanceof ApiError) throw records
    if (workspaceId !== undefined && workspaceId !== request.caller.workspaceId) throw notFound()
    if (operation.kind === 'single') {
      const target = operation.target.from(records)
      if (one.open.length > 0) requirePossible(services, operation, own, target, record)
      else await requireAccess(services, operation, own, target, record)
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    record.code = error.code
    return { decision: false, context: deniedContext(error, record) }
  }
  const { row = operation.row, reason = EACH_ITEM } = record.decision ?? {}
  return { decision: true, context: { reason, required_scope: requiredScope(record.scope), row } }
}

/** Undefined for a person in the web app, whose answers are not sent: the scope table does not decide about them. */
function requiredScope(scope: ItemRecord['scope']): Scope {
  return scope?.required as Scope
}

const EACH_ITEM = 'Each item is decided on its own: those without access are left out.'

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

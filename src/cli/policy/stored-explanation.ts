import { AdminError, type StoredQuestion } from '../../admin/deps.ts'
import { tokenOf, type AuthorizationContext } from '../../authz/context.ts'
import { factsFor, isAuthenticated, scopeFacts } from '../../authz/facts.ts'
import { authorize, loadNamed, requireScope } from '../../http/permission.ts'
import type { Services } from '../../http/services.ts'
import { andThen, type Awaitable } from '../../model/awaitable.ts'
import { ApiError } from '../../model/errors.ts'
import { dependenceOf, errorOf, explainOperation, type ExpectedResponse, type StoredAnswer } from '../../resources/explanation.ts'
import type { Operation, OperationRequest } from '../../resources/operation.ts'
import { loadTarget } from '../../resources/targets.ts'
import { operationOf, requestAbout, webActionOf } from './stored-request.ts'

type Policy = Pick<Services, 'engine' | 'operations'>

/**
 * Explains a decision about the caller of a unit as requests are decided: by the same reads, facts and tables.
 * @throws {AdminError} `invalid`, `not_found`
 */
export async function explainStored(policy: Policy, question: StoredQuestion, unit: OperationRequest): Promise<StoredAnswer> {
  const { engine, operations } = policy
  const { vocabulary } = engine
  const { caller } = unit
  const factsOf = (permission: string, context: AuthorizationContext) =>
    factsFor(vocabulary, vocabulary.permissions.get(permission)!.groups, caller, context)
  const action = webActionOf(question)
  if (action !== undefined) return explainOperation(engine, { operation: action, facts: factsOf(action.permission, {}) })

  const operation = operationOf(operations, question.operation)
  const named = question.resource ?? question.workspace
  const request = await orAdminError(named, () => requestAbout(operation, question, unit))
  const response = await responseTo(policy, operation, request)
  const known = { ...scopeFacts(vocabulary, tokenOf(caller)), ...factsFor(vocabulary, ['caller'], caller, {}) }
  if (operation.kind === 'filtered_list')
    return { ...dependenceOf(engine, { operation, facts: known }), allowed: response.code === undefined, response }

  const loaded = await orAdminError(named, () =>
    andThen(loadTarget(operation.target, request), (target) => loadNamed(policy, operation, request, target)),
  )
  const further = operation.also.flatMap((one) =>
    one.contexts(loaded).map((context) => {
      if (context === undefined) throw new AdminError('not_found', `"${one.parameter}" names no resource of this workspace`)
      return { ...one, facts: factsOf(one.permission, { ...loaded, ...context }) }
    }),
  )
  const facts = { ...known, ...factsOf(operation.permission, loaded) }
  const explained = explainOperation(engine, { operation, facts, fields: operation.fields?.(request.body), further })
  // A wrong explanation would be worse than none.
  if (response.code !== explained.response.code)
    throw new TypeError(`${operation.id} is answered ${response.code ?? 'ok'}, but explained as ${explained.response.code ?? 'ok'}`)
  return { ...explained, response }
}

/**
 * The records of a board, read as by the operation that reads it.
 * @throws {AdminError} `not_found`
 */
export function loadBoard({ operations }: Policy, unit: OperationRequest, board: string): Promise<AuthorizationContext> {
  const { target } = operationOf(operations, 'boards.read') as Operation & { kind: 'single' }
  return orAdminError(board, () => loadTarget(target, { tx: unit.tx, caller: unit.caller, params: { board_id: board } }))
}

/** The response that the decisions of a request lead to. */
async function responseTo(policy: Policy, operation: Operation, request: OperationRequest): Promise<ExpectedResponse> {
  const { caller } = request
  if (!isAuthenticated(factsFor(policy.engine.vocabulary, ['caller'], caller, {}))) return errorOf('unauthorized')
  try {
    requireScope(policy, operation, caller, {})
    if (operation.kind === 'single') await authorize(policy, operation, request, {})
    return { status: operation.status }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return errorOf(error.code, parameterOf(error))
  }
}

/** @throws {AdminError} instead of the error of the request that is asked about */
async function orAdminError<T>(named: string, read: () => Awaitable<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'validation_failed') throw new AdminError('invalid', error.message)
    if (error.code !== 'not_found') throw error
    throw new AdminError('not_found', parameterOf(error) === undefined ? `there is no such resource: ${named}` : error.message)
  }
}

function parameterOf({ details }: ApiError): string | undefined {
  return (details.members as { readonly parameter?: string } | undefined)?.parameter
}

import type { PolicyAnswers, StoredQuestion } from '../../admin/deps.ts'
import { AdminError } from '../../admin/deps.ts'
import { listMembers } from '../../admin/memberships.ts'
import { tokenOf, type AuthorizationContext, type Caller } from '../../authz/context.ts'
import { factsFor, isAuthenticated, scopeFacts } from '../../authz/facts.ts'
import { andThen, type Awaitable } from '../../model/awaitable.ts'
import { ApiError } from '../../model/errors.ts'
import { isId } from '../../model/ids.ts'
import type { TokenRecord } from '../../model/token.ts'
import { isActive, type Membership } from '../../model/workspace.ts'
import { didYouMean } from '../../policy/diagnostic.ts'
import type { Engine } from '../../policy/engine.ts'
import type { PolicyOperation } from '../../policy/operations.ts'
import type { Evaluation } from '../../resources/access/schema.ts'
import { dependenceOf, errorOf, explainOperation, type ExpectedResponse, type FurtherFacts } from '../../resources/explanation.ts'
import { namesInPath, type Operation, type OperationRequest } from '../../resources/operation.ts'
import { loadTarget } from '../../resources/targets.ts'
import { webActions } from '../../resources/web-actions.ts'
import { type Deps, transact } from '../../store/transact.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { isListMember, shapeOf } from '../../http/body-members.ts'
import type { AttemptRecord } from '../../http/decision-record.ts'
import { evaluate, type EvaluationServices } from '../../http/evaluation.ts'
import { loadRelated } from '../../http/permission.ts'
import { readQuestions, requestOf } from '../../http/question.ts'
import { Unit } from '../../http/unit.ts'
import { groupMembers, permissionsOn, type MemberAnswer, type StoredAnswer } from './answer-groups.ts'

/** One question, and nobody waits for others. */
const WITHOUT_PAUSES = { spent: () => undefined }

/** Answers questions about decisions on stored data, as requests are decided: by the same reads, facts and tables. */
export function createPolicyAnswers(services: EvaluationServices): PolicyAnswers {
  // Their engine is another one after a reload.
  return {
    explain: (deps, { user, scope, ...question }) =>
      transact(deps.store, question.workspace, deps.random, async (tx) => {
        const action = webActionOf(question)
        if (action !== undefined) return explainInWebApp(services, action, await callerIn(tx, question.workspace, user, NO_SCOPE))
        if (scope === undefined) throw new AdminError('invalid', 'the scope of the token is missing')
        return explainStored(services, deps, await callerIn(tx, question.workspace, user, scope), tx, question)
      }),

    /** Each member is decided on one state of the data. */
    async whoCan(deps, question) {
      const { engine, operations } = services
      const action = webActionOf(question)
      const required = action === undefined ? scopeFor(engine, operationOf(operations, question.operation)) : undefined
      const members: MemberAnswer[] = []
      for (const { user_id } of await listMembers(deps, question.workspace)) {
        const answer = await transact(deps.store, question.workspace, deps.random, async (tx) => {
          const membership = await tx.get(keys.membership(user_id))
          if (!isActive(membership)) return undefined
          const caller = assumedCaller(question.workspace, membership, required ?? NO_SCOPE)
          if (action !== undefined) return { membership, answer: explainInWebApp(services, action, caller) }
          return { membership, answer: await explainStored(services, deps, caller, tx, question) }
        })
        if (answer !== undefined) members.push(answer)
      }
      const { operation, resource = null } = question
      return { operation, resource, required_scope: required ?? null, ...groupMembers(members) }
    },

    whatCan: (deps, { workspace, user, board, scope }) =>
      transact(deps.store, workspace, deps.random, async (tx) => {
        const { engine, operations } = services
        const caller = await callerIn(tx, workspace, user, scope)
        if (!isActive(caller.membership)) throw new AdminError('not_found', `${user} is not a member of ${workspace}`)
        const context = board === undefined ? {} : await boardOf(services, tx, caller, board)
        const groups = board === undefined ? ['caller'] : ['caller', 'board']
        const facts = { ...scopeFacts(engine.vocabulary, tokenOf(caller)), ...factsFor(engine.vocabulary, groups, caller, context) }
        return { user, board: board ?? null, scope, facts, operations: permissionsOn(engine, operations, facts, board !== undefined) }
      }),
  }
}

/** The scope of a token that has none. The web app has no token at all. */
const NO_SCOPE = 'none'

/**
 * What only the web app does: it names no resource of the workspace.
 * @throws {AdminError} `invalid`
 */
function webActionOf({ operation, resource, named, fields }: StoredQuestion): PolicyOperation | undefined {
  const action = webActions.find(({ id }) => id === operation)
  if (action !== undefined && (resource !== undefined || fields !== undefined || Object.keys(named).length > 0))
    throw new AdminError('invalid', `${operation} is done in the web app, and is decided for the person alone: it names nothing`)
  return action
}

/** Explains the decision about a person who is signed in. */
function explainInWebApp({ engine }: EvaluationServices, operation: PolicyOperation, caller: Caller): StoredAnswer {
  const { groups } = engine.vocabulary.permissions.get(operation.permission)!
  return explainOperation(engine, { operation, facts: factsFor(engine.vocabulary, groups, caller, {}) })
}

/**
 * The least scope of an operation that is decided as a whole.
 * @throws {AdminError} `invalid`
 */
function scopeFor({ vocabulary, checkScope }: Engine, { id, kind, permission }: Operation): string {
  if (kind === 'filtered_list')
    throw new AdminError('invalid', `${id} is answered to every member: each item is decided on its own. Ask about one item.`)
  return checkScope(permission, scopeFacts(vocabulary, { scopes: [] })).required
}

/**
 * The records of a board, read as by the operation that reads it.
 * @throws {AdminError} `not_found`
 */
async function boardOf(
  { operations }: EvaluationServices,
  tx: Transaction,
  caller: Caller,
  boardId: string,
): Promise<AuthorizationContext> {
  const { target } = operationOf(operations, 'boards.read') as Operation & { kind: 'single' }
  return orAbsent(() => loadTarget(target, { tx, caller, params: { board_id: boardId } }), boardId)
}

/**
 * Explains one decision.
 * @throws {AdminError} `invalid`, `not_found`
 */
async function explainStored(
  services: EvaluationServices,
  deps: Deps,
  caller: Caller,
  tx: Transaction,
  question: StoredQuestion,
): Promise<StoredAnswer> {
  const { engine, operations } = services
  const { vocabulary } = engine
  const operation = operationOf(operations, question.operation)
  const asked = { asked: questionAbout(operation, question), path: '' }
  const request = new Unit({ ...deps, engine }, { tx, caller, params: {}, query: {}, body: {} })
  const [one] = await orInvalid(readQuestions(services, caller, [asked], WITHOUT_PAUSES))
  const answered = await responseTo(services, request, asked, operation)
  // An evaluation does not authenticate: its caller was authenticated before.
  const response = isAuthenticated(factsFor(vocabulary, ['caller'], caller, {})) ? answered : errorOf('unauthorized')
  const factsOf = (permission: string, context: AuthorizationContext) =>
    factsFor(vocabulary, vocabulary.permissions.get(permission)!.groups, caller, context)
  const scope = scopeFacts(vocabulary, tokenOf(caller))
  if (operation.kind === 'filtered_list') {
    const facts = { ...scope, ...factsFor(vocabulary, ['caller'], caller, {}) }
    return { ...dependenceOf(engine, { operation, facts }), allowed: response.code === undefined, response }
  }
  const own = requestOf(one!, request)
  const named = question.resource ?? question.workspace
  const loaded = await orAbsent(() => andThen(loadTarget(operation.target, own), (target) => loadRelated(operation, own, target)), named)
  const further = operation.also.flatMap(({ member, parameter, permission, contexts }) =>
    contexts(loaded).map((context): FurtherFacts => {
      if (context === undefined) throw new AdminError('not_found', `"${parameter}" names no resource of this workspace`)
      return { member, facts: factsOf(permission, Object.assign({}, loaded, context)) }
    }),
  )
  const facts = { ...scope, ...factsOf(operation.permission, loaded) }
  const explained = explainOperation(engine, { operation, facts, fields: operation.fields?.(own.body), further })
  // A wrong explanation would be worse than none.
  if (response.code !== explained.response.code)
    throw new TypeError(`${operation.id} is answered ${response.code ?? 'ok'}, but explained as ${explained.response.code ?? 'ok'}`)
  return { ...explained, response }
}

/**
 * The response that the decisions of a request lead to.
 * @throws {AdminError} `invalid`
 */
async function responseTo(
  services: EvaluationServices,
  request: OperationRequest,
  asked: Parameters<typeof evaluate>[1][number],
  { status }: Operation,
): Promise<ExpectedResponse> {
  const asking = { services, unit: request, record: {} as AttemptRecord, chargeStated: () => undefined, turn: WITHOUT_PAUSES }
  const [result] = await evaluate(asking, [asked], 'execute_all')
  const { decision, context } = result!
  if (decision) return { status }
  if (context.code === 'validation_failed') throw new AdminError('invalid', context.reason)
  return errorOf(context.code!, context.parameter)
}

/** @throws {AdminError} `invalid` */
function operationOf(operations: readonly Operation[], id: string): Operation {
  const operation = operations.find((one) => one.id === id)
  if (operation !== undefined) return operation
  const ids = [...operations, ...webActions].map((one) => one.id)
  throw new AdminError('invalid', `"${id}" is not the id of an operation. ${didYouMean(id, ids) ?? 'See "lanekeeper policy matrix".'}`)
}

/**
 * The question that the user would ask the service about themselves.
 * @throws {AdminError} `invalid`
 */
function questionAbout(operation: Operation, { resource, named, fields }: StoredQuestion): Evaluation {
  const [first] = namesInPath(operation.path)
  if ((first === undefined) !== (resource === undefined))
    throw new AdminError(
      'invalid',
      first === undefined ? `${operation.id} names no resource` : `${operation.id} needs a resource: a ${first}`,
    )
  const schemas = shapeOf(operation)
  const properties = Object.fromEntries(
    Object.entries(named).map(([name, values]) => {
      const isList = Object.hasOwn(schemas, name) && isListMember(schemas[name]!)
      if (!isList && values.length > 1) throw new AdminError('invalid', `"${name}" takes one value`)
      return [name, isList ? values : values[0]]
    }),
  )
  return {
    subject: { type: 'user', id: 'me' },
    action: { name: operation.id, ...(fields && { properties: Object.fromEntries(fields.map((name) => [name, null])) }) },
    resource: { type: first?.replace(/_id$/, '') ?? 'workspace', id: resource ?? 'me', properties },
  }
}

/**
 * The user with a token that they need not have.
 * @throws {AdminError} `not_found`, `invalid`
 */
async function callerIn(tx: Transaction, workspace: string, user: string, scope: string): Promise<Caller> {
  const membership = isId('user', user) ? await tx.get(keys.membership(user)) : undefined
  if (membership === undefined) throw new AdminError('not_found', `${user} is not a member of ${workspace}`)
  return assumedCaller(workspace, membership, scope)
}

const NO_TIME = new Date(0).toISOString()

function assumedCaller(workspaceId: string, membership: Membership, scope: string): Caller {
  const times = { issued_at: NO_TIME, expires_at: NO_TIME, revoked_at: null, replaced_by: null }
  const token: TokenRecord = { id: '', hash: '0'.repeat(64), user_id: membership.user_id, name: '', scopes: [scope], ...times }
  return { userId: membership.user_id, workspaceId, membership, token }
}

/** @throws {AdminError} `not_found` instead of the error of a request */
async function orAbsent<T>(load: () => Awaitable<T>, named: string): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
    const { parameter } = (error.details.members ?? {}) as { parameter?: string }
    throw new AdminError('not_found', parameter === undefined ? `there is no such resource: ${named}` : error.message)
  }
}

/** @throws {AdminError} `invalid` instead of the error of a request */
async function orInvalid<T>(read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { issues = [] } = (error.details.members ?? {}) as { issues?: readonly { path: string; message: string }[] }
    throw new AdminError('invalid', issues.map(({ path, message }) => `${nameOf(path)} ${message}`).join('; ') || error.message)
  }
}

/** The operator's name for the part of a question that an evaluation has at a path. */
function nameOf(path: string): string {
  return path.replace(/^resource\.(properties\.)?/, '').replace(/^action\./, '')
}

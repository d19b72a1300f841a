import { AdminError, type StoredQuestion } from '../../admin/deps.ts'
import { scopeFacts } from '../../authz/facts.ts'
import { isListMember, shapeOf } from '../../http/body-members.ts'
import { readNames, requestOf } from '../../http/question.ts'
import type { Services } from '../../http/services.ts'
import { OWN_ID } from '../../model/fields.ts'
import { didYouMean } from '../../policy/diagnostic.ts'
import type { PolicyOperation } from '../../policy/operations.ts'
import { namesInPath, type Operation, type OperationRequest } from '../../resources/operation.ts'
import { webActions, type WebActionId } from '../../resources/web-actions.ts'

const ABOUT_MEMBERS: ReadonlySet<string> = new Set<WebActionId>([
  'workspace.invite',
  'workspace.change_role',
  'workspace.end_membership',
  'workspace.send_link',
])

/**
 * What only the web app does: it names no resource of the workspace. What depends on another member is explained of stated facts alone.
 * @throws {AdminError} `invalid`
 */
export function webActionOf({ operation, resource, named, fields }: StoredQuestion): PolicyOperation | undefined {
  const action = webActions.find(({ id }) => id === operation)
  if (action !== undefined && (resource !== undefined || fields !== undefined || Object.keys(named).length > 0))
    throw new AdminError('invalid', `${operation} is done in the web app, and is decided for the person alone: it names nothing`)
  if (action !== undefined && ABOUT_MEMBERS.has(action.id))
    throw new AdminError('invalid', `${operation} depends on the role of another member. State the roles with --facts, without --as`)
  return action
}

/**
 * The least scope that a question needs; undefined if only the web app does it.
 * @throws {AdminError} `invalid`
 */
export function requiredScope(
  { engine, operations }: Pick<Services, 'engine' | 'operations'>,
  question: StoredQuestion,
): string | undefined {
  if (webActionOf(question) !== undefined) return undefined
  const { id, kind, permission } = operationOf(operations, question.operation)
  if (kind === 'filtered_list')
    throw new AdminError('invalid', `${id} is answered to every member: each item is decided on its own. Ask about one item.`)
  return engine.checkScope(permission, scopeFacts(engine.vocabulary, { scopes: [] })).required
}

/** @throws {AdminError} `invalid` */
export function operationOf(operations: readonly Operation[], id: string): Operation {
  const operation = operations.find((one) => one.id === id)
  if (operation !== undefined) return operation
  const ids = [...operations, ...webActions].map((one) => one.id)
  throw new AdminError('invalid', `"${id}" is not the id of an operation. ${didYouMean(id, ids) ?? 'See "lanekeeper policy matrix".'}`)
}

/**
 * The request that a question is about: the user would ask the service the same about themselves.
 * @param unit of the caller
 * @throws {AdminError} `invalid`
 * @throws {ApiError} `validation_failed`
 */
export function requestAbout(operation: Operation, { resource, named, fields }: StoredQuestion, unit: OperationRequest): OperationRequest {
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
  const issues: string[] = []
  // The operator's name for the part of a question that an evaluation has at a path.
  const refuse = (at: string, message: string): void => void issues.push(`${at.replace('resource.properties.', '')} ${message}`)
  const changed = fields && Object.fromEntries(fields.map((name) => [name, null]))
  const asked = readNames(operation, unit.caller, changed, { id: resource ?? OWN_ID, properties }, refuse)
  if (issues.length > 0) throw new AdminError('invalid', issues.join('; '))
  return requestOf(asked, unit)
}

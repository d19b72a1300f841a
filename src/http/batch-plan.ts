import { scopeFacts } from '../authz/facts.ts'
import { isBatchable } from '../resources/batch/operations.ts'
import type { BatchItem } from '../resources/batch/schema.ts'
import { namesInPath, type Operation } from '../resources/operation.ts'
import { isIdMember, shapeOf } from './body-members.ts'
import { validationFailed, type ValidationIssue } from './error-mapping.ts'
import { issuesOf } from './input.ts'
import { withOwnMembers, withOwnParameter } from './own-id.ts'
import type { Services } from './services.ts'

/** A text that stands for the id of what an earlier operation has created. */
export const REFERENCE = /^\$(0|[1-9][0-9]?)$/

/** An operation of a batch, as far as it is known before the batch begins. */
export interface PlannedOperation {
  readonly operation: Operation & { kind: 'single' }
  readonly params: Readonly<Record<string, string>>
  readonly body: unknown
  readonly ifMatch: string | undefined
  readonly ifClaim: number | undefined
}

type Refuse = (path: string, message: string) => void

/**
 * Checks all operations of a batch, as far as that needs no storage.
 * @param userId the caller, for whom `me` stands
 * @throws {ApiError} `validation_failed`, with the issues of all
 */
export function plan(services: Services, userId: string, boardId: string, items: readonly BatchItem[]): PlannedOperation[] {
  const issues: ValidationIssue[] = []
  const planned = items.flatMap((item, index) => {
    const refuse: Refuse = (path, message) => issues.push({ in: 'body', path: `operations.${index}.${path}`, message })
    const operation = findOperation(services, item, refuse)
    if (operation === undefined) return []
    const params = withOwnParameter(paramsOf(operation, item, boardId, refuse), userId)
    const body = bodyOf(operation, { ...item, body: withOwnMembers(operation.body, item.body, userId) }, refuse)
    checkReferences({ operation, params, body }, items.slice(0, index), services.operations, refuse)
    return [{ operation, params, body, ifMatch: item.if_match, ifClaim: item.if_claim }]
  })
  if (issues.length > 0) throw validationFailed(issues)
  return planned
}

/** The scope of a batch is that of routine writes. What requires more must not be done with it (spec §5, "Scopes"). */
function findOperation({ operations, engine }: Services, { operation: id }: BatchItem, refuse: Refuse) {
  const operation = operations.find((row) => row.id === id)
  if (operation?.kind !== 'single' || !isBatchable(operation)) return void refuse('operation', 'is not the id of a write on a board')
  const facts = (scopes: readonly string[]) => scopeFacts(engine.vocabulary, { scopes })
  const { required: scope } = engine.checkScope('batch Board', facts([]))
  const { allowed, required } = engine.checkScope(operation.permission, facts([scope]))
  if (allowed) return operation
  return void refuse('operation', `requires ${required}: a batch cannot have it`)
}

function paramsOf({ path }: Operation, { params }: BatchItem, boardId: string, refuse: Refuse): Record<string, string> {
  const names = namesInPath(path)
  for (const name of Object.keys(params)) if (!names.includes(name)) refuse(`params.${name}`, 'is not a parameter of this operation')
  return Object.fromEntries(
    names.map((name) => {
      const text = params[name] ?? (name === 'board_id' ? boardId : undefined)
      if (text === undefined) refuse(`params.${name}`, 'is missing')
      return [name, text ?? '']
    }),
  )
}

function bodyOf({ body: schema }: Operation, { body }: BatchItem, refuse: Refuse): unknown {
  if (schema === undefined) {
    // As a request without a body: `{}` is one, too.
    if (body !== undefined && JSON.stringify(body) !== '{}') refuse('body', 'is not accepted by this operation')
    return undefined
  }
  const result = schema.safeParse(body)
  if (result.success) return result.data
  for (const { path, message } of issuesOf(result.error, 'body')) refuse(path === '' ? 'body' : `body.${path}`, message)
  return undefined
}

/** @param before the operations before this one */
function checkReferences(
  { operation, params, body }: Pick<PlannedOperation, 'operation' | 'params' | 'body'>,
  before: readonly BatchItem[],
  rows: readonly Operation[],
  refuse: Refuse,
): void {
  const shape = shapeOf(operation)
  const members = Object.entries((body ?? {}) as object).filter(([name]) => shape[name] !== undefined && isIdMember(shape[name]))
  const named = [
    ...Object.entries(params).map(([name, text]) => [`params.${name}`, text]),
    ...members.map(([name, value]) => [`body.${name}`, value]),
  ]
  for (const [path, value] of named as [string, unknown][]) {
    for (const text of [value].flat()) {
      const at = typeof text === 'string' ? REFERENCE.exec(text)?.[1] : undefined
      if (at === undefined) continue
      const creates = rows.find(({ id }) => id === before[Number(at)]?.operation)?.status === 201
      if (!creates) refuse(path, `must refer to an earlier operation that creates something: "${text as string}" does not`)
    }
  }
}

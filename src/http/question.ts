import type { z } from 'zod'
import type { Caller } from '../authz/context.ts'
import { OWN_ID } from '../model/fields.ts'
import type { Evaluation, Question } from '../resources/access/schema.ts'
import { namesInPath, type Operation, type OperationRequest } from '../resources/operation.ts'
import type { Turn } from '../governor/turns.ts'
import { isIdMember, isUserMember, shapeOf, withOwnId, withOwnParameter } from './body-members.ts'
import { invalidMember, Issues, type Refuse } from '../model/validation.ts'
import type { Services } from './services.ts'

/** The type of the resource of operations whose path has no parameter. */
const WORKSPACE = 'workspace'

/** A request that is not made: the parts of an operation's input that its permission depends on. */
export interface Evaluated {
  readonly operation: Operation
  /** who would perform it */
  readonly caller: Caller
  readonly params: Readonly<Record<string, string>>
  /** the members of the body that the decision depends on */
  readonly body: Readonly<Record<string, unknown>>
  /** the members of the body that are to be changed; undefined: all that the operation takes */
  readonly members: readonly string[] | undefined
  /** the workspace that the question names, if it is about the workspace itself */
  readonly workspaceId: string | undefined
  /** what the operation must name, and the question does not: only a search leaves something open */
  readonly open: readonly string[]
}

/**
 * The request that is asked about.
 * @throws {ApiError} `validation_failed`
 */
export function requestOf(one: Evaluated, request: OperationRequest): OperationRequest {
  const { operation, caller, params } = one
  const receive = operation.takesUpload ? noUpload : undefined
  const body = bodyOf(one)
  const broken = operation.bodyRule?.(params, body)
  if (broken !== undefined) throw invalidMember(broken.path, broken.message)
  return request.with({ caller, params, query: {}, body, receive })
}

/** An upload that is not there: who uploads a file owns it. */
async function noUpload(): Promise<never> {
  throw new TypeError('an evaluation receives no file')
}

/**
 * The members of the body that the permission depends on.
 * @throws {ApiError} `validation_failed`
 */
function bodyOf(one: Evaluated): object {
  const { operation, body, members } = one
  const issues = new Issues()
  for (const name of unknownMembers(one)) issues.refuse(name.slice(0, LONGEST_NAME), UNKNOWN_MEMBER)
  issues.throwIfAny()
  const changed = members ?? Object.keys(shapeOf(operation))
  return operation.fields === undefined ? { ...defaultsOf(operation), ...body } : Object.fromEntries(changed.map((name) => [name, null]))
}

export const UNKNOWN_MEMBER = 'is not a known member'

/** The members that are to be changed, and that no body of the operation has. */
export function unknownMembers({ operation, members = [] }: Evaluated): string[] {
  const taken = Object.keys(shapeOf(operation))
  return members.filter((name) => !taken.includes(name))
}

/** characters of a name that an answer repeats */
const LONGEST_NAME = 100

/**
 * Reads all questions.
 * @throws {ApiError} `validation_failed`, with the issues of all
 */
export async function readQuestions(
  { operations }: Pick<Services, 'operations'>,
  caller: Caller,
  questions: readonly Question[],
  turn: Pick<Turn, 'spent'>,
): Promise<Evaluated[]> {
  const issues = new Issues()
  const evaluated: Evaluated[] = []
  for (const { asked, path } of questions) {
    await turn.spent()
    const read = readQuestion(operations, caller, asked, (at, message) => issues.refuse(path + at, message))
    if (read !== undefined) evaluated.push(read)
  }
  issues.throwIfAny()
  return evaluated
}

function readQuestion(
  operations: readonly Operation[],
  caller: Caller,
  { subject, action, resource }: Evaluation,
  refuse: Refuse,
): Evaluated | undefined {
  checkSubject(caller, subject, refuse)
  const operation = operations.find(({ id }) => id === action.name)
  if (operation === undefined) return void refuse('action.name', NO_OPERATION)
  const type = typeOf(operation)
  if (resource.type !== type) refuse('resource.type', `must be ${type} for ${operation.id}`)
  return readNames(operation, caller, action.properties, resource, refuse)
}

export const NO_OPERATION = 'is not the id of an operation'

/** Refuses another subject than the caller. */
export function checkSubject(caller: Caller, subject: Evaluation['subject'], refuse: Refuse): void {
  const own = [OWN_ID, { user: caller.userId, token: caller.token?.id }[subject.type]]
  if (!own.includes(subject.id)) refuse('subject.id', 'must be me, or your own id: what others may do is not answered')
}

/** The type of the resource that an operation is about. */
export function typeOf({ path }: Operation): string {
  return namesInPath(path)[0]?.replace(/_id$/, '') ?? WORKSPACE
}

/** The names of an operation's further parameters, as properties of its resource. */
export function furtherNames(operation: Operation): string[] {
  return [...namesInPath(operation.path).slice(1), ...namesOf(operation).keys()]
}

/**
 * Reads what a question names.
 * @param caller who asks: `me` stands for them
 * @param isOpen whether it may leave out what the operation must name
 */
export function readNames(
  operation: Operation,
  caller: Caller,
  actionProperties: Evaluation['action']['properties'],
  { id, properties = {} }: Pick<Evaluation['resource'], 'id' | 'properties'>,
  refuse: Refuse,
  isOpen = false,
): Evaluated {
  const [first, ...others] = namesInPath(operation.path)
  const names = namesOf(operation)
  const open: string[] = []
  const miss = (name: string): void => void (isOpen ? open.push(name) : refuse(`resource.properties.${name}`, 'is missing'))
  for (const name of Object.keys(properties))
    if (!others.includes(name) && !names.has(name)) refuse(`resource.properties.${name}`, 'names nothing in this operation')
  const params: Record<string, string> = first === undefined ? {} : { [first]: id }
  for (const name of others) {
    const value = properties[name]
    if (typeof value === 'string') params[name] = value
    else if (value === undefined) miss(name)
    else refuse(`resource.properties.${name}`, 'must be text')
  }
  const body: Record<string, unknown> = {}
  for (const [name, schema] of names) {
    const given = Object.hasOwn(properties, name) ? properties[name] : actionProperties?.[name]
    const value = isUserMember(schema) ? withOwnId(given, caller.userId) : given
    if (value === undefined && schema.safeParse(undefined).success) continue
    const result = schema.safeParse(value)
    if (result.success) body[name] = result.data
    else if (value === undefined) miss(name)
    else refuse(`resource.properties.${name}`, 'has not the type that the operation takes')
  }
  const workspaceId = first === undefined && id !== OWN_ID ? id : undefined
  // Clients send empty properties for no properties.
  const members = Object.keys(actionProperties ?? {})
  return {
    operation,
    caller,
    params: withOwnParameter(params, caller.userId),
    body,
    members: members.length === 0 ? undefined : members,
    workspaceId,
    open,
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

import type { Refuse, ValidationIssue } from '../model/validation.ts'
import { suggestion } from './argument-messages.ts'
import { isObject, readValue } from './argument-values.ts'
import { OF_CALL } from './batch-schema.ts'
import { argumentNames, OPERATION, schemaOf, type Callable } from './callable.ts'
import { readOperation, type Kept, type OperationArgumentsRead } from './operation-arguments.ts'
import type { ToolList } from './tool-list.ts'
import { partsOf } from './tool-request.ts'

type Members = Readonly<Record<string, unknown>>

/** The arguments of an item that are no parameters of its operation. */
const OF_ITEM = ['if_match', 'if_claim'] as const

/** The items of a batch, as they are meant. */
export interface BatchItemsRead {
  /** as the API takes them */
  readonly items: unknown
  readonly kept: readonly Kept[]
  /** what the API would say of what has no issue yet */
  readonly further: () => readonly ValidationIssue[]
}

/** Reads the items of a batch. Each is read like a call of its own, see {@link readOperation}. */
export function readBatchItems(list: ToolList, value: unknown, userId: string, refuse: Refuse): BatchItemsRead {
  const read = readValue({ type: 'array', items: { type: 'object' } }, value, { path: 'operations', refuse })
  if (!Array.isArray(read)) return { items: read, kept: [], further: () => [] }
  const further: (() => readonly ValidationIssue[])[] = []
  const kept: Kept[] = []
  const items = read.map((item: unknown, i) => {
    const given = asObject(item)
    if (given === undefined) return item
    const at = (path: string) => `operations.${i}.${path}`
    const callable = list.callableOf(given[OPERATION])
    const refusal = list.refusalInBatch(callable)
    if (refusal !== undefined) refuse(at(OPERATION), refusal)
    if (callable === undefined) return given
    const own = readItem(callable, given, userId)
    for (const { path, message } of own.issues) refuse(at(path), message)
    kept.push(...own.kept.map((one) => ({ ...one, path: at(one.path) })))
    further.push(() => own.further().map((issue) => ({ ...issue, path: at(issue.path) })))
    return inFormOfApi(callable, own)
  })
  return { items, kept, further: () => further.flatMap((issues) => issues()) }
}

function readItem(callable: Callable, item: Members, userId: string): OperationArgumentsRead {
  const { id } = callable.operation
  return readOperation(callable, givenIn(callable, item), {
    userId,
    valueOf: (name, schema, value, refuse) =>
      OF_CALL.has(name)
        ? void (value !== null && refuse(name, 'is not an argument of an item: give it beside "operations", for the whole batch'))
        : readValue(schema, value, { path: name, refuse, takesReferences: true }),
    foreign(name, value) {
      if (value === null) return undefined
      const known = argumentNames(callable).filter((one) => !OF_CALL.has(one))
      const hint = suggestion(name, known)
      return `is not an argument of ${id}${hint === undefined ? '' : ` (${hint})`}`
    },
    assumed: {},
    // The batch names the board.
    known: 'board_id',
  })
}

function inFormOfApi(callable: Callable, { values }: OperationArgumentsRead): unknown {
  const { id, body } = callable.operation
  const { params, members } = partsOf(callable, values)
  const own = OF_ITEM.filter((name) => values[name] !== undefined).map((name) => [name, values[name]] as const)
  return { [OPERATION]: id, params, ...(body === undefined ? {} : { body: members }), ...Object.fromEntries(own) }
}

/** All arguments of an item: those beside its operation, and in the form of the API those in its `params` and `body`. */
function givenIn(callable: Callable, { params, body, ...others }: Members): (readonly [string, unknown])[] {
  const beside = Object.entries(others).filter(([name, value]) => name !== OPERATION && value !== undefined)
  const isText = typeof body === 'string' && schemaOf(callable, 'body') !== undefined
  return [...beside, ...membersOf('params', params), ...(isText ? [['body', body] as const] : membersOf('body', body))]
}

/** The members of an object; what is none is an argument itself. */
function membersOf(name: string, value: unknown): (readonly [string, unknown])[] {
  if (value === null || value === undefined) return []
  const object = asObject(value)
  return object === undefined ? [[name, value]] : Object.entries(object)
}

/** An object, also as JSON text. */
function asObject(value: unknown): Members | undefined {
  const read = readValue({ type: 'object' }, value, { path: '', refuse: () => {} })
  return isObject(read) ? read : undefined
}

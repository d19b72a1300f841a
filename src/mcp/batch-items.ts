import { issuesOfInput } from '../http/input.ts'
import { missingArgument, suggestion } from './argument-messages.ts'
import { readValue } from './argument-values.ts'
import { OF_CALL } from './batch-schema.ts'
import { argumentNames, OPERATION, schemaOf, type Callable } from './callable.ts'
import type { ToolList } from './tool-list.ts'
import { argumentIssue, partsOf } from './tool-request.ts'

type Refuse = (path: string, message: string) => void
type Members = Readonly<Record<string, unknown>>

/** The arguments of an item that are no parameters of its operation. */
const OF_ITEM = new Set(['if_match', 'if_claim'])
/** Characters of a name that an error repeats. */
const LONGEST_NAME = 100

/**
 * Reads the items of a batch.
 * @returns them as the API takes them
 */
export function readBatchItems(list: ToolList, value: unknown, userId: string, refuse: Refuse): unknown {
  const read = readValue({ type: 'array', items: { type: 'object' } }, value, { path: 'operations', refuse })
  if (!Array.isArray(read)) return read
  return read.map((item: unknown, i) => {
    const given = asObject(item)
    return given === undefined ? item : readItem(list, given, userId, (path, message) => refuse(`operations.${i}.${path}`, message))
  })
}

function readItem(list: ToolList, item: Members, userId: string, refuse: Refuse): unknown {
  const callable = list.callableOf(item[OPERATION])
  if (callable === undefined) {
    refuse(OPERATION, 'is not the id of a write on a board')
    return item
  }
  const { operation } = callable
  const found = new Set<string>()
  const refuseOnce: Refuse = (path, message) => {
    if (!found.has(path)) refuse(path, message)
    found.add(path)
  }
  const values = new Map<string, unknown>()
  for (const [name, value] of flatten(callable, item)) {
    const schema = OF_CALL.has(name) ? undefined : schemaOf(callable, name)
    if (schema === undefined) {
      const hint = suggestion(name, argumentNames(callable))
      refuseOnce(name.slice(0, LONGEST_NAME), `is not an argument of ${operation.id}${hint === undefined ? '' : ` (${hint})`}`)
      continue
    }
    const read = value === null ? null : readValue(schema, value, { path: name, refuse: refuseOnce, takesReferences: true })
    if (read !== undefined) values.set(name, read)
    const message = read === undefined ? undefined : argumentIssue(name, read)
    if (message !== undefined) refuseOnce(name, message)
  }
  for (const name of callable.arguments.required)
    if (name !== 'board_id' && !values.has(name)) refuseOnce(name, missingArgument(callable, name))
  const own = [...values].filter(([name]) => OF_ITEM.has(name))
  const { params, search, members } = partsOf(callable, Object.fromEntries([...values].filter(([name]) => !OF_ITEM.has(name))))
  const body = operation.body && members
  if (found.size > 0) for (const { path, message } of issuesOfInput(operation, params, userId, search, body)) refuseOnce(path, message)
  return { [OPERATION]: operation.id, params, ...(body === undefined ? {} : { body }), ...Object.fromEntries(own) }
}

/**
 * The arguments of an item, without null. In the form of the API, where they are in `params` and `body`, null is meant: the schema of the
 * tool has no such members, so no client has added it.
 */
function flatten(callable: Callable, { params, body, ...others }: Members): [string, unknown][] {
  const isText = typeof body === 'string' && schemaOf(callable, 'body') !== undefined
  const [inParams, inBody] = [asObject(params), isText ? undefined : asObject(body)]
  const plain = { ...others, ...(inParams === undefined ? { params } : inParams), ...(inBody === undefined ? { body } : {}) }
  const given = Object.entries(plain).filter(([name, value]) => name !== OPERATION && value !== null && value !== undefined)
  return [...given, ...Object.entries(inBody ?? {})]
}

/** An object, also as JSON text. */
function asObject(value: unknown): Members | undefined {
  const read = readValue({ type: 'object' }, value, { path: '', refuse: () => {} })
  return typeof read === 'object' && read !== null && !Array.isArray(read) ? (read as Members) : undefined
}

import type { Tool } from '@modelcontextprotocol/server'
import { scopeFacts } from '../authz/facts.ts'
import type { JsonSchema } from '../http/openapi/types.ts'
import type { Engine } from '../policy/engine.ts'
import type { Operation } from '../resources/operation.ts'
import { argumentsOf, mergeSchemas, type OperationArguments } from './input-schema.ts'
import { tools, type Effect, type ToolRow } from './catalog.ts'

/** The annotations by effect: hints for the user interface of a client, and never a protection. */
const annotations: Readonly<Record<Effect, Tool['annotations']>> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  add: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  arrange: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  replace: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  any: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
}

/** The argument that selects an operation of a tool with several. */
export const OPERATION = 'operation'
/** Arguments that become headers. */
export const IDEMPOTENCY_KEY = 'idempotency_key'
export const IF_MATCH = 'if_match'

const headerArguments: Readonly<Record<string, JsonSchema>> = {
  [IDEMPOTENCY_KEY]: {
    type: 'string',
    description: 'A new UUID for each change. A call that is repeated with the same key is made once.',
  },
  [IF_MATCH]: { type: 'string', description: 'The `etag` of what you read. If that has changed since, the call changes nothing.' },
}

/** An operation that a tool can call. */
export interface Callable {
  readonly operation: Operation
  readonly arguments: OperationArguments
}

/** A tool with its operations. */
export interface CallableTool extends ToolRow {
  readonly callables: readonly Callable[]
}

/** The tools, and which of them a token sees. */
export class ToolList {
  /** by name */
  readonly #all: ReadonlyMap<string, CallableTool>
  readonly #engine: () => Engine
  /** for one policy, by the scopes of a token. There are as many as scopes. */
  readonly #seen = new Map<string, readonly Tool[]>()
  #seenWith: string | undefined

  /** @param operations the operations table; an operation that it does not have is not offered */
  constructor(engine: () => Engine, operations: readonly Operation[], rows: readonly ToolRow[] = tools) {
    const table = new Map(operations.map((operation) => [operation.id, operation]))
    const callable = (id: string): Callable[] => {
      const operation = table.get(id)
      return operation === undefined ? [] : [{ operation, arguments: argumentsOf(operation) }]
    }
    this.#engine = engine
    this.#all = new Map(rows.map((row) => [row.name, { ...row, callables: row.operations.flatMap(callable) }]))
  }

  /** A tool by its name. Whether the token may call it is decided by the pipeline. */
  find(name: string): CallableTool | undefined {
    return this.#all.get(name)
  }

  /** Whether the scope table allows an operation to a token with these scopes. */
  isAllowed({ permission }: Operation, scopes: readonly string[]): boolean {
    const { checkScope, vocabulary } = this.#engine()
    return checkScope(permission, scopeFacts(vocabulary, { scopes: [...scopes] })).allowed
  }

  /** The tools that a token with these scopes can use, each with the operations that it can use. */
  visibleWith(scopes: readonly string[]): readonly Tool[] {
    const { hash } = this.#engine()
    if (this.#seenWith !== hash) this.#seen.clear()
    this.#seenWith = hash
    const key = scopes.join(' ')
    const known = this.#seen.get(key)
    if (known !== undefined) return known
    const visible = [...this.#all.values()].flatMap((tool) => {
      const callables = tool.callables.filter(({ operation }) => this.isAllowed(operation, scopes))
      return callables.length === 0 ? [] : [describeTool(tool, callables, tool.callables.length > 1)]
    })
    this.#seen.set(key, visible)
    return visible
  }
}

/** @param isSelected whether the argument `operation` selects the operation, even if only one of them is visible */
function describeTool({ name, title, description, effect }: ToolRow, callables: readonly Callable[], isSelected: boolean): Tool {
  const lines = callables.map((one) => (isSelected ? `- ${signatureOf(one)}: ${one.operation.summary}` : one.operation.summary))
  const [first, ...others] = callables.map((one) => one.arguments.required)
  const shared = first!.filter((argument) => others.every((required) => required.includes(argument)))
  return {
    name,
    title,
    description: [description, ...lines].filter((line) => line !== '').join('\n'),
    inputSchema: {
      type: 'object',
      properties: propertiesOf(callables, isSelected) as Record<string, object>,
      required: [...(isSelected ? [OPERATION] : []), ...shared],
      additionalProperties: false,
    } as Tool['inputSchema'],
    annotations: annotations[effect],
  }
}

/** Arguments of every write or of most reads: they are not repeated for each operation. */
const COMMON = new Set(['dry_run', 'fields'])

/** `cards.move(card_id, column_id?)` */
function signatureOf({ operation: { id }, arguments: { path, query, body, required } }: Callable): string {
  const names = [...path, ...Object.keys(query), ...Object.keys(body)].filter((name) => !COMMON.has(name))
  return `${id}(${names.map((name) => (required.includes(name) ? name : `${name}?`)).join(', ')})`
}

function propertiesOf(callables: readonly Callable[], isSelected: boolean): Record<string, JsonSchema> {
  const schemas = new Map<string, JsonSchema[]>()
  const add = (name: string, schema: JsonSchema): void => void schemas.set(name, [...(schemas.get(name) ?? []), schema])
  if (isSelected) add(OPERATION, { type: 'string', enum: callables.map(({ operation }) => operation.id) })
  for (const { operation, arguments: given } of callables) {
    for (const name of given.path) add(name, { type: 'string' })
    for (const [name, schema] of Object.entries({ ...given.query, ...given.body })) add(name, schema)
    for (const name of headersOf(operation)) add(name, headerArguments[name]!)
  }
  return Object.fromEntries([...schemas].map(([name, all]) => [name, mergeSchemas(all)]))
}

/** The arguments of an operation that become headers. */
export function headersOf({ isRead, entity }: Operation): string[] {
  if (isRead) return []
  return [IDEMPOTENCY_KEY, ...(entity === undefined ? [] : [IF_MATCH])]
}

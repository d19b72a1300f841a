import type { Tool } from '@modelcontextprotocol/server'
import { Decisions } from '../authz/decisions.ts'
import type { JsonSchema } from '../http/openapi/types.ts'
import type { Engine } from '../policy/engine.ts'
import { writesToCard, type Operation } from '../resources/operation.ts'
import { argumentsOf, mergeSchemas, type OperationArguments } from './input-schema.ts'
import { summariesInTools, tools, type Effect, type ToolRow } from './catalog.ts'

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

/** The arguments that become headers, whose names have hyphens. */
const headerArguments = {
  idempotency_key: { type: 'string', description: 'A new UUID: with it, a call can be repeated.' },
  if_match: { type: 'string', description: 'The `etag` that you have read: refused if it has changed.' },
  if_claim: { type: 'integer', description: 'The `epoch` of your claim: refused if you have lost it.' },
} as const
type HeaderArgument = keyof typeof headerArguments

/** An operation that a tool can call. */
export interface Callable {
  readonly operation: Operation
  /** whether it uploads a text, in the place of its body */
  readonly uploadsText: boolean
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
  /** the ids of the operations by their method and path */
  readonly #idOf: ReadonlyMap<string, string>
  readonly #engine: () => Engine
  /** for one policy, by the scopes of a token. There are as many as scopes. */
  readonly #seen = new Map<string, readonly Tool[]>()
  #seenWith: string | undefined

  /** @param operations the operations table; an operation that it does not have is not offered */
  constructor(engine: () => Engine, operations: readonly Operation[]) {
    const table = new Map(operations.map((operation) => [operation.id, operation]))
    const callables = ({ operations: ids, uploadsText = false }: ToolRow): Callable[] =>
      ids.flatMap((id) => {
        const operation = table.get(id)
        return operation === undefined ? [] : [{ operation, uploadsText, arguments: argumentsOf(operation, uploadsText) }]
      })
    this.#engine = engine
    this.#all = new Map(tools.map((row) => [row.name, { ...row, callables: callables(row) }]))
    this.#idOf = new Map(operations.map(({ id, method, path }) => [`${method} ${path}`, id]))
  }

  /** All tools, whatever the scopes of a token. */
  get all(): readonly CallableTool[] {
    return [...this.#all.values()]
  }

  /** The name of the tool that has an operation. */
  toolOf(id: unknown): string | undefined {
    return this.all.find(({ callables }) => callables.some(({ operation }) => operation.id === id))?.name
  }

  /** A tool by its name. Whether the token may call it is decided by the pipeline. */
  find(name: string): CallableTool | undefined {
    return this.#all.get(name)
  }

  /** Whether the scope table allows an operation to a token with these scopes. */
  isAllowed({ permission }: Operation, scopes: readonly string[]): boolean {
    return Decisions.of(this.#engine()).scope(permission, { scopes }).allowed
  }

  /** The tools that a token with these scopes can use, each with the operations that it can use. */
  visibleWith(scopes: readonly string[]): readonly Tool[] {
    const { hash } = this.#engine()
    if (this.#seenWith !== hash) this.#seen.clear()
    this.#seenWith = hash
    const key = scopes.join(' ')
    const known = this.#seen.get(key)
    if (known !== undefined) return known
    const visible = this.all.flatMap((tool) => {
      const callables = tool.callables.filter(({ operation }) => this.isAllowed(operation, scopes))
      return callables.length === 0 ? [] : [this.#inCalls(describeTool(tool, callables, tool.callables.length > 1))]
    })
    this.#seen.set(key, visible)
    return visible
  }

  /** What is described for HTTP, as a model writes it: an operation by its id, and a parameter without a question mark. */
  #inCalls(tool: Tool): Tool {
    const text = JSON.stringify(tool)
      .replaceAll(/\b[A-Z]+ \/[\w/{}]+/g, (request) => this.#idOf.get(request) ?? request)
      .replaceAll(/(?<=[a-z])\?(?=\w+=)/g, ' with ')
      .replaceAll(/\?(?=\w+=)/g, '')
    return JSON.parse(text) as Tool
  }
}

/** @param isSelected whether the argument `operation` selects the operation, even if only one of them is visible */
function describeTool({ name, title, description, effect }: ToolRow, callables: readonly Callable[], isSelected: boolean): Tool {
  // The annotations say of the whole tool that a call can be repeated.
  const summaryOf = ({ operation: { id, summary } }: Callable) =>
    (summariesInTools[id] ?? summary).replace(' Repeating it changes nothing.', '')
  const alone = description === '' ? callables.map(summaryOf) : []
  const lines = isSelected ? callables.map((one) => `- ${signatureOf(one)}: ${summaryOf(one)}`.replace(SAID_BY_ID, '')) : alone
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

/** A summary that says no more than the id of its operation: `columns.read(column_id): Returns a column.` */
const SAID_BY_ID = /: (?:Returns|Archives|Deletes) an? \w+\.$/
/** A description that says no more than the name of its argument. */
const SAID_BY_NAME = /^(?:The (?:id|name|title) of (?:a|the) \w+|Whether the \w+ is completed)\.$/

/** Arguments of every write, of most reads or of every list: they are not repeated for each operation. */
const COMMON = new Set(['dry_run', 'fields', 'limit', 'cursor'])

/** `cards.move(card_id, column_id?)` */
function signatureOf({ operation: { id, requiresClaim }, arguments: { path, query, body, required } }: Callable): string {
  const names = [...path, ...Object.keys(query), ...Object.keys(body)].filter((name) => !COMMON.has(name))
  const stated = names.map((name) => (required.includes(name) ? name : `${name}?`))
  return `${id}(${[...stated, ...(requiresClaim ? ['if_claim'] : [])].join(', ')})`
}

function propertiesOf(callables: readonly Callable[], isSelected: boolean): Record<string, JsonSchema> {
  const schemas = new Map<string, JsonSchema[]>()
  const add = (name: string, schema: JsonSchema): void => void schemas.set(name, [...(schemas.get(name) ?? []), schema])
  if (isSelected) add(OPERATION, { type: 'string', enum: callables.map(({ operation }) => operation.id) })
  for (const { operation, arguments: given } of callables) {
    for (const name of given.path) add(name, { type: 'string' })
    for (const [name, schema] of Object.entries({ ...given.query, ...given.body })) add(name, schema)
    for (const name of headersOf(operation)) add(name, headerArguments[name])
  }
  return Object.fromEntries([...schemas].map(([name, all]) => [name, mergeSchemas(all.map(withoutObvious))]))
}

/** A schema without the descriptions, also in it, that say nothing new. An error about the argument still has them. */
function withoutObvious(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (_name, value: unknown) => {
    const { description, ...others } = Object(value) as JsonSchema
    return typeof description === 'string' && SAID_BY_NAME.test(description) ? others : value
  }) as JsonSchema
}

/** The names of all arguments of an operation. */
export function argumentNames({ operation, arguments: { path, query, body } }: Callable): string[] {
  return [...path, ...Object.keys(query), ...Object.keys(body), ...headersOf(operation)]
}

/** The arguments of an operation that become headers. */
export function headersOf(operation: Operation): HeaderArgument[] {
  const { isRead, entity } = operation
  if (isRead) return []
  return [
    'idempotency_key',
    ...(entity === undefined ? [] : (['if_match'] as const)),
    ...(writesToCard(operation) ? (['if_claim'] as const) : []),
  ]
}

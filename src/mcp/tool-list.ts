import type { Tool } from '@modelcontextprotocol/server'
import { Decisions } from '../authz/decisions.ts'
import type { JsonSchema } from '../http/openapi/types.ts'
import type { Engine } from '../policy/engine.ts'
import type { Operation } from '../resources/operation.ts'
import { isBatchable } from '../resources/batch/operations.ts'
import { batchSchema, isBatchItems } from './batch-schema.ts'
import { isUnlisted, summariesInTools, tools, type Effect, type ToolRow } from './catalog.ts'
import { argumentsOf, OFFSET } from './input-schema.ts'
import { argumentNames, listedArgument, OPERATION, type Callable, type CallableTool } from './callable.ts'
import { mergeSchemas } from './merged-schema.ts'

/** The annotations by effect: hints for the user interface of a client, and never a protection. */
const annotations: Readonly<Record<Effect, Tool['annotations']>> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  add: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  arrange: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  replace: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  any: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
}

/** The tools, and which of them a token sees. */
export class ToolList {
  /** by name */
  /** all tools, whatever the scopes of a token */
  readonly all: readonly CallableTool[]
  readonly #byName: ReadonlyMap<string, CallableTool>
  /** the operations, except for those that upload a text */
  readonly #byId: ReadonlyMap<unknown, Callable>
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
    this.all = tools.map((row) => ({ ...row, callables: callables(row) }))
    this.#byName = new Map(this.all.map((tool) => [tool.name, tool]))
    const single = this.all.flatMap((tool) => tool.callables).filter(({ uploadsText }) => !uploadsText)
    this.#byId = new Map(single.map((one) => [one.operation.id, one]))
    this.#idOf = new Map(operations.map(({ id, method, path }) => [`${method} ${path}`, id]))
  }

  /** The name of the tool that has an operation. */
  toolOf(id: unknown): string | undefined {
    return this.all.find(({ callables }) => callables.some(({ operation }) => operation.id === id))?.name
  }

  /** A tool by its name. Whether the token may call it is decided by the pipeline. */
  find(name: string): CallableTool | undefined {
    return this.#byName.get(name)
  }

  /** An operation by its id, as one of a batch. */
  callableOf(id: unknown): Callable | undefined {
    return this.#byId.get(id)
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
      return callables.length === 0 ? [] : [this.#inCalls(describeTool(tool, callables, tool.callables.length > 1, this.#batchItems()))]
    })
    this.#seen.set(key, visible)
    return visible
  }

  /** Why a batch cannot have an operation: it has what its own scope allows, whatever else a token has. Undefined: it can. */
  refusalInBatch(callable: Callable | undefined): string | undefined {
    if (callable === undefined || callable.uploadsText || !isBatchable(callable.operation)) return 'is not the id of a write on a board'
    const decisions = Decisions.of(this.#engine())
    const { required: scope } = decisions.scope('batch Board', { scopes: [] })
    const { allowed, required } = decisions.scope(callable.operation.permission, { scopes: [scope] })
    return allowed ? undefined : `requires ${required}: a batch cannot have it`
  }

  /** The list of the operations that a batch can have. */
  #batchItems(): JsonSchema {
    const callables = this.all.flatMap((tool) => tool.callables)
    return batchSchema(callables.filter((one) => this.refusalInBatch(one) === undefined))
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

/**
 * @param isSelected whether the argument `operation` selects the operation, even if only one of them is visible
 * @param batchItems the schema of the operations of a batch
 */
function describeTool(
  { name, title, description = '', effect }: ToolRow,
  callables: readonly Callable[],
  isSelected: boolean,
  batchItems: JsonSchema,
): Tool {
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
      properties: propertiesOf(callables, isSelected, batchItems) as Record<string, object>,
      required: [...(isSelected ? [OPERATION] : []), ...shared],
      additionalProperties: false,
    } as Tool['inputSchema'],
    annotations: annotations[effect],
  }
}

/** A summary that says no more than the id of its operation: `columns.read(column_id): Returns a column.` */
const SAID_BY_ID = /: (?:(?:Returns|Archives|Deletes) an? \w+\.)?$/
/** A description that says no more than the name of its argument. */
const SAID_BY_NAME = /^(?:The (?:id|name|title) of (?:a|the) \w+|Whether the \w+ is completed)\.$/

/** Arguments of every write, of most reads or of every list: they are not repeated for each operation. */
const COMMON = new Set(['dry_run', 'fields', 'limit', 'cursor', OFFSET])

/** `cards.move(card_id, column_id?)` */
function signatureOf({ operation: { id, requiresClaim }, arguments: { path, query, body, required } }: Callable): string {
  const all = [path, query, body].flatMap(Object.keys)
  const names = all.filter((name) => !COMMON.has(name) && !isUnlisted(id, name))
  const stated = names.map((name) => (required.includes(name) ? name : `${name}?`))
  return `${id}(${[...stated, ...(requiresClaim ? ['if_claim'] : [])].join(', ')})`
}

function propertiesOf(callables: readonly Callable[], isSelected: boolean, batchItems: JsonSchema): Record<string, JsonSchema> {
  const schemas = new Map<string, JsonSchema[]>()
  const add = (name: string, schema: JsonSchema): void => void schemas.set(name, [...(schemas.get(name) ?? []), schema])
  if (isSelected) add(OPERATION, { type: 'string', enum: callables.map(({ operation }) => operation.id) })
  for (const one of callables) {
    const { id } = one.operation
    for (const name of argumentNames(one))
      if (!isUnlisted(id, name)) add(name, isBatchItems(one, name) ? batchItems : listedArgument(one, name))
  }
  const merged = [...schemas].map(([name, all]) => {
    const isOfAll = name === OPERATION || all.length === callables.length
    return [name, withDefaultInWords(mergeSchemas(all.map(withoutObvious), isOfAll))] as const
  })
  return Object.fromEntries(merged)
}

/** A schema that says its default. As a keyword, clients send it with each call, and strict modes refuse it. */
function withDefaultInWords({ default: value, ...schema }: JsonSchema): JsonSchema {
  if (value === undefined) return schema
  const said = typeof schema['description'] === 'string' ? `${schema['description']} ` : ''
  return { ...schema, description: `${said}Default: ${String(value)}.` }
}

/** A schema without the descriptions, also in it, that say nothing new. An error about the argument still has them. */
function withoutObvious(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (_name, value: unknown) => {
    const { description, ...others } = Object(value) as JsonSchema
    return typeof description === 'string' && SAID_BY_NAME.test(description) ? others : value
  }) as JsonSchema
}

import type { JsonSchema } from '../http/openapi/types.ts'
import { writesToCard, type Operation } from '../resources/operation.ts'
import type { ToolRow } from './catalog.ts'
import type { OperationArguments } from './input-schema.ts'
import { listedSchema } from './listed-schema.ts'

/** The argument that selects an operation of a tool with several. */
export const OPERATION = 'operation'

/** The arguments that become headers, whose names have hyphens. */
const headerArguments = {
  idempotency_key: { type: 'string', description: 'A new UUID: a call can be repeated.' },
  if_match: { type: 'string', description: 'The `etag` you read: refused if it has changed.' },
  if_claim: { type: 'integer', description: 'The `epoch` of your claim: refused if it was lost.' },
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

/** The names of all arguments of an operation. */
export function argumentNames({ operation, arguments: { path, query, body } }: Callable): string[] {
  return [...Object.keys(path), ...Object.keys(query), ...Object.keys(body), ...headersOf(operation)]
}

/** The whole schema of an argument; undefined if the operation has none of this name. */
export function schemaOf({ operation, arguments: { path, query, body } }: Callable, name: string): JsonSchema | undefined {
  for (const place of [path, query, body]) if (Object.hasOwn(place, name)) return place[name]
  return headersOf(operation).includes(name as HeaderArgument) ? headerArguments[name as HeaderArgument] : undefined
}

/** The schema of an argument in the list of tools. */
export function listedArgument(callable: Callable, name: string): JsonSchema {
  const { path, query } = callable.arguments
  if (Object.hasOwn(path, name)) return { type: 'string' }
  return listedSchema(Object.hasOwn(query, name) ? 'query' : 'body', name, schemaOf(callable, name)!)
}

/** Whether an argument becomes a header of a write. */
export function isHeader(name: string): boolean {
  return Object.hasOwn(headerArguments, name)
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

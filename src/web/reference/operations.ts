import type { VNode } from 'preact'
import {
  resolve,
  type JsonSchema,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  type ResponseObject,
} from '../../http/openapi/types.ts'
import { html } from '../html.ts'

/** An operation with its place in the document. */
export interface PlacedOperation {
  readonly method: string
  /** below /v1 */
  readonly path: string
  readonly operation: OperationObject
}

/** The operations of a document in its order. */
export function operationsOf({ paths }: OpenApiDocument): readonly PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

/** The operations of a document by their groups, in its order. */
export function groupsOf(document: OpenApiDocument): readonly { name: string; description: string; operations: PlacedOperation[] }[] {
  const all = operationsOf(document)
  return document.tags.map((tag) => ({ ...tag, operations: all.filter(({ operation }) => operation.tags.includes(tag.name)) }))
}

/** `board_members` → `Board members` */
export function groupTitle(name: string): string {
  return name[0]!.toUpperCase() + name.slice(1).replaceAll('_', ' ')
}

/** The scope that an operation requires. */
export function scopeOf({ security }: OperationObject): string {
  return security.flatMap(Object.values).flat().join(' ')
}

export function parametersOf(document: OpenApiDocument, { parameters }: OperationObject): readonly ParameterObject[] {
  return parameters.map((parameter) => resolve<ParameterObject>(document, parameter))
}

/** A status that an operation can answer. */
export interface PlacedResponse extends ResponseObject {
  readonly status: number
}

/** The responses of an operation by status. The one for any other failure is left out: every operation has it. */
export function responsesOf(document: OpenApiDocument, { responses }: OperationObject): readonly PlacedResponse[] {
  return Object.entries(responses)
    .filter(([status]) => status !== 'default')
    .map(([status, response]) => ({ status: Number(status), ...resolve<ResponseObject>(document, response) }))
}

/** An error that an operation can answer. */
export interface PlacedError {
  readonly status: number
  readonly code: string
  readonly meaning: string
}

/** The errors of an operation: its responses of failure name them, one in each paragraph. */
export function errorsOf(document: OpenApiDocument, operation: OperationObject): readonly PlacedError[] {
  return responsesOf(document, operation).flatMap(({ status, description }) =>
    [...description.matchAll(/^`(\w+)`: (.*)$/gm)].map(([, code, meaning]) => ({ status, code: code!, meaning: meaning! })),
  )
}

/** A member of a schema. */
export interface Member {
  /** with those around it: `data.labels[].name` */
  readonly path: string
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

/** The members of a schema in their order, nested ones included. A member that several alternatives have is there once. */
export function membersOf(document: OpenApiDocument, schema: JsonSchema, prefix = ''): readonly Member[] {
  const whole = resolve<JsonSchema>(document, schema)
  if (whole['items'] !== undefined) return membersOf(document, whole['items'] as JsonSchema, `${prefix}[]`)
  const parts = ['allOf', 'oneOf', 'anyOf'].flatMap((keyword) => (whole[keyword] ?? []) as readonly JsonSchema[])
  const required = (whole['required'] ?? []) as readonly string[]
  const own = Object.entries((whole['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>).flatMap(([name, member]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`
    const resolved = resolve<JsonSchema>(document, member)
    return [{ path, schema: resolved, isRequired: required.includes(name) }, ...membersOf(document, resolved, path)]
  })
  const all = [...parts.flatMap((part) => membersOf(document, part, prefix)), ...own]
  return [...new Map(all.toReversed().map((member) => [member.path, member])).values()].toReversed()
}

/** The method of an operation. Each has its color. */
export function methodBadge(method: string): VNode {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`
}

/**
 * An operation in a list.
 * @param names what else matches a search
 */
export function operationItem({ method, path, operation }: PlacedOperation, names: readonly string[] = []): VNode {
  return html`<li>
    <a href="/docs/${operation.operationId}">${operation.operationId}</a>
    <span class="request">${methodBadge(method)} <code>${path}</code></span>
    <span class="hint">${operation.summary}</span>
    ${names.length > 0 && html`<span class="hint">Matches ${names.map((name, i) => [i > 0 && ', ', html`<code>${name}</code>`])}</span>`}
  </li>`
}

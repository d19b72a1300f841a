// The parts of OpenAPI 3.1 that the document uses.

/** A JSON Schema (draft 2020-12). */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

export interface Reference {
  readonly $ref: string
}

export interface ParameterObject {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  readonly required?: boolean
  /** of a list that is one text */
  readonly style?: 'form'
  readonly explode?: true
  readonly schema: JsonSchema
  readonly example?: unknown
}

export interface HeaderObject {
  readonly description: string
  /** whether every response that lists it has it */
  readonly required?: boolean
  readonly schema: JsonSchema
  readonly example?: string
}

export interface MediaTypeObject {
  readonly schema?: JsonSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>
}

export interface ResponseObject {
  readonly description: string
  readonly headers?: Readonly<Record<string, HeaderObject | Reference>>
  readonly content?: Readonly<Record<string, MediaTypeObject>>
}

export interface OperationObject {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters: readonly (ParameterObject | Reference)[]
  readonly requestBody?: {
    readonly description: string
    readonly required: boolean
    readonly content: Readonly<Record<string, MediaTypeObject>>
  }
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>
  /** the rows of the specification: of the scope table, and of the permission table, also those about items of members of the body */
  readonly 'x-rows': {
    readonly scope: string
    readonly permission: string
    readonly also?: Readonly<Record<string, string>>
  }
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: Readonly<Record<string, unknown>> & { readonly title: string; readonly version: string; readonly description: string }
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, unknown>>
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly parameters: Readonly<Record<string, ParameterObject>>
    readonly headers: Readonly<Record<string, HeaderObject>>
    readonly responses: Readonly<Record<string, ResponseObject>>
  }
  /** the rows of the specification, in its words */
  readonly 'x-rows': Readonly<Record<string, string>>
}

export function isReference(value: object): value is Reference {
  return '$ref' in value
}

/** Returns what a reference of the document names, or the value itself. */
export function resolve<T extends object>(document: OpenApiDocument, value: T | Reference): T {
  if (!isReference(value)) return value
  return value.$ref
    .split('/')
    .slice(1)
    .reduce<any>((node, name) => node[name], document) as T
}

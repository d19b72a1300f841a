import type { JsonSchema, OpenApiDocument } from './types.ts'

// Generators of clients read a schema in their own ways. What means the same is written as all of them read it.

/**
 * A schema of a body without `default`, which is told in the description: generators make a member with a default a required one
 * (openapi-typescript), or send it, as if the caller had chosen it.
 */
export function withoutDefaults(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, ({ default: value, ...others }) => {
    if (value === undefined || isEmpty(value)) return others
    return { ...others, description: `${String(others['description'] ?? '')} Default: ${JSON.stringify(value)}.`.trim() }
  })
}

/** A value that says nothing. */
function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}

/** The document with an `enum` for each `const`: openapi-zod-client does not know `const`. */
export function withEnums(document: OpenApiDocument): OpenApiDocument {
  const { components } = document
  const { schemas, headers } = components
  return {
    ...document,
    components: {
      ...components,
      schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, mapSchema(schema, withEnum)])),
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, header]) => [name, { ...header, schema: mapSchema(header.schema, withEnum) }]),
      ),
    },
  }
}

function withEnum(schema: JsonSchema): JsonSchema {
  return schema['const'] === undefined || schema['enum'] !== undefined ? schema : { ...schema, enum: [schema['const']] }
}

/** Maps a schema and all schemas in it. */
function mapSchema(schema: JsonSchema, map: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const inner = Object.entries(schema).map(([keyword, value]) => {
    if (keyword === 'properties' || keyword === '$defs') {
      const members = Object.entries(value as Record<string, JsonSchema>)
      return [keyword, Object.fromEntries(members.map(([name, member]) => [name, mapSchema(member, map)]))]
    }
    if (Array.isArray(value)) return [keyword, value.map((one: unknown) => (isSchema(one) ? mapSchema(one, map) : one))]
    return [keyword, keyword !== 'default' && isSchema(value) ? mapSchema(value, map) : value]
  })
  return map(Object.fromEntries(inner) as JsonSchema)
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The bytes of a file. OpenAPI 3.1 says so by `contentMediaType`, and 3.0 by `format: binary`. Half of the generators know only the second:
 * without it, they make a file a text. There is no `maxLength`, which counts characters: openapi-zod-client would ask it of a `File`.
 */
export const BYTES_SCHEMA: JsonSchema = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' }

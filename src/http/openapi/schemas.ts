import { z } from 'zod'
import { BYTES_SCHEMA } from './for-generators.ts'
import type { JsonSchema } from './types.ts'

/** The schemas of requests or of responses by the names of their components. */
type NamedSchemas = ReadonlyMap<z.ZodType, string>

/**
 * Converts schemas to components.
 * @param io `input`: what a request may contain. `output`: what a response contains; clients must accept further members.
 */
export function convertAll(named: NamedSchemas, io: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [schema, id] of named) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { ...options(io), uri: (id) => `#/components/schemas/${id}` })
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, simplify(schema as JsonSchema, io)]))
}

/** Converts one schema that is no component. */
export function convertOne(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  return simplify(z.toJSONSchema(schema, options(io)) as JsonSchema, io)
}

/** What is registered of a schema. */
export function metaOf(schema: z.ZodType): { readonly id?: string | undefined } {
  return z.globalRegistry.get(schema) ?? {}
}

function options(io: 'input' | 'output') {
  return {
    target: 'draft-2020-12' as const,
    io,
    unrepresentable: 'any' as const,
    override: ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: Record<string, unknown> }) => {
      const { def } = zodSchema as unknown as z.ZodType & { def: { defaultValue?: unknown } }
      // The text of a query parameter has the type of the value that it expresses.
      if (jsonSchema['parameter'] !== undefined) replace(jsonSchema, jsonSchema['parameter'] as JsonSchema)
      // zod states no default of a member whose value is converted.
      if (def.type === 'default') jsonSchema['default'] = def.defaultValue
      if (def.type === 'file') replace(jsonSchema, BYTES_SCHEMA)
      if (jsonSchema['format'] === 'date-time') delete jsonSchema['pattern']
    },
  }
}

function replace(schema: Record<string, unknown>, by: JsonSchema): void {
  const { description } = schema
  for (const keyword of Object.keys(schema)) delete schema[keyword]
  Object.assign(schema, by, description === undefined ? {} : { description })
}

const DROPPED = new Set(['$schema', '$id', 'id', '~standard'])
/** The keywords whose value is an object of schemas by name, so that its members are no keywords. */
const NAMED = new Set(['properties', '$defs'])

/** Removes what only zod needs, and writes "X or null" as one schema. */
function simplify(schema: JsonSchema, io: 'input' | 'output'): JsonSchema {
  const result: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    // What the service sends may get further members later. An open object states its members.
    if (DROPPED.has(keyword) || (io === 'output' && keyword === 'additionalProperties' && value === false)) continue
    if (keyword === 'additionalProperties' && isObject(value) && Object.keys(value).length === 0) {
      result[keyword] = true
      continue
    }
    if (NAMED.has(keyword))
      result[keyword] = Object.fromEntries(
        Object.entries(value as object).map(([name, member]) => [name, simplify(member as JsonSchema, io)]),
      )
    else if (Array.isArray(value)) result[keyword] = value.map((item) => (isObject(item) ? simplify(item, io) : item))
    else result[keyword] = isObject(value) ? simplify(value, io) : value
  }
  return orNull(result)
}

function orNull({ anyOf, ...outer }: JsonSchema): JsonSchema {
  if (!Array.isArray(anyOf)) return outer
  const [inner, other] = anyOf as readonly JsonSchema[]
  // Generators do not know null in an enum (openapi-zod-client).
  if (anyOf.length !== 2 || other!['type'] !== 'null' || typeof inner!['type'] !== 'string' || inner!['enum'] !== undefined)
    return { anyOf, ...outer }
  return { ...inner, ...outer, type: [inner!['type'], 'null'] }
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Writes a component as another one with further members, if it has all of that one's: no schema is repeated. */
export function extend(base: string, schemas: Record<string, JsonSchema>, name: string): JsonSchema {
  const { properties: shared, required = [] } = schemas[base] as { properties: object; required?: readonly string[] }
  const { properties, required: all = [], description } = schemas[name] as { properties: object; required?: string[]; description: string }
  const further = Object.fromEntries(Object.entries(properties).filter(([member]) => !Object.hasOwn(shared, member)))
  const requiredFurther = all.filter((member) => !required.includes(member))
  return {
    description,
    allOf: [
      { $ref: `#/components/schemas/${base}` },
      { type: 'object', properties: further, ...(requiredFurther.length > 0 && { required: requiredFurther }) },
    ],
  }
}

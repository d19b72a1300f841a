import type { JsonSchema } from '../http/openapi/types.ts'

/**
 * One schema for an argument that several operations of a tool have: it takes what one of them takes, and says what all of them say.
 * @param schemas one of each operation that has the argument, as it is listed
 * @param isOfAll whether all operations of the tool have it: only then does it have a default.
 */
export function mergeSchemas(schemas: readonly JsonSchema[], isOfAll = true): JsonSchema {
  const [first, ...others] = schemas
  const merged: Record<string, unknown> = {}
  for (const keyword of new Set(schemas.flatMap(Object.keys))) {
    const isShared = others.every((other) => JSON.stringify(other[keyword]) === JSON.stringify(first![keyword]))
    const value = isShared ? first![keyword] : mergers[keyword]?.(schemas)
    if (value !== undefined) merged[keyword] = value
  }
  if (!isOfAll) delete merged['default']
  return merged
}

/** How a keyword is merged where schemas differ; any other keyword is left out. */
const mergers: Readonly<Record<string, (schemas: readonly JsonSchema[]) => unknown>> = {
  // A list is also taken as a text.
  type: (schemas) => schemas.find(({ type }) => type === 'array')?.['type'] ?? schemas[0]!['type'],
  items: (schemas) => mergeSchemas(schemas.flatMap(({ items }) => (items === undefined ? [] : [items as JsonSchema]))),
  properties: (schemas) => {
    const all = schemas.map(({ properties }) => (properties ?? {}) as Readonly<Record<string, JsonSchema>>)
    const names = new Set(all.flatMap(Object.keys))
    return Object.fromEntries(
      [...names].map((name) => [name, mergeSchemas(all.flatMap((one) => (one[name] === undefined ? [] : [one[name]])))]),
    )
  },
  required: (schemas) => {
    const all = schemas.map(({ required }) => (required ?? []) as readonly string[])
    return all[0]!.filter((name) => all.every((one) => one.includes(name)))
  },
  enum: (schemas) => {
    const all = schemas.map((schema) => schema['enum'] as readonly unknown[] | undefined)
    return all.includes(undefined) ? undefined : [...new Set(all.flatMap((words) => words!))]
  },
  minimum: (schemas) => widest(schemas, 'minimum', Math.min),
  maximum: (schemas) => widest(schemas, 'maximum', Math.max),
  additionalProperties: () => false,
  description: (schemas) => {
    const descriptions = withoutRepetitions(schemas.flatMap(({ description }) => (typeof description === 'string' ? description : [])))
    return descriptions.length === 0 ? undefined : descriptions.join(' / ')
  },
}

/** The bound that all values keep; undefined if one schema has none. */
function widest(schemas: readonly JsonSchema[], keyword: string, choose: (...bounds: number[]) => number): number | undefined {
  const bounds = schemas.map((schema) => schema[keyword] as number | undefined)
  return bounds.includes(undefined) ? undefined : choose(...(bounds as number[]))
}

/** The descriptions without the sentences of those before them. */
function withoutRepetitions(descriptions: readonly string[]): string[] {
  const said = new Set<string>()
  return descriptions.flatMap((description) => {
    const further = description.split(/(?<=\.) /).filter((sentence) => !said.has(sentence))
    for (const sentence of further) said.add(sentence)
    return further.length === 0 ? [] : further.join(' ')
  })
}

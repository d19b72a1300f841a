import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ToolList } from '../../src/mcp/tool-list.ts'
import { operations } from '../../src/resources/table.ts'
import { engine } from '../support/service.ts'

// What clients and models state that they accept of the schema of a tool, and what each of them refuses beyond that. The rules are theirs:
// VS Code reads JSON Schema (2020-12), and refuses an array without items. OpenAI, "Structured outputs, supported schemas". Anthropic,
// "Tool use": the schema of an object, names of at most 64 characters. Gemini, "Schema": a subset of OpenAPI 3.0.

const SCOPES = ['kanban:read', 'kanban:write', 'kanban:admin']
const list = new ToolList(() => engine, operations)
const lists = SCOPES.map((scope, i) => [scope, list.visibleWith(SCOPES.slice(0, i + 1))] as const)

interface Schema {
  readonly [keyword: string]: any
}

/** A schema with all inside of it, each with its path. */
function* schemasIn(schema: Schema, path: string): Generator<[path: string, schema: Schema]> {
  yield [path, schema]
  for (const [name, member] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>))
    yield* schemasIn(member, `${path}.${name}`)
  if (schema['items'] !== undefined) yield* schemasIn(schema['items'] as Schema, `${path}[]`)
}
const all = (tools: (typeof lists)[number][1]) => tools.flatMap(({ name, inputSchema }) => [...schemasIn(inputSchema as Schema, name)])
const TYPES = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object'])
/** All of these are keywords of Gemini's subset, but additionalProperties, which its SDK takes. */
const KEYWORDS = new Set([
  'type',
  'description',
  'enum',
  'format',
  'items',
  'properties',
  'required',
  'minimum',
  'maximum',
  'additionalProperties',
])

describe.each(lists)('each schema that a token with %s sees', (_scope, tools) => {
  const schemas = all(tools)
  const failing = (isWrong: (schema: Schema, path: string) => boolean) =>
    schemas.filter(([path, schema]) => isWrong(schema, path)).map(([path]) => path)

  test('has one type, and keywords that everybody knows', () => {
    expect(failing(({ type }) => !TYPES.has(type as string))).toEqual([])
    expect(failing((schema) => Object.keys(schema).some((keyword) => !KEYWORDS.has(keyword)))).toEqual([])
  })

  test('has items if it is an array, and named members without others if it is an object', () => {
    expect(failing(({ type, items }) => (type === 'array') !== (items !== undefined))).toEqual([])
    expect(failing(({ type, properties }) => (type === 'object') !== (properties !== undefined))).toEqual([])
    expect(failing(({ type, additionalProperties }) => type === 'object' && additionalProperties !== false)).toEqual([])
    expect(failing(({ type, properties }) => type === 'object' && Object.keys(properties as object).length === 0)).toEqual([])
    expect(
      failing(({ required = [], properties = {} }) => (required as string[]).some((name) => !Object.hasOwn(properties as object, name))),
    ).toEqual([])
  })

  test('has an enum of texts without repetitions, and no format but a time', () => {
    const isEnum = (words: unknown) =>
      Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string' && word !== '')
    expect(
      failing(({ enum: words }) => words !== undefined && (!isEnum(words) || new Set(words as string[]).size !== words.length)),
    ).toEqual([])
    expect(failing(({ type, enum: words }) => words !== undefined && type !== 'string')).toEqual([])
    expect(failing(({ format }) => format !== undefined && format !== 'date-time')).toEqual([])
  })

  test('is a schema that can validate calls', () => {
    for (const { inputSchema } of tools) expect(() => z.fromJSONSchema(inputSchema as any).safeParse({})).not.toThrow()
  })

  test('is within the limits of names, depth and size', () => {
    for (const { name } of tools) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    // OpenAI refuses all tools because of one, and VS Code cuts it short.
    for (const { name, description } of tools) expect(description!.length, name).toBeLessThanOrEqual(1_024)
    expect(failing((_schema, path) => path.split('.').some((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name.replaceAll('[]', ''))))).toEqual(
      [],
    )
    // OpenAI: five levels, 5,000 members, 1,000 words.
    expect(failing((_schema, path) => path.split('.').length > 5)).toEqual([])
    for (const { inputSchema } of tools) expect([...schemasIn(inputSchema as Schema, '')].length).toBeLessThan(100)
  })

  test('says in words which default an argument has that all operations of its tool take', () => {
    const said = tools.flatMap(({ name, inputSchema }) =>
      Object.entries(inputSchema.properties as Record<string, Schema>).flatMap(([argument, { description }]) => {
        const [, value] = /Default: (.*)\.$/.exec(String(description)) ?? []
        return value === undefined ? [] : [`${name}.${argument}: ${value}`]
      }),
    )
    const single = [
      'read_changes.limit: 20',
      'claim_next_card.ttl: 300',
      'renew_claim.ttl: 300',
      'attach_text.content_type: text/plain',
      'attach_text.visibility: board',
    ]
    expect(said).toEqual(tools.length < 10 ? single.slice(0, 1) : single)
  })

  test('can be made strict: every member required, and null for those that are not', () => {
    const isStrict = (schema: Schema): boolean =>
      schema['type'] === 'object'
        ? (schema['required'] as string[]).length === Object.keys(schema['properties'] as object).length &&
          Object.values(schema['properties'] as object).every(isStrict)
        : schema['anyOf'] === undefined
          ? schema['type'] !== 'array' || isStrict(schema['items'] as Schema)
          : (schema['anyOf'] as Schema[]).every(isStrict)
    const strict = (schema: Schema): Schema => {
      if (schema['type'] === 'array') return { ...schema, items: strict(schema['items'] as Schema) }
      if (schema['type'] !== 'object') return schema
      const members = Object.entries(schema['properties'] as Record<string, Schema>).map(([name, member]) => {
        const isRequired = ((schema['required'] ?? []) as string[]).includes(name)
        return [name, isRequired ? strict(member) : { anyOf: [strict(member), { type: 'null' }] }] as const
      })
      return { ...schema, properties: Object.fromEntries(members), required: members.map(([name]) => name) }
    }
    for (const { inputSchema } of tools) expect(isStrict(strict(inputSchema as Schema))).toBe(true)
  })
})

test('an argument that can be cleared says how, and has no null', () => {
  const [, tools] = lists[2]!
  const argument = (tool: string, name: string) =>
    (tools.find((one) => one.name === tool)!.inputSchema.properties as Record<string, Schema>)[name]!
  for (const tool of ['create_card', 'edit_cards_comments_subtasks']) {
    // A client that validates by the format would refuse "none".
    expect(argument(tool, 'due_at')).not.toHaveProperty('format')
    expect(argument(tool, 'due_at')['description']).toMatch(/"none" clears it\. Left out or null, it is kept\.$/)
  }
  expect(argument('edit_boards_columns_labels', 'cover_color')['description']).toContain('"none": none')
  expect(argument('edit_boards_columns_labels', 'wip_limit')['description']).toContain('0: any number')
  expect(argument('edit_boards_columns_labels', 'max_attempts')['description']).toContain('0: never')
})

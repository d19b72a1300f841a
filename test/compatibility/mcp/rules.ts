/** A tool as a host gives it to a model. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly schema: Schema
}

export interface Schema {
  readonly [keyword: string]: any
}

/** What a host or a model accepts. */
export interface Rule {
  readonly what: string
  /** the schemas that it is about; the first one is the whole */
  readonly isWrong: (schema: Schema, node: { readonly path: readonly string[]; readonly tool: ModelTool }) => boolean
}

/** All that a schema has inside of it, whatever the keyword, each with its path. */
export function* schemasIn(schema: Schema, path: readonly string[] = []): Generator<[schema: Schema, path: readonly string[]]> {
  yield [schema, path]
  for (const [name, member] of Object.entries<Schema>(schema['properties'] ?? {})) yield* schemasIn(member, [...path, name])
  for (const keyword of ['items', 'not', 'if', 'then', 'else', 'contains', 'additionalProperties', 'propertyNames'])
    if (typeof schema[keyword] === 'object') yield* schemasIn(schema[keyword], [...path, keyword])
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'prefixItems'])
    for (const [i, one] of ((schema[keyword] ?? []) as Schema[]).entries()) yield* schemasIn(one, [...path, `${keyword}[${i}]`])
}

const isWhole = (path: readonly string[]): boolean => path.length === 0
const hasAny = (schema: Schema, keywords: readonly string[]): boolean => keywords.some((keyword) => Object.hasOwn(schema, keyword))
const namesOf = (schema: Schema): string[] => Object.keys(schema['properties'] ?? {})
const count = (schema: Schema, of: (one: Schema) => number): number => [...schemasIn(schema)].reduce((sum, [one]) => sum + of(one), 0)
/** Objects in objects. */
const levels = (schema: Schema): number => {
  const inside = [...namesOf(schema).map((name) => schema['properties'][name]), schema['items'], ...(schema['anyOf'] ?? [])]
  return Number(schema['type'] === 'object') + Math.max(0, ...inside.filter((one) => one !== undefined).map(levels))
}

/**
 * VS Code checks each tool before it sends any to a model, and refuses, cuts or removes what breaks these rules: the file
 * `src/extension/tools/common/toolSchemaNormalizer.ts` of github.com/microsoft/vscode-copilot-chat. What it does for models of Anthropic and
 * Google is here, too; the keywords that it removes for GPT-4 lose nothing but a hint.
 */
export const vsCode: readonly Rule[] = [
  {
    what: 'the whole is an object with properties',
    isWrong: (s, { path }) => isWhole(path) && (s['type'] !== 'object' || !s['properties']),
  },
  { what: 'an array has items: "tool parameters array type must have items"', isWrong: (s) => s['type'] === 'array' && !s['items'] },
  { what: 'items are one schema', isWrong: (s) => Array.isArray(s['items']) },
  {
    what: 'the whole has no alternatives and no conditions',
    isWrong: (s, { path }) => isWhole(path) && hasAny(s, ['oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else']),
  },
  { what: 'what is required is described', isWrong: (s) => (s['required'] ?? []).some((name: string) => !namesOf(s).includes(name)) },
  { what: 'a description has at most 1,024 characters', isWrong: (s) => s['description']?.length > 1_024 },
  { what: 'a tool has a description', isWrong: (_s, { tool }) => tool.description === '' },
]

/**
 * Anthropic, "Define tools" (platform.claude.com/docs), and the messages of its API: "input_schema does not support oneOf, allOf, or anyOf at
 * the top level", "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'", "JSON schema is invalid. It must match JSON Schema draft
 * 2020-12". Claude Code adds `mcp__lanekeeper__` to the names.
 */
export const anthropic: readonly Rule[] = [
  { what: 'a name has at most 64 characters', isWrong: (_s, { tool }) => !/^[a-zA-Z0-9_-]{1,64}$/.test(`mcp__lanekeeper__${tool.name}`) },
  { what: 'a member has a name of at most 64 characters', isWrong: (s) => namesOf(s).some((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) },
  { what: 'the whole has no alternatives', isWrong: (s, { path }) => isWhole(path) && hasAny(s, ['oneOf', 'allOf', 'anyOf']) },
  { what: 'Claude Code shows 2,048 characters of a description', isWrong: (_s, { tool }) => tool.description.length > 2_048 },
]

/**
 * OpenAI, "Structured outputs, supported schemas" and "Function calling, strict mode" (platform.openai.com/docs), and the messages of its API:
 * "In context=(), 'required' is required to be supplied and to be an array including every key in properties", "'additionalProperties' is
 * required to be supplied and to be false", "'default' is not permitted", "6 levels of nesting exceeds limit of 5" (the documents have allowed
 * 10 since), "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024".
 */
export const openAiStrict: readonly Rule[] = [
  { what: 'the whole is an object', isWrong: (s, { path }) => isWhole(path) && (s['type'] !== 'object' || hasAny(s, ['anyOf'])) },
  { what: 'each schema has a type, or is one of several', isWrong: (s) => !hasAny(s, ['type', 'anyOf']) },
  { what: 'an object has no other members', isWrong: (s) => s['type'] === 'object' && s['additionalProperties'] !== false },
  {
    what: 'every member of an object is required',
    isWrong: (s) => s['type'] === 'object' && namesOf(s).toSorted().join() !== (s['required'] ?? []).toSorted().join(),
  },
  { what: 'an array has items', isWrong: (s) => s['type'] === 'array' && typeof s['items'] !== 'object' },
  {
    what: 'no keyword is one that is not supported',
    isWrong: (s) => hasAny(s, ['default', 'allOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas', '$ref']),
  },
  {
    what: 'a format is a known one',
    isWrong: ({ format }) =>
      format && !['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'].includes(format),
  },
  { what: 'at most 5 objects are in each other', isWrong: (s, { path }) => isWhole(path) && levels(s) > 5 },
  { what: 'there are at most 5,000 members', isWrong: (s, { path }) => isWhole(path) && count(s, (one) => namesOf(one).length) > 5_000 },
  {
    what: 'there are at most 1,000 words in enums',
    isWrong: (s, { path }) => isWhole(path) && count(s, (one) => one['enum']?.length ?? 0) > 1_000,
  },
  {
    what: 'names and words of enums have at most 120,000 characters',
    isWrong: (s, { path }) => isWhole(path) && count(s, (one) => [...namesOf(one), ...(one['enum'] ?? [])].join('').length) > 120_000,
  },
  { what: 'a tool has a name of at most 64 characters', isWrong: (_s, { tool }) => !/^[a-zA-Z0-9_-]{1,64}$/.test(tool.name) },
  { what: 'a tool has a description of at most 1,024 characters', isWrong: (_s, { tool }) => tool.description.length > 1_024 },
]

/** The members of Gemini's `Schema` that its SDK sends as they are, and `additionalProperties`, which is a part of `parametersJsonSchema`. */
const GEMINI_KEYWORDS = new Set([
  'type',
  'format',
  'description',
  'enum',
  'items',
  'properties',
  'required',
  'minimum',
  'maximum',
  'default',
  'additionalProperties',
])

/**
 * Gemini, "Schema" and "FunctionDeclaration" (ai.google.dev/api/caching), and the messages of its API: "items: missing field", "only allowed for
 * STRING type" and "enum[0]: cannot be empty" of enums, "only 'enum' and 'date-time' are supported for STRING type" of formats, "should be
 * non-empty for OBJECT type" of properties, "[FieldDescription] Unknown name" of keywords.
 */
export const gemini: readonly Rule[] = [
  { what: 'each schema has one type', isWrong: (s) => !['string', 'number', 'integer', 'boolean', 'array', 'object'].includes(s['type']) },
  { what: 'an array has items', isWrong: (s) => s['type'] === 'array' && typeof s['items'] !== 'object' },
  { what: 'an object has properties', isWrong: (s) => s['type'] === 'object' && namesOf(s).length === 0 },
  {
    what: 'an enum has texts that are not empty',
    isWrong: (s) => s['enum']?.some((one: unknown) => typeof one !== 'string' || one === ''),
  },
  { what: 'an enum is of texts', isWrong: (s) => s['enum'] !== undefined && s['type'] !== 'string' },
  { what: 'a format of a text is a time', isWrong: (s) => s['type'] === 'string' && ![undefined, 'date-time'].includes(s['format']) },
  { what: 'a number has no format of its own', isWrong: (s) => s['type'] !== 'string' && s['format'] !== undefined },
  { what: 'no keyword is unknown', isWrong: (s) => Object.keys(s).some((keyword) => !GEMINI_KEYWORDS.has(keyword)) },
  { what: 'what is required is described', isWrong: (s) => (s['required'] ?? []).some((name: string) => !namesOf(s).includes(name)) },
  { what: 'a name begins with a letter', isWrong: (_s, { tool }) => !/^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/.test(tool.name) },
]

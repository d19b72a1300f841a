import type { z } from 'zod'
import { claim } from '../../model/claim.ts'
import { cardWithClaim } from '../../resources/cards/schema.ts'
import { answered, claimedCard } from '../../resources/claims/operations.ts'
import { programVersion } from '../../model/package-files.ts'
import { LISTED } from '../../resources/included.ts'
import { isList, type Operation } from '../../resources/operation.ts'
import { findForbiddable, hasData } from './error-codes.ts'
import { createErrorSchemas, createPageSchema, pascalCase } from './error-schemas.ts'
import { headers, requestHeaders } from './headers.ts'
import { overview, tagDescriptions } from './overview.ts'
import { describeOperation, itemOf, tagOf, TOKEN } from './operations.ts'
import { ErrorResponses, responseName, responseSchema } from './responses.ts'
import { withEnums, withoutDefaults } from './for-generators.ts'
import { convertAll, convertOne, extend, metaOf } from './schemas.ts'
import { SERVER } from './server.ts'
import { recordedExamples, type DocumentSource } from './source.ts'
import type { JsonSchema, OpenApiDocument, OperationObject, ParameterObject } from './types.ts'

/**
 * The OpenAPI document of the service. Everything in it follows from the operations table, the schemas of its rows, the policy
 * and the table of errors, in the order of these tables.
 */
export function createDocument(source: DocumentSource): OpenApiDocument {
  const { engine, operations, uploadBytes, quotas, base = '' } = source
  const examples = source.examples ?? recordedExamples
  const errorResponses = new ErrorResponses(examples)
  const forbiddable = findForbiddable(engine)
  const inputs = inputNames(operations)
  const outputs = outputNames(operations)
  const nameOf = (schema: z.ZodType) => inputs.get(schema) ?? outputs.get(schema)!
  const paths: Record<string, Record<string, OperationObject>> = {}
  for (const operation of operations) {
    paths[operation.path] ??= {}
    paths[operation.path]![operation.method.toLowerCase()] = describeOperation(
      { engine, examples, errorResponses, forbiddable, uploadBytes, nameOf },
      operation,
    )
  }
  const document: OpenApiDocument = {
    openapi: '3.1.0',
    info: {
      title: 'Lanekeeper',
      version: programVersion,
      summary: 'A workspace-scoped kanban API for agents, command-line tools and native applications.',
      description: overview({ uploadBytes, quotas, base }),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: SERVER, description: 'This service.' }],
    tags: [...new Set(operations.map(({ id }) => tagOf(id)))].map((name) => ({ name, description: tagDescriptions[name] ?? name })),
    paths,
    components: {
      securitySchemes: {
        [TOKEN]: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'lk_pat_…',
          description: `A personal access token. It represents one user in one workspace and has one of the scopes \`kanban:read\`, \`kanban:write\` and \`kanban:admin\`, and each scope includes the ones before it. Users create tokens in the web app, at \`${base}/settings\`. The security requirement of an operation names the least scope.`,
        },
      },
      schemas: {
        ...outputSchemas(operations, outputs),
        ...mapValues(convertAll(inputs, 'input'), withoutDefaults),
        ...convertAll(createErrorSchemas(errorResponses.codes), 'output'),
      },
      parameters: { ...requestHeaders },
      headers,
      responses: errorResponses.components,
    },
    'x-rows': Object.fromEntries([...engine.vocabulary.rows].map(([id, { words }]) => [id, words])),
  }
  return withEnums(shareParameters(document))
}

function mapValues(schemas: Record<string, JsonSchema>, map: (schema: JsonSchema) => JsonSchema): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, map(schema)]))
}

/** The names of the schemas of bodies. */
function inputNames(operations: readonly Operation[]): Map<z.ZodType, string> {
  const names = new Map<z.ZodType, string>()
  for (const { id, body, takesUpload } of operations) {
    if (body !== undefined && !names.has(body)) names.set(body, metaOf(body).id ?? `${pascalCase(id)}${takesUpload ? 'Form' : 'Body'}`)
  }
  return names
}

/** Schemas with a name that are part of others. */
const PARTS: readonly z.ZodType[] = [claim, cardWithClaim, claimedCard, answered]

/** The names of the schemas of `data`, or of its items. */
function outputNames(operations: readonly Operation[]): Map<z.ZodType, string> {
  const names = new Map<z.ZodType, string>(PARTS.map((schema) => [schema, metaOf(schema).id!]))
  for (const operation of operations) {
    if (!hasData(operation)) continue
    const item = itemOf(operation.data)
    const { id } = metaOf(item)
    if (id === undefined) throw new Error(`the schema of the data of ${operation.id} has no id`)
    names.set(item, id)
  }
  return names
}

/** The schemas that others extend. An item of a list extends the same one as what it is an item of. */
const BASES: Readonly<Record<string, string>> = {
  BoardSnapshot: 'Board',
  CardWithClaim: 'Card',
  CardWithCounts: 'Card',
  ClaimedCard: 'Card',
}

function outputSchemas(operations: readonly Operation[], names: ReadonlyMap<z.ZodType, string>): Record<string, JsonSchema> {
  const schemas = convertAll(names, 'output')
  const page = convertOne(createPageSchema(), 'output')
  for (const name of names.values()) {
    const inner = name.startsWith(LISTED) ? name.slice(LISTED.length) : name
    const base = BASES[inner] ?? inner
    if (base !== name && schemas[base] !== undefined) schemas[name] = extend(base, schemas, name)
  }
  for (const operation of operations) {
    if (!hasData(operation)) continue
    const name = names.get(itemOf(operation.data))!
    schemas[responseName(name, isList(operation))] = responseSchema(name, isList(operation), page)
  }
  return schemas
}

/** Makes components of the parameters that several operations share. */
function shareParameters(document: OpenApiDocument): OpenApiDocument {
  const all = Object.values(document.paths).flatMap((path) => Object.values(path).flatMap(({ parameters }) => parameters))
  const texts = all.map((parameter) => JSON.stringify(parameter))
  const shared: Record<string, ParameterObject> = {}
  for (const [i, parameter] of all.entries()) {
    if (!('name' in parameter) || shared[parameter.name] !== undefined) continue
    if (texts.indexOf(texts[i]!) !== texts.lastIndexOf(texts[i]!)) shared[parameter.name] = parameter
  }
  const replace = (operation: OperationObject): OperationObject => ({
    ...operation,
    parameters: operation.parameters.map((parameter) =>
      'name' in parameter && JSON.stringify(parameter) === JSON.stringify(shared[parameter.name])
        ? { $ref: `#/components/parameters/${parameter.name}` }
        : parameter,
    ),
  })
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, methods]) => [
      path,
      Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, replace(operation)])),
    ]),
  )
  return { ...document, paths, components: { ...document.components, parameters: { ...shared, ...document.components.parameters } } }
}

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { recordExamples } from '../../generate/openapi-examples.ts'
import { recordedExamples, type RecordedExamples } from '../../../src/http/openapi/source.ts'
import { notes } from '../../../src/http/openapi/notes.ts'
import { tagDescriptions } from '../../../src/http/openapi/overview.ts'
import {
  isReference,
  resolve,
  type JsonSchema,
  type MediaTypeObject,
  type OperationObject,
  type ParameterObject,
  type ResponseObject,
} from '../../../src/http/openapi/types.ts'
import { errors } from '../../../src/model/errors.ts'
import { operations } from '../../../src/resources/table.ts'
import { defaultDocument, DocumentCheck } from '../../support/document-check.ts'
import { handWrittenCells, handWrittenOperations } from '../../support/hand-written-decisions.ts'

const document = defaultDocument()
const check = new DocumentCheck(document)

/** Every operation of the document, with its method and path. */
const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
)
const operationOf = (id: string) => documented.find(({ operation }) => operation.operationId === id)!
const parametersOf = ({ parameters }: OperationObject) => parameters.map((parameter) => resolve<ParameterObject>(document, parameter))

/** The codes of the errors of an operation, read from the schemas of its responses. */
function codesOf({ responses }: OperationObject): string[] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, response]) => {
      const { schema } = resolve(document, response).content!['application/json']!
      const { error } = (schema as { properties: { error: JsonSchema } }).properties
      const schemas = (error['oneOf'] ?? [error]) as JsonSchema[]
      return schemas.map((one) => {
        const { code } = (resolve(document, one) as { properties: { code: { const: keyof typeof errors } } }).properties
        expect([code.const, String(errors[code.const].status)]).toEqual([code.const, status])
        return code.const
      })
    })
}

describe('the OpenAPI document', () => {
  test('has the operations of the hand-written decisions, with their methods, paths, scopes and rows, and no other', () => {
    const expected = handWrittenOperations.map(({ id, method, path, scope, row, also }) => {
      const further = Object.entries(also).map(([member, one]) => `${member} ${one.row}`)
      return [id, method, path, `kanban:${scope}`, row, ...further]
    })
    const actual = documented.map(({ method, path, operation: { operationId, security, 'x-rows': rows } }) => [
      operationId,
      method.toUpperCase(),
      path,
      security.flatMap(Object.values).flat().join(),
      rows.permission,
      ...Object.entries(rows.also ?? {}).map((further) => further.join(' ')),
    ])
    expect(actual.toSorted()).toEqual(expected.toSorted())
  })

  test('lists `forbidden` for exactly the operations that the hand-written decisions forbid to somebody', () => {
    const forbidden = handWrittenOperations.filter((operation) => {
      // What is forbidden in it is one of its operations.
      if (operation.id === 'boards.batch') return true
      const isUntouchable = ({ field }: { field?: string | undefined }) =>
        typeof operation.decision === 'object' && operation.decision[field ?? ''] === 'untouchable'
      return handWrittenCells(operation).some((cell) => cell.response === 403 && !isUntouchable(cell))
    })
    const listed = documented.filter(({ operation }) => codesOf(operation).includes('forbidden'))
    expect(listed.map(({ operation }) => operation.operationId).toSorted()).toEqual(forbidden.map(({ id }) => id).toSorted())
  })

  test.each(documented.map((one) => [one.operation.operationId, one] as const))(
    '%s has a summary, a description, its parameters and its body',
    (id, { path, operation }) => {
      const row = operations.find((one) => one.id === id)!
      expect(operation.summary).toMatch(/^[A-Z].*[^.]$/)
      expect(operation.description).toContain(row.summary)
      expect(operation.tags).toEqual([id.split('.')[0]])
      const parameters = parametersOf(operation)
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(parameters.filter((one) => one.in === 'path').map(({ name, required }) => [name, required])).toEqual(
        named.map((name) => [name, true]),
      )
      for (const { name, description, schema } of parameters)
        expect({ name, description, schema }).toEqual({
          name,
          description: expect.stringMatching(/^[A-Z`].+\.$/s),
          schema: expect.any(Object),
        })
      expect(operation.requestBody !== undefined).toBe(row.body !== undefined)
      expect(Object.keys(operation.responses)).toContain(String(row.status))
      expect(codesOf(operation).includes('conflict')).toBe(row.conflicts.length > 0)
    },
  )

  test('describes every member of every schema, and states the limit of each text, number and array', () => {
    const wrong: string[] = []
    const visit = (at: string, schema: JsonSchema): void => {
      const types = new Set([schema['type']].flat())
      const isFixed = schema['const'] !== undefined || schema['enum'] !== undefined
      const isBytes = schema['contentMediaType'] !== undefined
      if (types.has('string') && !isFixed && !isBytes && schema['maxLength'] === undefined) wrong.push(`${at}: no maxLength`)
      if (types.has('integer') && (schema['maximum'] === undefined || schema['minimum'] === undefined)) wrong.push(`${at}: no range`)
      if (types.has('array') && schema['maxItems'] === undefined) wrong.push(`${at}: no maxItems`)
      for (const [name, member] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)) {
        const { description } = isReference(member) ? resolve<JsonSchema>(document, member) : member
        if (typeof description !== 'string' || !/^[A-Z`].*\.$/s.test(description)) wrong.push(`${at}.${name}: no description`)
        visit(`${at}.${name}`, member)
      }
      if (schema['items'] !== undefined) visit(`${at}[]`, schema['items'] as JsonSchema)
      for (const part of (schema['allOf'] ?? []) as JsonSchema[]) visit(at, part)
    }
    for (const [name, schema] of Object.entries(document.components.schemas)) visit(name, schema)
    for (const { operation } of documented)
      for (const { name, schema } of parametersOf(operation)) visit(`${operation.operationId}?${name}`, schema)
    expect(wrong).toEqual([])
  })

  test('is written as generators of clients read it: no default in a body, an enum beside each const, texts in headers, bytes by both names', () => {
    /** The schemas and what is in them, with their places. */
    const inside = (node: unknown, at: string): [string, JsonSchema][] => {
      if (typeof node !== 'object' || node === null) return []
      const members = Object.entries(node).filter(([name]) => name !== 'example' && name !== 'examples')
      return [[at, node as JsonSchema], ...members.flatMap(([name, member]) => inside(member, `${at}.${name}`))]
    }
    const all = inside(document, '')
    const places = (isWrong: (schema: JsonSchema) => boolean) => all.filter(([, schema]) => isWrong(schema)).map(([at]) => at)
    expect(places(({ const: value }) => value !== undefined).length).toBeGreaterThan(30)
    expect(places(({ const: value, enum: values }) => value !== undefined && JSON.stringify(values) !== JSON.stringify([value]))).toEqual(
      [],
    )
    const bodies = Object.entries(document.components.schemas).filter(([name]) => /(Body|Form|^Batch|^Evaluations?|Search)$/.test(name))
    expect(bodies.length).toBeGreaterThan(20)
    for (const [name, schema] of bodies) expect([name, inside(schema, name).filter(([, one]) => 'default' in one)]).toEqual([name, []])
    // A type of this name would hide what JavaScript has, such as `File`, in the client that is generated.
    expect(Object.keys(document.components.schemas).filter((name) => name in globalThis)).toEqual([])
    const bytes = all.filter(([, schema]) => schema['contentMediaType'] !== undefined)
    expect(bytes.map(([at]) => at.replace(/.*[./]/, ''))).toEqual(expect.arrayContaining(['file', 'schema']))
    for (const [at, schema] of bytes)
      expect({ at, type: schema['type'], format: schema['format'], maxLength: schema['maxLength'] }).toStrictEqual({
        at,
        type: 'string',
        format: 'binary',
        maxLength: undefined,
      })
    const inHeaders = Object.values(document.components.parameters).filter((parameter) => parameter.in === 'header')
    expect(inHeaders.map(({ name, schema, example }) => [name, schema['type'], typeof example]).toSorted()).toEqual(
      ['Idempotency-Key', 'If-Claim', 'If-Match', 'If-None-Match', 'If-Range', 'Range'].map((name) => [name, 'string', 'string']),
    )
  })

  test('states the patterns and the nullable members of a body with their defaults as texts, and of a query', () => {
    const body = document.components.schemas['CardsCreateBody'] as { required: string[]; properties: Record<string, JsonSchema> }
    expect({ required: body['required'], additionalProperties: body['additionalProperties' as never] }).toEqual({
      required: ['column_id', 'title'],
      additionalProperties: false,
    })
    expect(body.properties).toMatchObject({
      column_id: { type: 'string', pattern: expect.stringMatching(/^\^col_/) },
      description: { type: 'string', maxLength: 50_000 },
      due_at: { type: ['string', 'null'], format: 'date-time' },
      assignee_ids: { uniqueItems: true, maxItems: 20, items: { pattern: expect.stringMatching(/^\^\(\?:me\|usr_/) } },
      to: { enum: ['first', 'last'] },
    })
    const { ttl } = (document.components.schemas['ClaimsTakeBody'] as typeof body).properties
    expect(ttl!['description']).toMatch(/ Default: \d+\.$/)
    const queryOf = (id: string) => Object.fromEntries(parametersOf(operationOf(id).operation).map((one) => [one.name, one]))
    expect(queryOf('boards.read')['include']).toMatchObject({
      style: 'form',
      explode: true,
      schema: { type: 'array', items: { type: 'string', enum: ['columns', 'cards', 'labels', 'members', 'counts', 'claim', 'work'] } },
    })
    expect(queryOf('cards.list')).toMatchObject({
      limit: { schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 } },
      archived: { schema: { type: 'boolean', default: false } },
      q: { schema: { type: 'string', minLength: 1, maxLength: 200 } },
      fields: { schema: { type: 'array', items: { enum: expect.arrayContaining(['id', 'title', 'counts']) } } },
    })
  })

  test('repeats no schema, and has no component that is not used', () => {
    const texts = Object.entries(document.components.schemas).map(([name, schema]) => [name, JSON.stringify(schema)] as const)
    const withMembers = texts.filter(([, text]) => text.includes('"properties"'))
    expect(withMembers.filter(([name, text]) => withMembers.some(([other, same]) => other !== name && same === text))).toEqual([])
    const whole = JSON.stringify(document)
    const unused = Object.entries(document.components).flatMap(([kind, components]) =>
      kind === 'securitySchemes' ? [] : Object.keys(components).filter((name) => !whole.includes(`"#/components/${kind}/${name}"`)),
    )
    expect(unused).toEqual([])
  })

  test('has notes and tags only for what exists', () => {
    expect(Object.keys(notes).filter((id) => operationOf(id) === undefined)).toEqual([])
    expect(document.tags.map(({ name }) => name).toSorted()).toEqual(Object.keys(tagDescriptions).toSorted())
  })

  test('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }
    expect(document.info.version).toBe(version)
  })
})

/** Replaces what depends on the random source and the clock: ids by their order of appearance, times, cursors and ETags. */
function masked(examples: RecordedExamples): unknown {
  const seen = new Map<string, string>()
  const text = JSON.stringify(examples)
    .replaceAll(/\b([a-z]{3})_[0-9a-z]{20}\b/g, (id, kind: string) => {
      if (!seen.has(id)) seen.set(id, `${kind}_${seen.size}`)
      return seen.get(id)!
    })
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replaceAll(/"next_(cursor|token)":"[^"]*"/g, '"next_$1":"<cursor>"')
    .replaceAll(/\\"[0-9A-Za-z]{20}\\"/g, '<etag>')
  return JSON.parse(text)
}

const pointerTo = (path: string, method: string) => `paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method}`

describe('the examples of the OpenAPI document', () => {
  test('are the answers of the service on the demo data', async () => {
    expect(masked(recordedExamples), 'the examples are stale: run "npm run matrix" and read the difference').toEqual(
      masked(await recordExamples()),
    )
  })

  test('exist for every operation with JSON, and match their schemas', () => {
    const invalid: unknown[] = []
    const validate = (where: string, media: MediaTypeObject | undefined, pointer: string): void => {
      if (media === undefined) return
      const values = media.examples === undefined ? [media.example] : Object.values(media.examples).map(({ value }) => value)
      for (const value of values) for (const error of check.errorsAt(pointer, value)) invalid.push([where, error, value])
    }
    for (const { method, path, operation } of documented) {
      const base = pointerTo(path, method)
      const body = operation.requestBody?.content['application/json']
      validate(`${operation.operationId}: its body`, body, `${base}/requestBody/content/application~1json/schema`)
      for (const [status, response] of Object.entries(operation.responses)) {
        const at = isReference(response) ? response.$ref.slice(2) : `${base}/responses/${status}`
        validate(
          `${operation.operationId} ${status}`,
          resolve(document, response).content?.['application/json'],
          `${at}/content/application~1json/schema`,
        )
      }
    }
    expect(invalid).toEqual([])
  })

  test('of the errors match the schema of every operation for further failures', () => {
    const { errors } = recordedExamples
    for (const { method, path } of documented) {
      const pointer = `${pointerTo(path, method)}/responses/default/content/application~1json/schema`
      for (const value of Object.values(errors)) expect([path, check.errorsAt(pointer, value)]).toEqual([path, []])
      expect(check.errorsAt(pointer, { error: { code: 'other' } })).not.toEqual([])
    }
  })

  test('of the stream of events are changes, with the cursor of the page that had them', () => {
    const { content } = document.paths['/boards/{board_id}/events']!['get']!.responses['200'] as ResponseObject
    const [, id, data] = /^id: (\S+)\nevent: change\ndata: (.+)\n\n$/.exec(content!['text/event-stream']!.example as string)!
    const { response } = recordedExamples.operations['boards.changes'] as { response: any }
    expect({ id, data: JSON.parse(data!) }).toEqual({ id: response.page.next_cursor, data: response.data.at(-1) })
  })

  test('of headers and parameters match their schemas', () => {
    for (const kind of ['headers', 'parameters'] as const)
      for (const [name, { example }] of Object.entries(document.components[kind]))
        if (kind === 'headers' || example !== undefined)
          expect([name, check.errorsAt(`components/${kind}/${name}/schema`, example)]).toEqual([name, []])
  })
})

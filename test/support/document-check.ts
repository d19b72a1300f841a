import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { createDocument } from '../../src/http/openapi/document.ts'
import { isReference, resolve, type HeaderObject, type JsonSchema, type OpenApiDocument } from '../../src/http/openapi/types.ts'
import { limits } from '../../src/model/limits.ts'
import { operations } from '../../src/resources/table.ts'
import { shipped } from './policy.ts'

/** A response below /v1 to a request for an operation. */
export interface CheckedResponse {
  readonly status: number
  /** undefined: not known, or none */
  readonly body: unknown
  /** undefined: not known */
  readonly headers?: Headers | undefined
  /** the JSON of the request */
  readonly requestBody?: unknown
  /** whether the request asks for some members only */
  readonly hasFields?: boolean
}

/** Headers that HTTP itself needs, or that {@link DocumentCheck} compares otherwise. */
const UNDOCUMENTED = new Set(['content-type', 'content-length', 'transfer-encoding', 'date', 'connection', 'keep-alive'])

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What the document states of a response. */
interface Expected {
  /** by their names in lower case */
  readonly headers: ReadonlyMap<string, { readonly validate: ValidateFunction; readonly isRequired: boolean }>
  readonly body: ValidateFunction | undefined
  readonly requestBody: ValidateFunction | undefined
}

/** The document of the service with its default settings. */
export function defaultDocument(): OpenApiDocument {
  return createDocument({ engine: shipped, operations, uploadBytes: limits.uploadBytes, quotas: undefined })
}

/** Compares what the service sends with its OpenAPI document. A member, status, code or header that is not documented is drift. */
export class DocumentCheck {
  readonly document: OpenApiDocument
  // What is compiled is used a few times, so that to compile it takes longer: without copies of schemas, and unoptimized.
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true, inlineRefs: false, code: { optimize: false } })
  readonly #validators = new Map<string, ValidateFunction>()
  /** by method, path and status */
  readonly #expected: Record<string, Expected> = {}

  constructor(document: OpenApiDocument) {
    this.document = document
    this.#ajv.addFormat('date-time', DATE_TIME)
    this.#ajv.addFormat('uuid', UUID)
    this.#ajv.addFormat('uri', (text) => URL.canParse(text))
    for (const format of ['uri-reference', 'int32', 'int64']) this.#ajv.addFormat(format, true)
    this.#ajv.addSchema(closed(document as unknown as JsonSchema, document) as object, 'document')
  }

  /** @param path the path of the operation, with its parameters as `{name}` */
  check(method: string, path: string, response: CheckedResponse): void {
    const what = `${method} ${path} ${response.status}`
    const { headers, body, requestBody } = (this.#expected[what] ??= this.#expectedOf(what, method, path, response))
    if (response.headers !== undefined) {
      for (const [name, value] of response.headers) {
        if (UNDOCUMENTED.has(name)) continue
        const header = headers.get(name)
        if (header === undefined) return expect.fail(`${what}: the header ${name} is not documented`)
        expectValid(`${what}: the header ${name}`, header.validate, value)
      }
      for (const [name, { isRequired }] of headers)
        if (isRequired && !response.headers.has(name)) expect.fail(`${what}: the header ${name} is missing`)
    }
    // That selected fields of a response equal the whole's: fields.test.ts.
    if (response.body !== undefined && body !== undefined && !response.hasFields) expectValid(`${what}: the body`, body, response.body)
    // What was accepted must match the schema of the body.
    if (response.status < 300 && response.requestBody !== undefined && requestBody !== undefined)
      expectValid(`${what}: the body of the request`, requestBody, response.requestBody)
  }

  /** Whether a value matches the schema at a pointer of the document, such as `components/schemas/Card`. */
  errorsAt(pointer: string, value: unknown): readonly unknown[] {
    return errorsOf(this.#validatorAt(pointer), value)
  }

  #expectedOf(what: string, method: string, path: string, { status, body }: CheckedResponse): Expected {
    const name = (method === 'HEAD' ? 'GET' : method).toLowerCase()
    const operation = this.document.paths[path]?.[name]
    if (operation === undefined) return expect.fail(`${what}: the operation is not documented`)
    const documented = operation.responses[String(status)]
    if (documented === undefined) return expect.fail(`${what}: the status is not documented. The response: ${JSON.stringify(body)}`)
    const { headers = {}, content } = resolve(this.document, documented)
    const base = `paths/${escape(path)}/${name}`
    const json = 'content/application~1json/schema'
    const response = isReference(documented) ? documented.$ref.slice(2) : `${base}/responses/${status}`
    return {
      headers: new Map(
        Object.entries(headers).map(([header, value]) => [
          header.toLowerCase(),
          {
            validate: this.#validatorAt(`components/headers/${header}/schema`),
            isRequired: resolve<HeaderObject>(this.document, value).required === true,
          },
        ]),
      ),
      body: content?.['application/json'] === undefined ? undefined : this.#validatorAt(`${response}/${json}`),
      requestBody:
        operation.requestBody?.content['application/json'] === undefined ? undefined : this.#validatorAt(`${base}/requestBody/${json}`),
    }
  }

  #validatorAt(pointer: string): ValidateFunction {
    let validate = this.#validators.get(pointer)
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `document#/${pointer}` })
      this.#validators.set(pointer, validate)
    }
    return validate
  }
}

function expectValid(what: string, validate: ValidateFunction, value: unknown): void {
  const errors = errorsOf(validate, value)
  if (errors.length > 0) expect.fail(`${what} does not match the document: ${JSON.stringify(errors.slice(0, 5))}`)
}

function errorsOf(validate: ValidateFunction, value: unknown): readonly unknown[] {
  return validate(value) ? [] : validate.errors!.map(({ instancePath, message, params }) => ({ instancePath, message, params }))
}

/** A name as a part of a JSON pointer in the fragment of a URI. */
function escape(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
}

/** A copy whose objects have only the members that are documented: clients must accept others, but the service sends none. */
function closed(value: unknown, document: OpenApiDocument): unknown {
  if (Array.isArray(value)) return value.map((item) => closed(item, document))
  if (typeof value !== 'object' || value === null) return value
  const { allOf, ...schema } = value as JsonSchema
  const copy = Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, closed(member, document)]))
  if (Array.isArray(allOf)) return { ...copy, allOf: allOf.map((part) => open(part, document)), unevaluatedProperties: false }
  return copy['type'] === 'object' && copy['properties'] !== undefined ? { additionalProperties: false, ...copy } : copy
}

/** The same of a part of a schema, which has only some of the members. */
function open(part: object, document: OpenApiDocument): unknown {
  const { additionalProperties: _, ...rest } = closed(resolve(document, part), document) as JsonSchema
  return rest
}

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { createDocument } from '../../src/http/openapi/document.ts'
import { resolve, type HeaderObject, type JsonSchema, type OpenApiDocument, type OperationObject } from '../../src/http/openapi/types.ts'
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
}

/** Headers that HTTP itself needs, or that {@link DocumentCheck} compares otherwise. */
const UNDOCUMENTED = new Set(['content-type', 'content-length', 'transfer-encoding', 'date', 'connection', 'keep-alive'])

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The document of the service with its default settings. */
export function defaultDocument(): OpenApiDocument {
  return createDocument({ engine: shipped, operations, uploadBytes: limits.uploadBytes, quotas: undefined, origin: undefined })
}

/** Compares what the service sends with its OpenAPI document. A member, status, code or header that is not documented is drift. */
export class DocumentCheck {
  readonly document: OpenApiDocument
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true })
  readonly #validators = new Map<string, ValidateFunction>()

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
    const name = (method === 'HEAD' ? 'GET' : method).toLowerCase()
    const operation = this.document.paths[path]?.[name]
    const what = `${method} ${path} ${response.status}`
    if (operation === undefined) return expect.fail(`${what}: the operation is not documented`)
    const documented = operation.responses[String(response.status)]
    if (documented === undefined)
      return expect.fail(`${what}: the status is not documented. The response: ${JSON.stringify(response.body)}`)
    const { headers = {}, content } = resolve(this.document, documented)
    if (response.headers !== undefined) this.#checkHeaders(what, response.headers, headers)
    if (response.body !== undefined && content?.['application/json'] !== undefined)
      this.#expectValid(`${what}: the body`, pointerOf(this.document, path, name, response.status), response.body)
    if (response.status < 300 && response.requestBody !== undefined) this.#checkRequest(what, path, name, operation, response.requestBody)
  }

  /** Whether a value matches the schema at a pointer of the document, such as `components/schemas/Card`. */
  errorsAt(pointer: string, value: unknown): readonly unknown[] {
    const validate = this.#validatorAt(pointer)
    return validate(value) ? [] : validate.errors!.map(({ instancePath, message, params }) => ({ instancePath, message, params }))
  }

  #checkHeaders(what: string, sent: Headers, documented: Readonly<Record<string, HeaderObject | { $ref: string }>>): void {
    const byName = new Map(Object.entries(documented).map(([name, header]) => [name.toLowerCase(), { name, header }]))
    for (const [name, value] of sent) {
      if (UNDOCUMENTED.has(name)) continue
      const entry = byName.get(name)
      if (entry === undefined) return expect.fail(`${what}: the header ${name} is not documented`)
      this.#expectValid(`${what}: the header ${name}`, `components/headers/${entry.name}/schema`, value)
    }
    for (const [name, { header }] of byName)
      if (resolve<HeaderObject>(this.document, header).required === true && !sent.has(name))
        expect.fail(`${what}: the header ${name} is missing`)
  }

  /** What was accepted must match the schema of the body. */
  #checkRequest(what: string, path: string, method: string, { requestBody }: OperationObject, body: unknown): void {
    if (requestBody === undefined) return
    const pointer = `paths/${escape(path)}/${method}/requestBody/content/application~1json/schema`
    this.#expectValid(`${what}: the body of the request`, pointer, body)
  }

  #expectValid(what: string, pointer: string, value: unknown): void {
    const errors = this.errorsAt(pointer, value)
    if (errors.length > 0) expect.fail(`${what} does not match the document: ${JSON.stringify(errors.slice(0, 5))}`)
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

function pointerOf({ paths }: OpenApiDocument, path: string, method: string, status: number): string {
  const response = paths[path]![method]!.responses[String(status)]!
  const base = '$ref' in response ? response.$ref.slice(2) : `paths/${escape(path)}/${method}/responses/${status}`
  return `${base}/content/application~1json/schema`
}

/** A name as a part of a JSON pointer in the fragment of a URI. */
function escape(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
}

/** A copy in which every object has only the members that are documented: clients must accept others, but the service sends none. */
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

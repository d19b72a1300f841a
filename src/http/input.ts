import type { ServerRequest } from 'srvx'
import { z } from 'zod'
import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import type { Operation } from '../resources/operation.ts'
import { readBody } from './body.ts'
import { validationFailed, type ValidationIssue } from './issues.ts'
import { parseJson } from './json.ts'
import { checkAnnounced, isUpload } from './upload.ts'

/** What a request says, in the shapes that its operation states. */
export interface Input {
  readonly query: unknown
  readonly body: unknown
  /** whether a file comes along, whose bytes nobody has read yet */
  readonly upload: boolean
}

const nothing = z.strictObject({})
const OR_FORM = 'The body must be JSON (application/json), or a form with a file (multipart/form-data with its boundary).'

/**
 * Reads query and body against the operation's row. Whatever the row does not know is refused.
 * @throws {ApiError} `bad_request`, `payload_too_large`, `unsupported_media_type`, `validation_failed`
 */
export async function readInput(
  request: ServerRequest,
  search: string,
  operation: Operation,
  params: Readonly<Record<string, string>>,
  uploadBytes: number,
): Promise<Input> {
  const upload = operation.takesUpload && isUpload(request.headers)
  if (upload) checkAnnounced(request.headers, uploadBytes)
  const body = upload || operation.method === 'GET' || operation.method === 'DELETE' ? undefined : await readJson(request, operation)
  const issues: ValidationIssue[] = []
  const query = check(operation.query, readQuery(search, issues), 'query', issues)
  const checked = body === undefined ? undefined : check(operation.body ?? nothing, body, 'body', issues)
  const contradiction = checked === undefined ? undefined : operation.contradiction?.(params, checked)
  if (contradiction !== undefined) issues.push({ in: 'body', ...contradiction })
  if (issues.length > 0) throw validationFailed(issues)
  return { query, body: checked, upload }
}

function check(schema: z.ZodType, value: unknown, place: ValidationIssue['in'], issues: ValidationIssue[]): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  for (const issue of result.error.issues) {
    const path = issue.path.map(String)
    if (issue.code === 'unrecognized_keys')
      for (const key of issue.keys) issues.push({ in: place, path: [...path, key].join('.'), message: 'is not known here' })
    else issues.push({ in: place, path: path.join('.'), message: describe(issue) })
  }
  return undefined
}

function describe(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.input === undefined && issue.message.endsWith('undefined')) return 'is missing'
  return issue.message.replace(/^Invalid input: /, '').replace(/^Too (big|small): /, '')
}

function readQuery(search: string, issues: ValidationIssue[]): Record<string, string> {
  const query: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(search)) {
    if (Object.hasOwn(query, name)) issues.push({ in: 'query', path: name, message: 'stands twice' })
    // Defined, not assigned: a parameter may be called __proto__.
    Object.defineProperty(query, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return query
}

async function readJson(request: ServerRequest, { body: schema, takesUpload }: Operation): Promise<unknown> {
  const required = schema !== undefined
  const { headers } = request
  const hasBody =
    headers.has('transfer-encoding') ||
    (headers.get('content-length') ?? '0') !== '0' ||
    (request.runtime?.node === undefined && request.body !== null)
  if (!hasBody && !required) return {}
  if (!hasBody) throw new ApiError('bad_request', { message: 'This operation takes a JSON body, and there is none.' })
  const type = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i
  if (!type.test(headers.get('content-type') ?? '') || (headers.get('content-encoding') ?? 'identity') !== 'identity')
    throw new ApiError('unsupported_media_type', takesUpload ? { message: OR_FORM } : {})
  return parseJson(await readBody(request, limits.jsonBytes), limits.jsonDepth)
}

import type { ServerRequest } from 'srvx'
import { z } from 'zod'
import type { Cost } from '../governor/cost.ts'
import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import type { Operation } from '../resources/operation.ts'
import { Pieces, readBody } from './body.ts'
import { isListParameter, membersOf, withOwnMembers } from './body-members.ts'
import { describeIssue, Issues, type ValidationIssue } from '../model/validation.ts'
import { readFields, selectableFields, withoutInclude } from './fields.ts'
import { parseJson } from './json.ts'
import { checkAnnouncedSize, isUpload } from './upload.ts'

/** The input of a request, in the shapes that the operation's row states. */
export interface Input {
  readonly query: unknown
  /** the members of the response that the client wants; undefined: all */
  readonly fields: ReadonlySet<string> | undefined
  readonly body: unknown
  /** whether the body is a file, which is not read yet */
  readonly upload: boolean
}

/** What is done about the size of a JSON body. */
export interface Weighing {
  /** is awaited before a large body is parsed */
  readonly beforeLarge: () => Promise<void>
  /** gets its bytes, the number of its members and items, and the pieces that it came in */
  readonly cost?: Pick<Cost, 'weigh'>
}

const nothing = z.strictObject({})
const FIELDS = 'fields'
/** JSON is UTF-8, so a parameter changes nothing (RFC 8259 §11), unless it says that the text has another coding. */
const JSON_TYPE = /^application\/(json|merge-patch\+json)\s*(?:;(?!\s*charset\s*=)[^;]*|;\s*charset="?(?:utf-?8|us-ascii)"?\s*)*$/i
/** A PATCH is a merge of members (RFC 7396): null is a value where the member has it, and removes nothing else. */
const MERGE_PATCH = 'application/merge-patch+json'
/** A body that takes more than a millisecond to parse and validate, if it has many members, in bytes. */
const LARGE_BODY = 32 * 1024
const JSON_BODY = 'application/json'
const FORM = 'multipart/form-data'
const FILE_ONLY = 'The body must be a form with a file: Content-Type: multipart/form-data, with its boundary.'

const NO_CODING = 'The body must be sent without a content coding.'
/** The header that names the types that a method accepts (RFC 5789 §3.1; W3C LDP §7.1). */
const ACCEPT: Readonly<Record<string, string>> = { PATCH: 'accept-patch', POST: 'accept-post' }

/**
 * Reads query and body, and validates them against the operation's row. Unknown members are refused.
 * @param userId the caller, whom `me` stands for
 * @returns a promise only if there is a body to read
 * @throws {ApiError} `bad_request`, `payload_too_large`, `unsupported_media_type`, `validation_failed`
 */
export function readInput(
  request: ServerRequest,
  search: string,
  operation: Operation,
  params: Readonly<Record<string, string>>,
  userId: string,
  uploadBytes: number,
  weighing: Weighing,
): Input | Promise<Input> {
  const { method, takesUpload } = operation
  const upload = takesUpload && isUpload(request.headers)
  if (takesUpload && !upload) throw unsupportedType(method, FORM, FILE_ONLY)
  if (upload) checkAnnouncedSize(request.headers, uploadBytes)
  // Whatever a client adds to a DELETE that takes none is no content of it.
  if (!upload && method !== 'GET' && (method !== 'DELETE' || operation.body !== undefined))
    return readJson(request, operation, weighing).then((body) => validInput(operation, params, userId, search, body, false))
  if (upload || search !== '') return validInput(operation, params, userId, search, undefined, upload)
  let input = withoutInput.get(operation)
  if (input === undefined) withoutInput.set(operation, (input = validInput(operation, params, userId, search, undefined, false)))
  return input
}

/** What an operation is called with by a request without a query and a body, if that is valid. It is the same for each. */
const withoutInput = new WeakMap<Operation, Input>()

function validInput(
  operation: Operation,
  params: Readonly<Record<string, string>>,
  userId: string,
  search: string,
  body: unknown,
  upload: boolean,
): Input {
  const issues = new Issues()
  const { query, fields } = validateQuery(operation, userId, search, issues)
  const ownBody = withOwnMembers(operation.body, body, userId)
  const validBody = ownBody === undefined ? undefined : validate(operation.body ?? nothing, ownBody, 'body', issues)
  const broken = validBody === undefined ? undefined : operation.bodyRule?.(params, validBody)
  if (broken !== undefined) issues.refuse(broken.path, broken.message)
  issues.throwIfAny()
  return { query, fields, body: validBody, upload }
}

/**
 * What is wrong with the input of a request, as {@link readInput} would say it: for a client whose user is told of all mistakes at once.
 */
export function issuesOfInput(
  operation: Operation,
  params: Readonly<Record<string, string>>,
  userId: string,
  search: string,
  body: unknown,
): readonly ValidationIssue[] {
  try {
    validInput(operation, params, userId, search, body, false)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return (error.details.members?.['issues'] ?? []) as readonly ValidationIssue[]
  }
  return []
}

function validateQuery(operation: Operation, userId: string, search: string, issues: Issues): Pick<Input, 'query' | 'fields'> {
  const all = withOwnMembers(operation.query, readParameters(operation, search, issues), userId) as Record<string, string>
  const selectable = all[FIELDS] === undefined ? undefined : selectableFields(operation)
  if (selectable === undefined || selectable.size === 0)
    return { query: validate(operation.query, all, 'query', issues), fields: undefined }
  const { [FIELDS]: names, ...query } = all
  const fields = readFields(names!, selectable)
  const valid = validate(operation.query, query, 'query', issues) as { readonly include?: ReadonlySet<string> } | undefined
  const wrong = typeof fields === 'string' ? fields : valid && withoutInclude(operation, fields, valid.include)
  if (wrong !== undefined) issues.refuse(FIELDS, wrong, 'query')
  return { query: valid, fields: typeof fields === 'string' ? undefined : fields }
}

/** Returns the valid value; undefined if there are issues, which are added to the list. */
function validate(schema: z.ZodType, value: unknown, place: ValidationIssue['in'], issues: Issues): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  for (const { path, message } of issuesOf(result.error, place)) issues.refuse(path, message, place)
  return undefined
}

/** The issues of a value that does not match a schema. */
export function issuesOf({ issues }: Pick<z.ZodError, 'issues'>, place: ValidationIssue['in']): ValidationIssue[] {
  return issues.flatMap((issue): ValidationIssue[] => {
    const path = issue.path.map(String)
    if (issue.code !== 'unrecognized_keys') return [{ in: place, path: path.join('.'), message: describeIssue(issue) }]
    return issue.keys.map((key) => ({ in: place, path: [...path, key].join('.'), message: 'is not a known member' }))
  })
}

/** How axios (`include[]`) and PHP (`include[0]`) name each item of a list. */
const ITEM = /\[\d{0,3}\]$/

/** Reads the parameters of a query. A list has commas between its items, or is repeated, or both; its name may have brackets. */
function readParameters({ query: schema }: Pick<Operation, 'query'>, search: string, issues: Issues): Record<string, string> {
  const query: Record<string, string> = {}
  const members = membersOf(schema)
  const isList = (name: string) => name === FIELDS || (Object.hasOwn(members, name) && isListParameter(members[name]!))
  for (const [given, text] of new URLSearchParams(search)) {
    const listName = given.endsWith(']') ? given.replace(ITEM, '') : given
    const name = listName !== given && isList(listName) ? listName : given
    const isRepeated = Object.hasOwn(query, name)
    const isFurther = isRepeated && isList(name)
    if (isRepeated && !isFurther) issues.refuse(name, 'is given twice, and is no list', 'query')
    const value = isFurther ? `${query[name]},${text}` : text
    // An assignment would set the prototype for a parameter called __proto__.
    Object.defineProperty(query, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return query
}

/**
 * Reads a JSON body, within the limits.
 * @throws {ApiError} `bad_request`, `payload_too_large`, `unsupported_media_type`
 */
export async function readJson(
  request: ServerRequest,
  { method, body: schema, isBodyOptional }: Pick<Operation, 'method' | 'isBodyOptional'> & { readonly body: unknown },
  { beforeLarge, cost }: Weighing,
): Promise<unknown> {
  const required = schema !== undefined && !isBodyOptional
  const { headers } = request
  const hasBody =
    headers.has('transfer-encoding') ||
    (headers.get('content-length') ?? '0') !== '0' ||
    (request.runtime?.node === undefined && request.body !== null)
  if (!hasBody && !required) return {}
  if (!hasBody) throw new ApiError('bad_request', { message: 'This operation requires a JSON body.' })
  if ((headers.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity')
    throw new ApiError('unsupported_media_type', { message: NO_CODING, headers: { 'accept-encoding': 'identity' } })
  const [, type] = JSON_TYPE.exec(headers.get('content-type') ?? '') ?? []
  if (type === undefined || (type.toLowerCase() !== 'json' && method !== 'PATCH'))
    throw unsupportedType(method, method === 'PATCH' ? `${JSON_BODY}, ${MERGE_PATCH}` : JSON_BODY)
  const pieces = new Pieces()
  const bytes = await readBody(request, limits.jsonBytes, pieces)
  // A client that sends large bodies all the time must not delay others.
  if (bytes.byteLength > LARGE_BODY) await beforeLarge()
  return parseJson(bytes, limits.jsonDepth, limits.jsonMembers, (values) => cost?.weigh(bytes.byteLength, values, pieces.count))
}

/** RFC 9110 §15.5.16: the response names what is accepted. */
function unsupportedType(method: string, type: string, message?: string): ApiError {
  const name = ACCEPT[method]
  return new ApiError('unsupported_media_type', {
    ...(message === undefined ? {} : { message }),
    ...(name === undefined ? {} : { headers: { [name]: type } }),
  })
}

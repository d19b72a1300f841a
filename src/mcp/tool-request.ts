import { statedInCalls } from './catalog.ts'
import { invalidMember } from '../model/validation.ts'
import { headersOf, isHeader, OPERATION, type Callable, type CallableTool } from './callable.ts'
import type { ApiRequest } from './exchange.ts'
import { isList, OFFSET, PAGE_SIZE } from './input-schema.ts'
import { textForm } from './text-file.ts'

/** The arguments of a call. */
export type CallArguments = Readonly<Record<string, unknown>>

/** The operation of a tool that the arguments select; undefined if they select none. */
export function selectOperation({ callables }: CallableTool, args: CallArguments): Callable | undefined {
  const selected = args[OPERATION] ?? undefined
  if (callables.length === 1 && selected === undefined) return callables[0]
  return callables.find(({ operation }) => operation.id === selected)
}

/** The arguments by the parts of a request that they become. */
export interface RequestParts {
  readonly params: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  /** with its question mark, or empty */
  readonly search: string
  /** of the body */
  readonly members: CallArguments
}

/** Divides the arguments of a call among the parts of its request. What the operation does not know is refused by the API. */
export function partsOf({ operation, arguments: known }: Callable, args: CallArguments): RequestParts {
  const params: Record<string, string> = {}
  const headers: Record<string, string> = {}
  const members: [string, unknown][] = []
  const query = new URLSearchParams(statedInCalls[operation.id])
  const own: readonly string[] = headersOf(operation)
  for (const [name, value] of Object.entries(args)) {
    if (name === OPERATION || value === undefined) continue
    if (Object.hasOwn(known.path, name)) params[name] = String(value)
    else if (own.includes(name)) headers[name.replace('_', '-')] = String(value)
    else if (operation.body === undefined || Object.hasOwn(known.query, name)) query.set(name, queryText(value))
    else members.push([name, value])
  }
  if (isList(known.query) && !query.has('limit')) query.set('limit', String(PAGE_SIZE))
  return { params, headers, search: query.size === 0 ? '' : `?${query.toString()}`, members: Object.fromEntries(members) }
}

/**
 * Makes the request below /v1 of a call. The pipeline validates it; here is checked only what must be known to write it.
 * @param args as {@link readArguments} has read them
 * @throws {ApiError} `validation_failed`; of a text to upload `payload_too_large`
 */
export function toRequest(callable: Callable, args: CallArguments): ApiRequest {
  const { operation, uploadsText, arguments: known } = callable
  for (const name of Object.keys(known.path))
    if (typeof args[name] !== 'string' || args[name] === '')
      throw invalidMember(name, args[name] === undefined ? 'is missing' : 'must be a text')
  for (const name of headersOf(operation)) {
    const message = args[name] === undefined ? undefined : argumentIssue(name, args[name])
    if (message !== undefined) throw invalidMember(name, message)
  }
  const { params, headers, search, members } = partsOf(callable, args)
  // No id has other characters, so a malformed one stays malformed, and is answered like an absent one.
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name]!.replaceAll(/\W/g, '-'))
  const { method, body } = operation
  if (uploadsText) return { method, path, search, headers, body: textForm(members) }
  return { method, path, search, headers, body: body === undefined ? undefined : members }
}

/** A list of names is separated by commas. */
function queryText(value: unknown): string {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Visible ASCII characters and spaces: no other can be sent in a header. */
const HEADER_TEXT = /^[ -~]+$/

/** What is wrong with an argument that is checked here, because the API does not see it as it was given; undefined: nothing. */
export function argumentIssue(name: string, value: unknown): string | undefined {
  if (name === OFFSET) return Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : 'must be a whole number'
  if (!isHeader(name)) return undefined
  if (name === 'if_claim') {
    return Number.isSafeInteger(value) && (value as number) >= 1 ? undefined : 'must be the epoch of a claim, a whole number'
  }
  if (typeof value !== 'string' || !HEADER_TEXT.test(value)) return 'must be a text of visible ASCII characters'
  // Without its quotes it matches nothing, and the advice would be to read again what has not changed.
  const isEtag = name !== 'if_match' || value === '*' || value.includes('"')
  return isEtag ? undefined : 'must be an etag as it was answered, with its double quotes'
}

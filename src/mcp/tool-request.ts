import { statedInCalls } from './catalog.ts'
import { invalidMember } from '../model/validation.ts'
import type { ApiRequest } from './exchange.ts'
import { textForm } from './text-file.ts'
import { headersOf, OPERATION, type Callable, type CallableTool } from './tool-list.ts'

/** The arguments of a call, as the client sent them. */
export type CallArguments = Readonly<Record<string, unknown>>

/** The operation of a tool that the arguments select; undefined if they select none. */
export function selectOperation({ callables }: CallableTool, args: CallArguments): Callable | undefined {
  const selected = args[OPERATION]
  if (callables.length === 1 && selected === undefined) return callables[0]
  return callables.find(({ operation }) => operation.id === selected)
}

/**
 * Makes the request below /v1 of a call. The pipeline validates it; here is checked only what must be known to write it.
 * @throws {ApiError} `validation_failed`; of a text to upload `payload_too_large`
 */
export function toRequest({ operation, uploadsText, arguments: known }: Callable, args: CallArguments): ApiRequest {
  const { method } = operation
  const rest = new Map(Object.entries(args))
  rest.delete(OPERATION)
  const take = (name: string): unknown => {
    const value = rest.get(name)
    rest.delete(name)
    return value
  }
  let { path } = operation
  for (const name of known.path) path = path.replace(`{${name}}`, idOf(name, take(name)))
  const headers: Record<string, string> = {}
  for (const name of headersOf(operation)) {
    const value = take(name)
    if (value !== undefined) headers[name.replace('_', '-')] = headerOf(name, value)
  }
  const query = new URLSearchParams(statedInCalls[operation.id])
  for (const [name, value] of rest) {
    if (operation.body !== undefined && !Object.hasOwn(known.query, name)) continue
    rest.delete(name)
    if (value !== undefined) query.set(name, queryText(name, value))
  }
  const search = query.size === 0 ? '' : `?${query.toString()}`
  const members = Object.fromEntries(rest)
  if (uploadsText) return { method, path, search, headers, body: textForm(members) }
  return { method, path, search, headers, body: operation.body === undefined ? undefined : members }
}

/** An id for the path. No id has other characters, so a malformed one stays malformed, and is answered like an absent one. */
function idOf(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value.replaceAll(/\W/g, '-')
  throw invalidMember(name, value === undefined ? 'is missing' : 'must be a text')
}

/** A list of names is separated by commas. `null` is no way to leave out a filter: it may be meant to find what has no such member. */
function queryText(name: string, value: unknown): string {
  if (value === null) throw invalidMember(name, NO_NULL)
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const NO_NULL = 'must not be null: leave the argument out, or give it a value (assignee_id: "none" finds cards without an assignee)'

/** Visible ASCII characters and spaces: no other can be sent in a header. */
const HEADER_TEXT = /^[ -~]+$/

function headerOf(name: string, value: unknown): string {
  if (name === 'if_claim') {
    if (Number.isSafeInteger(value) && (value as number) >= 1) return String(value)
    throw invalidMember(name, 'must be the epoch of a claim, a whole number')
  }
  if (typeof value !== 'string' || !HEADER_TEXT.test(value)) throw invalidMember(name, 'must be a text of visible ASCII characters')
  // Without its quotes it matches nothing, and the advice would be to read again what has not changed.
  if (name === 'if_match' && value !== '*' && !value.includes('"'))
    throw invalidMember(name, 'must be an etag as it was answered, with its double quotes')
  return value
}

import { InvalidInput } from './errors.ts'
import type { OperationRow } from './methods.ts'

/** The input of a method: the parameters of the path and the query, and the members of the body. */
export type Input = Readonly<Record<string, unknown>>

/** What an operation is called with, as a request has it. */
export interface RequestParts {
  /** below /v1, with the query */
  readonly target: string
  readonly body: string | FormData | undefined
}

/**
 * Distributes an input to the path, the query and the body.
 * @throws {InvalidInput} if a parameter of the path is missing, or would lead to another path; if one of the query has no text; if a
 * file is no Blob
 */
export function toRequest({ path, query, body }: OperationRow, input: Input, further: Input = {}): RequestParts {
  const left = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const take = (name: string): unknown => {
    const value = left.get(name)
    left.delete(name)
    return value
  }
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const value = take(name)
    if (typeof value !== 'string' || value === '') throw new InvalidInput(`"${name}" is required`)
    // A URL is normalized, also if they are encoded.
    if (value === '.' || value === '..') throw new InvalidInput(`"${name}" is not an id`)
    return encodeURIComponent(value)
  })
  // An unknown member of a read is sent too: the service refuses it, and a mistake is noticed.
  const names = body === undefined ? [...left.keys()] : query.filter((name) => left.has(name))
  const parameters = new URLSearchParams()
  for (const [name, value] of [...names.map((name) => [name, take(name)] as const), ...Object.entries(further)])
    if (value !== undefined) parameters.append(name, textOf(name, value))
  const search = parameters.toString()
  return { target: search === '' ? filled : `${filled}?${search}`, body: body === undefined ? undefined : toBody(left) }
}

/** @throws {InvalidInput} if a parameter is an object or null, whose text could be a valid one, as of a search */
function textOf(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.join(',')
  if (typeof value === 'object') throw new InvalidInput(`"${name}" must be a text, a number, true or false, or a list of texts`)
  return String(value)
}

/**
 * A form if a member is a file, otherwise JSON.
 * @throws {InvalidInput} if a member has bytes and is no Blob
 */
function toBody(members: ReadonlyMap<string, unknown>): string | FormData {
  for (const [name, value] of members)
    if (isBytes(value)) throw new InvalidInput(`"${name}" must be a Blob or a File, which can be sent again`)
  if (![...members.values()].some((value) => value instanceof Blob)) return JSON.stringify(Object.fromEntries(members))
  const form = new FormData()
  for (const [name, value] of members) form.append(name, value instanceof Blob ? value : String(value))
  return form
}

/** Whether it is a stream, which can be read only once, or a buffer. As JSON, they would be objects. */
function isBytes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Symbol.asyncIterator in value || 'getReader' in value || value instanceof ArrayBuffer || ArrayBuffer.isView(value)
}

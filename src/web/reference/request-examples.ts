import type { OpenApiDocument } from '../../http/openapi/types.ts'
import { parametersOf, responsesOf, type PlacedOperation } from './operations.ts'

/** A request for an operation: the one that was recorded, or one with the ids that were recorded of others. */
export interface RequestExample {
  /** the id of the operation */
  readonly id: string
  readonly method: string
  /** below /v1, with `{name}` for each parameter */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, number>>
  /** its JSON; undefined if it has no body */
  readonly body: Readonly<Record<string, unknown>> | undefined
  readonly answer: 'item' | 'list' | 'bytes' | 'events'
  /** the list has a last page */
  readonly hasCursor: boolean
  readonly takesUpload: boolean
  /** the id of the operation that reads the resource which this one changes, with its ETag; or undefined */
  readonly read: string | undefined
}

/** The number of items that the recorded examples of lists ask for. */
const ITEMS = 2

export function requestExample(document: OpenApiDocument, { method, path, operation }: PlacedOperation): RequestExample {
  const parameters = parametersOf(document, operation)
  const names = new Set(parameters.map(({ name }) => name))
  const content = operation.requestBody?.content ?? {}
  const [success] = responsesOf(document, operation)
  const isList = names.has('limit')
  return {
    id: operation.operationId,
    method,
    path,
    params: Object.fromEntries(parameters.filter((one) => one.in === 'path').map(({ name, example }) => [name, String(example)])),
    query: isList ? { limit: ITEMS } : {},
    body: content['application/json']?.example as RequestExample['body'],
    answer: answerOf(Object.keys(success?.content ?? {}), isList),
    hasCursor: names.has('cursor'),
    takesUpload: content['multipart/form-data'] !== undefined,
    read: method === 'PATCH' ? document.paths[path]?.['get']?.operationId : undefined,
  }
}

function answerOf(types: readonly string[], isList: boolean): RequestExample['answer'] {
  if (types.includes('text/event-stream')) return 'events'
  if (!types.includes('application/json')) return 'bytes'
  return isList ? 'list' : 'item'
}

/** A longer body is written on several lines. */
const BODY_LINE = 60

/**
 * The commands of curl for a request, for a shell. They read the token from the variable TOKEN.
 * @param base with /v1
 */
export function curlText({ method, path, params, query, body, answer, takesUpload }: RequestExample, base: string): string {
  const search = String(new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])))
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => params[name]!)
  const url = word(`${base}${filled}${search && `?${search}`}`)
  const verb = [method === 'GET' ? '' : ` -X ${method}`, answer === 'events' ? ' -N' : ''].join('')
  const command = (...further: string[]) => [`curl${verb} ${url}`, '-H "Authorization: Bearer $TOKEN"', ...further].join(' \\\n  ')
  const output = answer === 'bytes' ? ['-o file'] : []
  const json = body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${word(jsonOf(body))}`]
  return takesUpload ? command('-F file=@notes.txt') : command(...json, ...output)
}

function jsonOf(body: unknown): string {
  const short = JSON.stringify(body)
  return short.length > BODY_LINE ? JSON.stringify(body, null, 2).replaceAll('\n', '\n  ') : short
}

/** A word of a shell command. */
function word(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** A longer literal is written on several lines. */
const LITERAL_LINE = 44

/**
 * How a program gets the client that the calls use.
 * @param url of the service
 */
export function clientSetup(url: string): string {
  return `import { createClient } from 'lanekeeper-client'\n\nconst lk = createClient({\n  url: ${literal(url)},\n  token: process.env.TOKEN!,\n})`
}

/** The call of the typed client for a request, in TypeScript. */
export function clientText(example: RequestExample): string {
  const { id, params, query, body = {}, answer, hasCursor, takesUpload, read } = example
  const call = (input: object, options = '') =>
    `await lk.${id}(${[...(isEmpty(input) ? [] : [literal(input)]), options].filter(Boolean).join(', ')})`
  const input = { ...params, ...query, ...body }
  if (answer === 'bytes') return download(call(params))
  if (answer === 'events') return events(call(params), params)
  if (takesUpload) return upload(id, params)
  if (read !== undefined)
    return `// Refused with precondition_failed if it was changed meanwhile\nconst { etag } = await lk.${read}(${literal(params)})\nconst { data } = ${call(input, '{ ifMatch: etag }')}`
  if (answer === 'item') return `const { data } = ${call(input)}`
  if (!hasCursor) return follow(id, call(input), params)
  return `const { data, nextCursor } = ${call(input)}\n\n// The items of all pages\nfor await (const item of lk.${id}.all(${isEmpty(params) ? '' : literal(params)})) {\n  console.log(item)\n}`
}

function download(call: string): string {
  return `import { writeFile } from 'node:fs/promises'\n\nconst { data: response } = ${call}\nconst bytes = await response.arrayBuffer()\nawait writeFile('file', new Uint8Array(bytes))`
}

function upload(id: string, params: object): string {
  const file = `const file = new File(['Bring the keys.'], 'notes.txt')`
  return `${file}\nconst { data } = await lk.${id}({\n  ${members(params)},\n  file,\n})`
}

function events(call: string, params: object): string {
  return `const { data: response } = ${call}\nfor await (const text of response.body!.pipeThrough(new TextDecoderStream())) {\n  console.log(text)\n}\n\n// The changes themselves, also after an interruption\nfor await (const change of lk.changes(${literal(params)})) {\n  console.log(change)\n}`
}

function follow(id: string, call: string, params: object): string {
  const [one, all] = id === 'notices.list' ? ['notice', 'notices.follow()'] : ['change', `changes(${literal(params)})`]
  return `const { data, nextCursor } = ${call}\n\n// Each ${one}, as it comes\nfor await (const ${one} of lk.${all}) {\n  console.log(${one})\n}`
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0
}

/** A value as TypeScript, in the style of this repository. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}'`
  if (typeof value !== 'object' || value === null) return String(value)
  const short = Array.isArray(value) ? `[${value.map((item) => literal(item)).join(', ')}]` : `{ ${members(value)} }`
  if (isEmpty(value)) return Array.isArray(value) ? '[]' : '{}'
  if (short.length + indent.length <= LITERAL_LINE) return short
  const inner = `${indent}  `
  const lines = Object.entries(value).map(
    ([name, member]) => `${inner}${Array.isArray(value) ? '' : `${property(name)}: `}${literal(member, inner)},\n`,
  )
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${lines.join('')}${indent}${close}`
}

function members(value: object): string {
  return Object.entries(value)
    .map(([name, member]) => `${property(name)}: ${literal(member)}`)
    .join(', ')
}

function property(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : literal(name)
}

import type { RequestExample } from './request-example.ts'

/** A longer literal is written on several lines. */
const LINE = 44

/** How a program gets the client that the calls use. @param origin of the service */
export function clientSetup(origin: string): string {
  return `import { createClient } from 'lanekeeper/client'\n\nconst lk = createClient({\n  url: ${literal(origin)},\n  token: process.env.TOKEN!,\n})`
}

/** The call of the typed client for a request, in TypeScript. */
export function clientText(example: RequestExample): string {
  const { id, params, query, body = {}, answer, hasCursor, takesUpload, read } = example
  const call = (input: object, options = '') =>
    `await lk.${id}(${[...(isEmpty(input) ? [] : [literal(input)]), options].filter(Boolean).join(', ')})`
  const input = { ...params, ...query, ...body }
  if (answer === 'bytes') return download(call(params))
  if (answer === 'events') return events(call(params), params)
  if (takesUpload) return upload(id, params, call(input))
  if (read !== undefined)
    return `// Refused with precondition_failed if it was changed meanwhile\nconst { etag } = await lk.${read}(${literal(params)})\nconst { data } = ${call(input, '{ ifMatch: etag }')}`
  if (answer === 'item') return `const { data } = ${call(input)}`
  if (!hasCursor) return follow(call(input), params)
  return `const { data, nextCursor } = ${call(input)}\n\n// The items of all pages\nfor await (const item of lk.${id}.all(${isEmpty(params) ? '' : literal(params)})) {\n  console.log(item)\n}`
}

function download(call: string): string {
  return `import { writeFile } from 'node:fs/promises'\n\nconst { data: response } = ${call}\nconst bytes = await response.arrayBuffer()\nawait writeFile('file', new Uint8Array(bytes))`
}

function upload(id: string, params: object, attach: string): string {
  const file = `const file = new File(['Bring the keys.'], 'notes.txt')`
  return `// A new file\n${file}\nconst { data: uploaded } = await lk.${id}({\n  ${members(params)},\n  file,\n})\n\n// A file that is there\nconst { data } = ${attach}`
}

function events(call: string, params: object): string {
  return `const { data: response } = ${call}\nfor await (const text of response.body!.pipeThrough(new TextDecoderStream())) {\n  console.log(text)\n}\n\n// The changes themselves, also after an interruption\nfor await (const change of lk.changes(${literal(params)})) {\n  console.log(change)\n}`
}

function follow(call: string, params: object): string {
  return `const { data, nextCursor } = ${call}\n\n// Each change, as it is made\nfor await (const change of lk.changes(${literal(params)})) {\n  console.log(change)\n}`
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
  if (short.length + indent.length <= LINE) return short
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

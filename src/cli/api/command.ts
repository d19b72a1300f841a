import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { Command, InvalidArgumentError, Option } from 'commander'
import {
  createClient,
  type Client,
  type NotModified,
  type Page,
  type Result,
  ApiError,
  InvalidInput,
  NoResponse,
} from '../../client/client.ts'
import { ConfigError, readUrl } from '../../config.ts'
import { didYouMean } from '../../policy/diagnostic.ts'
import { writesToCard, type Operation } from '../../resources/operation.ts'
import { operations } from '../../resources/table.ts'
import { table, cell, describe } from '../text.ts'
import { toInput, parametersOf, returnedMembers, type Parameter } from './parameters.ts'
import { type exitCodes, Failure } from '../exit.ts'

const DEFAULT_URL = 'http://127.0.0.1:3000'

/** The options that do not come from the operations table. */
interface FurtherOptions {
  readonly data?: string
  readonly idempotencyKey?: string
  readonly ifMatch?: string
  readonly ifClaim?: number
  readonly ifNoneMatch?: string
  readonly dryRun?: true
  readonly all?: true
  readonly out?: string
  readonly url?: string
  readonly json?: true
  readonly print?: string
}

/**
 * Runs `lanekeeper api ARGUMENTS`.
 * @throws {ConfigError} `Failure`
 */
export async function runApi(args: readonly string[]): Promise<void> {
  const [id] = args
  if (id === undefined || id === '-h' || id === '--help') return console.log(overview())
  const row = operations.find((operation) => operation.id === id)
  if (row === undefined) {
    const advice = didYouMean(
      id,
      operations.map((operation) => operation.id),
    )
    throw new ConfigError(`there is no operation "${id}"; ${advice ?? '"lanekeeper api" lists them'}`)
  }
  await commandOf(row).parseAsync(args.slice(1), { from: 'user' })
}

function overview(): string {
  const rows = operations.map(({ id, summary }) => [id, summary.split(/(?<=\.) /)[0]!])
  return [
    'Usage: lanekeeper api OPERATION [options]',
    '',
    'Calls an operation of a running service. LANEKEEPER_TOKEN has the access token, LANEKEEPER_URL the URL of the service.',
    '"lanekeeper api OPERATION --help" prints the options of an operation.',
    '',
    ...table([['operation', ''], ...rows]),
  ].join('\n')
}

/** The command of an operation. Its options are the parameters of the row. */
export function commandOf(row: Operation): Command {
  const parameters = parametersOf(row).filter(({ name }) => name !== 'dry_run')
  const command = new Command(`lanekeeper api ${row.id}`)
    .description(`${row.summary}\n\n${row.method} /v1${row.path}`)
    .exitOverride()
    .allowExcessArguments(false)
    .helpOption('-h, --help', 'print this help')
  for (const parameter of parameters) for (const option of optionsOf(parameter)) command.addOption(option)
  if (row.body !== undefined) command.option('-d, --data <json>', 'the members of the body as JSON, @FILE, or - for stdin')
  if (!row.isRead) {
    command.option('--dry-run', 'check everything and answer as if the change were made, and change nothing')
    command.option('--idempotency-key <key>', 'requests with the same key make one change (default: a random one)')
    command.option('--if-match <etag>', 'require that the resource has this ETag')
    if (writesToCard(row)) command.option('--if-claim <epoch>', 'require that the token holds the card with this epoch', Number)
  } else if (isBytes(row)) command.option('-o, --out <file>', 'write the bytes to a file (default: stdout)')
  else if (isPaged(parameters)) command.option('--all', 'read all pages')
  if (row.method === 'GET') command.option('--if-none-match <etag>', 'answer nothing if the resource has this ETag')
  command.option('--url <url>', `the URL of the service (env: LANEKEEPER_URL, default: ${DEFAULT_URL})`)
  if (!isBytes(row)) {
    command.option('--json', 'print the response as JSON')
    command.option('--print <member>', 'print only this member of the result, such as id')
  }
  return command.action((options: FurtherOptions) =>
    call(row, parameters, options).catch((error: unknown) => {
      throw toFailure(error, options.json === true)
    }),
  )
}

/** An option for a parameter, and if it can be null a second one, such as `--no-due-at`. Whether one is missing is checked later. */
function optionsOf({ flag, kind, description, required, nullable, values }: Parameter): Option[] {
  const placeholder = kind === 'text' ? flag.slice(2).replace(/^.*-id$/, 'id') : kind
  const option = new Option(`${flag} <${placeholder}>`, required ? `${description} (required)` : description)
  if (values.length > 0) option.choices(values)
  const { parseArg = (value: string) => value } = option
  // Otherwise the last one would count, and the others would be ignored in silence.
  option.argParser((value: string, earlier: string | undefined) => {
    if (earlier === undefined) return parseArg(value, earlier)
    if (kind === 'list') return `${earlier},${value}`
    throw new InvalidArgumentError('The option is given twice, and is no list.')
  })
  const none = new Option(flag.replace('--', '--no-'), `sets it to null`)
  return nullable ? [option, none] : [option]
}

const isBytes = ({ data }: Operation): boolean => data.def.type === 'undefined'
/** Changes and notices have no last page, and another name for the cursor. */
const isPaged = (parameters: readonly Parameter[]): boolean => parameters.some(({ name }) => name === 'cursor')

type Method = ((input: object, options: object) => Promise<Result<unknown> | Page<unknown> | NotModified>) & {
  all(input: object): AsyncIterable<unknown>
}

async function call(row: Operation, parameters: readonly Parameter[], options: FurtherOptions): Promise<void> {
  const { idempotencyKey, ifMatch, ifClaim, ifNoneMatch, dryRun } = options
  if (options.print !== undefined) requireMember(row, options.print)
  const format = { json: options.json === true, member: options.print }
  const input = await toInput(parameters, options as Readonly<Record<string, unknown>>, options.data)
  const [resource, name] = row.id.split('.') as [string, string]
  const method = (connect(options) as unknown as Record<string, Record<string, Method>>)[resource]![name]!
  if (options.all) return printAll(method.all(input), format)
  const further = { idempotencyKey, ifMatch, ifClaim, ifNoneMatch, dryRun }
  const result = await method(input, Object.fromEntries(Object.entries(further).filter(([, value]) => value !== undefined)))
  if (isBytes(row) && result.status !== 304) return writeBytes(result as Result<Response>, options.out)
  printResult(result, format, isPaged(parameters) ? '--all, or --cursor' : '--after')
}

/** @throws {ConfigError} if nothing that is returned has this member: it would be noticed only after the change */
function requireMember(row: Operation, name: string): void {
  const names = returnedMembers(row)
  if (names.includes(name)) return
  throw new ConfigError(`--print: ${row.id} returns no member "${name}"; it must be one of ${names.join(', ')}`)
}

function connect({ url }: FurtherOptions): Client {
  const token = process.env['LANEKEEPER_TOKEN']
  if (token === undefined || token === '') throw new ConfigError('LANEKEEPER_TOKEN: it must have an access token, lk_pat_…')
  // The error of fetch would have the token in its message.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new ConfigError('LANEKEEPER_TOKEN: it has characters that no token has')
  return createClient({ url: readUrl({ url }, process.env) ?? DEFAULT_URL, token })
}

/** What is wrong with the request itself. */
const INVALID = new Set([400, 413, 415, 416, 422, 431])
/** The service, its storage or a proxy cannot do it now. */
const UNAVAILABLE = new Set([408, 429, 502, 503, 504])

/** The failure of a call with its text and its exit code; any other error as it is. */
function toFailure(error: unknown, json: boolean): unknown {
  if (error instanceof InvalidInput) return new ConfigError(error.message)
  if (error instanceof NoResponse) return new Failure('storage', describeFailure(json, 'no_response', error))
  if (!(error instanceof ApiError)) return error
  const { code, status, requestId, members } = error
  return new Failure(outcomeOf(status), describeFailure(json, code, error, { status, request_id: requestId, ...members }))
}

function outcomeOf(status: number): keyof typeof exitCodes {
  if (INVALID.has(status)) return 'usage'
  if (UNAVAILABLE.has(status)) return 'storage'
  return status >= 500 ? 'internal' : 'refused'
}

/** One line of JSON, or a sentence with a line for each further member. A write names its key, so that it can be repeated. */
function describeFailure(
  json: boolean,
  code: string,
  { message, idempotencyKey }: ApiError | NoResponse,
  further: Readonly<Record<string, unknown>> = {},
): string {
  const members = { ...further, ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }) }
  if (json) return JSON.stringify({ error: { code, message, ...members } })
  const lines = Object.entries(members).map(([name, value]) => `  ${name}: ${cell(isNested(value) ? JSON.stringify(value) : value)}`)
  return [`${code}: ${cell(message)}`, ...lines].join('\n')
}

/** How results are printed. */
interface Format {
  readonly json: boolean
  /** the only member that is printed */
  readonly member: string | undefined
}

/**
 * Prints the answer of the service.
 * @param further the options that fetch the next page
 */
function printResult(result: Result<unknown> | Page<unknown> | NotModified, { json, member }: Format, further: string): void {
  const { data, etag, requestId } = result
  const next = 'nextCursor' in result ? result.nextCursor : undefined
  if (member !== undefined) return printMembers(Array.isArray(data) ? data : [data], member)
  if (json) {
    const page = next === undefined ? {} : { page: { next_cursor: next } }
    return console.log(JSON.stringify({ data, ...page, etag, request_id: requestId }))
  }
  if (result.status === 304) return console.log('not modified')
  console.log(describeData(data))
  if (etag !== undefined && next === undefined) console.error(`etag: ${etag}`)
  if (typeof next === 'string') console.error(`there are more: add ${further} ${next}`)
}

/** Prints items one by one: as a table, or as a line of JSON each. */
async function printAll(items: AsyncIterable<unknown>, { json, member }: Format): Promise<void> {
  const found: unknown[] = []
  for await (const item of items)
    if (member !== undefined) printMembers([item], member)
    else if (json) console.log(JSON.stringify(item))
    else found.push(item)
  if (!json && member === undefined) console.log(describeData(found))
}

function printMembers(items: readonly unknown[], member: string): void {
  for (const item of items) {
    const value = (item as Record<string, unknown> | undefined)?.[member]
    console.log(typeof value === 'object' && value !== null ? JSON.stringify(value) : cell(value))
  }
}

/** Writes the bytes of a download to a file, or to stdout. */
async function writeBytes({ data }: Result<Response>, file: string | undefined): Promise<void> {
  const body = Readable.fromWeb((data.body ?? new Blob([]).stream()) as ReadableStream)
  if (file !== undefined) return pipeline(body, createWriteStream(file))
  await pipeline(body, process.stdout, { end: false })
}

/** Members that contain objects, such as the counts of a card, are shown as JSON. */
function describeData(data: unknown): string {
  if (Array.isArray(data)) return describe(data.map(flatten))
  return typeof data === 'object' && data !== null ? describe(flatten(data)) : cell(data)
}

function flatten(item: unknown): object {
  return Object.fromEntries(Object.entries(item as object).map(([name, value]) => [name, isNested(value) ? JSON.stringify(value) : value]))
}

function isNested(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => typeof item === 'object')
  return typeof value === 'object' && value !== null
}

import { ChangeStream, type ChangesInput, type ChangesOptions } from './changes.ts'
import type { Input } from './input.ts'
import type { OperationRow, Page, ReadOptions, WriteOptions } from './methods.ts'
import { operations, type Change, type Methods } from './operations.ts'
import { defaultPolicy, type RetryPolicy } from './retries.ts'
import { Transport, type Timers } from './transport.ts'

export { ApiError, InvalidInput, NoResponse, type ErrorCode } from './errors.ts'
export type { ChangesInput, ChangesOptions, ChangeStream } from './changes.ts'
export type { NotModified, Page, ReadOptions, RequestOptions, Result, WriteOptions } from './methods.ts'
export type { RetryPolicy } from './retries.ts'
export type * from './operations.ts'

/** How to reach a service. */
export interface ClientOptions {
  /** the URL of the service, such as `https://kanban.example`, with or without `/v1` */
  readonly url: string
  /** the access token, `lk_pat_…` */
  readonly token: string
  /** the time in which each attempt must be answered, in milliseconds; default 30,000. A long poll has its `wait` in addition. */
  readonly timeout?: number
  /** how failed requests are repeated; `{ attempts: 1 }`: not at all */
  readonly retries?: Partial<RetryPolicy>
  /** default: the global one */
  readonly fetch?: typeof globalThis.fetch
  /** numbers from 0 to 1, for the waits between attempts */
  readonly random?: () => number
  /** the time in milliseconds, to read a date in `Retry-After` */
  readonly now?: () => number
  /** creates the idempotency key of a write */
  readonly newKey?: () => string
  readonly timers?: Timers
}

/** A client: a method for each operation, by its id, and the changes of boards. */
export interface Client extends Methods {
  /** Follows the changes of a board (`boards.changes`). The iteration ends only by an error, the signal or a `break`. */
  changes(input: ChangesInput, options?: ChangesOptions): ChangeStream<Change>
}

const TIMEOUT = 30_000

/**
 * Creates a client of a service. Its methods are named by the ids of the operations:
 * `await client.cards.create({ board_id, column_id, title })`.
 *
 * Reads, and writes with an idempotency key, which each one gets by itself, are repeated when there is no response, and after 429
 * and 503. Every other refusal is thrown at once.
 */
export function createClient({ url, token, retries, timeout = TIMEOUT, ...options }: ClientOptions): Client {
  const transport = new Transport({
    base: baseOf(url),
    token,
    fetch: (input, init) => globalThis.fetch(input, init),
    timeout,
    random: Math.random,
    now: Date.now,
    newKey: randomKey,
    // Called as methods of another object, the timers of browsers throw.
    timers: { setTimeout: (...args) => setTimeout(...args), clearTimeout: (timer) => clearTimeout(timer) },
    ...options,
    retries: { ...defaultPolicy, ...retries },
  })
  const client: Record<string, Record<string, unknown>> = {}
  for (const [id, row] of Object.entries(operations) as [string, OperationRow][]) {
    const [resource, name] = id.split('.') as [string, string]
    const methods = (client[resource] ??= {})
    methods[name] = toMethod(transport, row)
  }
  const changes: Client['changes'] = (input, request) =>
    followChanges(transport, input, { ...request, timeout: (request?.timeout ?? timeout) + (input.wait ?? LONGEST_WAIT) * 1000 })
  return Object.assign(client, { changes }) as unknown as Client
}

type Method = (input?: Input, options?: ReadOptions & WriteOptions) => Promise<unknown>

function toMethod(transport: Transport, row: OperationRow): Method {
  const method: Method = async (input = {}, options) => transport.call(row, input, options)
  return row.result === 'list' && row.query.includes('cursor')
    ? Object.assign(method, { all: (input: Input, options?: ReadOptions) => allItems(transport, row, input, options) })
    : method
}

/** The items of all pages. */
async function* allItems(transport: Transport, row: OperationRow, input: Input = {}, options?: ReadOptions): AsyncGenerator<unknown, void> {
  let cursor: string | null | undefined
  do {
    const page = (await transport.call(row, { limit: MAX_LIMIT, ...input, cursor }, options)) as Page<unknown>
    yield* page.data
    cursor = page.nextCursor
  } while (cursor !== null)
}

const MAX_LIMIT = 100
/** in seconds */
const LONGEST_WAIT = 30

function followChanges(
  transport: Transport,
  { after, wait = LONGEST_WAIT, ...input }: ChangesInput,
  options: ChangesOptions,
): ChangeStream<Change> {
  const readPage = async (cursor: string | undefined) =>
    (await transport.call(operations['boards.changes'], { ...input, wait, after: cursor }, options)) as Page<Change>
  return new ChangeStream(after, readPage)
}

function baseOf(url: string): string {
  const { origin, pathname } = new URL(url)
  const path = pathname.replace(/\/+$/, '')
  return `${origin}${path.endsWith('/v1') ? path : `${path}/v1`}`
}

/** Unlike `crypto.randomUUID`, this works on pages without https too. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

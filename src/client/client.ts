import { ChangeStream, type ChangesInput, type ChangesOptions } from './changes.ts'
import { InvalidInput } from './errors.ts'
import type { Input } from './input.ts'
import type { OperationRow, Page, ReadOptions, WriteOptions } from './methods.ts'
import { operations, type Change, type Methods } from './operations.ts'
import {
  changesInputRules,
  changesRules,
  checkOptions,
  clientRules,
  LONGEST_TIME,
  readRules,
  requestRules,
  requireBase,
  requireToken,
  writeRules,
} from './options.ts'
import { defaultPolicy, waitOfStream, type Failure, type RetryPolicy } from './retries.ts'
import { Transport, type Timers } from './transport.ts'

export { ApiError, InvalidInput, NoResponse, type ErrorCode } from './errors.ts'
export type { ChangesInput, ChangesOptions, ChangeStream, Retry } from './changes.ts'
export type { NotModified, Page, ReadOptions, RequestOptions, Result, WriteOptions } from './methods.ts'
export type { RetryPolicy } from './retries.ts'
export type * from './operations.ts'

/** How to reach a service. */
export interface ClientOptions {
  /** the URL of the service, such as `https://kanban.example`, with or without `/v1` */
  readonly url: string
  /** the access token, `lk_pat_…`. It may be undefined, as a variable of the environment may be: without one there is an error. */
  readonly token: string | undefined
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
  /**
   * Follows the changes of a board (`boards.changes`), through every outage of the service and the network. The iteration ends by the signal,
   * by a `break`, and by an error that waiting cannot mend (see {@link ChangeStream}).
   * @throws {InvalidInput} if an input or an option is unknown or not valid
   */
  changes(input: ChangesInput, options?: ChangesOptions): ChangeStream<Change>
}

const TIMEOUT = 30_000

/**
 * Creates a client of a service. Its methods are named by the ids of the operations:
 * `await client.cards.create({ board_id, column_id, title })`.
 *
 * Reads, and writes with an idempotency key, which each one gets by itself, are repeated when there is no response, and after 429
 * and 503. Every other refusal is thrown at once.
 * @throws {InvalidInput} if an option is unknown or not valid, or the token is missing
 */
export function createClient(options: ClientOptions): Client {
  checkOptions('createClient', options ?? null, clientRules)
  const { url, token, retries, timeout = TIMEOUT, ...others } = options
  const policy = { ...defaultPolicy, ...given(retries ?? {}) }
  const transport = new Transport({
    base: requireBase(url),
    token: requireToken(token),
    fetch: (input, init) => globalThis.fetch(input, init),
    timeout,
    random: Math.random,
    now: Date.now,
    newKey: randomKey,
    // Called as methods of another object, the timers of browsers throw.
    timers: { setTimeout: (...args) => setTimeout(...args), clearTimeout: (timer) => clearTimeout(timer) },
    ...given(others),
    retries: policy,
  })
  const client: Record<string, Record<string, unknown>> = {}
  for (const [id, row] of Object.entries(operations) as [string, OperationRow][]) {
    const [resource, name] = id.split('.') as [string, string]
    const methods = (client[resource] ??= {})
    methods[name] = toMethod(transport, id, row)
  }
  const changes: Client['changes'] = (input, request = {}) => {
    checkOptions('changes', input, changesInputRules)
    if (input?.board_id === undefined) throw new InvalidInput('changes: "board_id" is required')
    checkOptions('changes', request, changesRules)
    const patient = { ...policy, maxDelay: retries?.maxDelay ?? LONGEST_STREAM_DELAY }
    return followChanges(transport, patient, input, { ...request, timeout: request.timeout ?? timeout })
  }
  return Object.assign(client, { changes }) as unknown as Client
}

/** Without the members that are undefined, which must not replace a default. */
function given<Options extends object>(options: Options): { [Name in keyof Options]: Exclude<Options[Name], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never
}

type Method = (input?: Input, options?: ReadOptions & WriteOptions) => Promise<unknown>

function toMethod(transport: Transport, id: string, row: OperationRow): Method {
  const rules = row.method === 'GET' ? readRules : writeRules
  const method: Method = async (input = {}, options) => {
    checkOptions(id, options, rules)
    return transport.call(row, input, options)
  }
  const all = (input: Input, options?: ReadOptions): AsyncGenerator<unknown, void> => {
    checkOptions(`${id}.all`, options, requestRules)
    return allItems(transport, row, input, options)
  }
  return row.result === 'list' && row.query.includes('cursor') ? Object.assign(method, { all }) : method
}

/** The items of all pages, or of those that follow a cursor. */
async function* allItems(transport: Transport, row: OperationRow, input: Input = {}, options?: ReadOptions): AsyncGenerator<unknown, void> {
  let cursor = input['cursor'] as string | null | undefined
  do {
    const page = (await transport.call(row, { limit: MAX_LIMIT, ...input, cursor }, options)) as Page<unknown>
    yield* page.data
    cursor = page.nextCursor
  } while (cursor !== null)
}

const MAX_LIMIT = 100
/** in seconds */
const LONGEST_WAIT = 30
/** The longest wait before a stream of changes tries again, in milliseconds. */
const LONGEST_STREAM_DELAY = 30_000

function followChanges(
  transport: Transport,
  policy: RetryPolicy,
  { after, wait = LONGEST_WAIT, ...input }: ChangesInput,
  { onRetry, signal: given, timeout, ...options }: ChangesOptions & { readonly timeout: number },
): ChangeStream<Change> {
  const repeating = {
    waitBefore: (failure: Failure, attempt: number, random: () => number) => waitOfStream(failure, attempt, policy, random),
    onRetry,
  }
  const readPage = async (cursor: string | undefined, signal: AbortSignal) => {
    const request = { ...options, signal, timeout: Math.min(LONGEST_TIME, timeout + wait * 1000) }
    return (await transport.call(operations['boards.changes'], { ...input, wait, after: cursor }, request, repeating)) as Page<Change>
  }
  return new ChangeStream(after, readPage, given)
}

/** Unlike `crypto.randomUUID`, this works on pages without https too. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

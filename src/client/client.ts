import { ChangeStream, type ChangesInput, type ChangesOptions, type NoticesInput } from './changes.ts'
import { InvalidInput } from './errors.ts'
import type { Input } from './input.ts'
import type { OperationRow, Page, ReadOptions, WriteOptions } from './methods.ts'
import { operations, type Change, type Methods, type Notice } from './operations.ts'
import {
  changesInputRules,
  changesRules,
  noticesInputRules,
  checkOptions,
  clientRules,
  LONGEST_TIME,
  readRules,
  requestRules,
  requireBase,
  requireToken,
  workRules,
  writeRules,
} from './options.ts'
import { defaultPolicy, type RetryPolicy } from './retries.ts'
import { patiently, Transport, type Caller, type Timers, type TransportOptions } from './transport.ts'
import { work, type WorkHandler, type WorkOptions } from './work.ts'

export { ApiError, InvalidInput, NoResponse, type ErrorCode } from './errors.ts'
export type { ChangesInput, ChangesOptions, ChangeStream, NoticesInput, Retry } from './changes.ts'
export { ClaimLost } from './held-claim.ts'
export { Failure, Question, type FailureOptions } from './outcomes.ts'
export type { TakenCard, WorkContext, WorkHandler, WorkOptions } from './work.ts'
export type { NotModified, Page, ReadOptions, RequestOptions, Result, WriteOptions } from './methods.ts'
export type { RetryPolicy } from './retries.ts'
export type * from './operations.ts'

/** How to reach a service. */
export interface ClientOptions extends Partial<Omit<TransportOptions, 'base' | 'token' | 'retries'>> {
  /** the URL of the service, such as `https://kanban.example`, with or without `/v1` */
  readonly url: string
  /** the access token, `lk_pat_…`. It may be undefined, as a variable of the environment may be: without one there is an error. */
  readonly token: string | undefined
  /** how failed requests are repeated; `{ attempts: 1 }`: not at all */
  readonly retries?: Partial<RetryPolicy>
  /** the time since any moment in milliseconds, by a clock that nobody sets: how long a claim is held; default: `performance.now` */
  readonly monotonic?: () => number
}

/** A client: a method for each operation, by its id, and the changes of boards. */
export interface Client extends Methods {
  /**
   * Follows the changes of a board (`boards.changes`), through every outage of the service and the network. The iteration ends by the
   * signal, by a `break`, and by an error that waiting cannot mend (see {@link ChangeStream}).
   * @throws {InvalidInput} if an input or an option is unknown or not valid
   */
  changes(input: ChangesInput, options?: ChangesOptions): ChangeStream<Change>
  /** Notices of the person of the token (`notices.*`). */
  readonly notices: Methods['notices'] & {
    /** Follows the notices as {@link Client.changes} follows changes: each once, without an end. */
    follow(input?: NoticesInput, options?: ChangesOptions): ChangeStream<Notice>
  }
  readonly claims: Methods['claims'] & {
    /**
     * Takes the ready cards of a board, one after the other, and lets a handler work on each (see {@link WorkHandler}). It waits for cards,
     * through every outage, and renews the claim of a card while its handler runs. A handler whose claim is lost is told by its signal,
     * and what it returns or throws then does not matter: the next card follows. It follows as well when a handler throws.
     * @throws {InvalidInput} if an option is unknown or not valid
     * @throws {ApiError} what waiting cannot mend: 401, 403, or 404 of the board; the reason of the signal
     */
    work(boardId: string, handler: WorkHandler, options?: WorkOptions): Promise<never>
  }
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
  const { url, token, retries, timeout = TIMEOUT, monotonic = () => performance.now(), ...others } = options
  const policy = { ...defaultPolicy, ...given(retries ?? {}) }
  // Called as methods of another object, the timers of browsers throw.
  const ownTimers: Timers = { setTimeout: (...args) => setTimeout(...args), clearTimeout: (timer) => clearTimeout(timer) }
  const timers = others.timers ?? ownTimers
  const transport = new Transport({
    base: requireBase(url),
    token: requireToken(token),
    fetch: (input, init) => globalThis.fetch(input, init),
    timeout,
    random: Math.random,
    now: Date.now,
    newKey: randomKey,
    ...given(others),
    timers,
    retries: policy,
  })
  const patient = { ...policy, maxDelay: retries?.maxDelay ?? LONGEST_STREAM_DELAY }
  const changes: Client['changes'] = (input, request = {}) => {
    checkOptions('changes', input, changesInputRules)
    if (input?.board_id === undefined) throw new InvalidInput('changes: "board_id" is required')
    checkOptions('changes', request, changesRules)
    return follow<Change>(transport, patient, 'boards.changes', input, { ...request, timeout: request.timeout ?? timeout })
  }
  const methods = methodsOf(transport)
  const notices: Client['notices'] = Object.assign(methods.notices, {
    follow(input: NoticesInput = {}, request: ChangesOptions = {}) {
      checkOptions('notices.follow', input, noticesInputRules)
      checkOptions('notices.follow', request, changesRules)
      return follow<Notice>(transport, patient, 'notices.list', input, { ...request, timeout: request.timeout ?? timeout })
    },
  })
  const claims: Client['claims'] = Object.assign(methods.claims, {
    work: async (boardId: string, handler: WorkHandler, request: WorkOptions = {}) => {
      checkOptions('claims.work', request, workRules)
      if (typeof handler !== 'function') throw new InvalidInput('claims.work: the handler must be a function')
      const { ttl = DEFAULT_TTL, wait = LONGEST_WAIT, onRetry } = request
      const deps = { transport, timers, monotonic, retries: patient, timeout, onRetry, ttl }
      return work(deps, boardId, handler, { ...request, wait }, methodsOf)
    },
  })
  return Object.assign(methods, { changes, claims, notices })
}

/** A method for each operation. */
function methodsOf(caller: Caller): Methods {
  const methods: Record<string, Record<string, unknown>> = {}
  for (const [id, row] of Object.entries(operations) as [string, OperationRow][]) {
    const [resource, name] = id.split('.') as [string, string]
    const ofResource = (methods[resource] ??= {})
    ofResource[name] = toMethod(caller, id, row)
  }
  return methods as unknown as Methods
}

/** Without the members that are undefined, which must not replace a default. */
function given<Options extends object>(options: Options): { [Name in keyof Options]: Exclude<Options[Name], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never
}

type Method = (input?: Input, options?: ReadOptions & WriteOptions) => Promise<unknown>

function toMethod(caller: Caller, id: string, row: OperationRow): Method {
  const rules = row.method === 'GET' ? readRules : writeRules
  const method: Method = async (input = {}, options) => {
    checkOptions(id, options, rules)
    return caller.call(row, input, options)
  }
  const all = (input: Input, options?: ReadOptions): AsyncGenerator<unknown, void> => {
    checkOptions(`${id}.all`, options, requestRules)
    return allItems(caller, row, input, options)
  }
  return row.result === 'list' && row.query.includes('cursor') ? Object.assign(method, { all }) : method
}

/** The items of all pages, or of those that follow a cursor. */
async function* allItems(caller: Caller, row: OperationRow, input: Input = {}, options?: ReadOptions): AsyncGenerator<unknown, void> {
  let cursor = input['cursor'] as string | null | undefined
  do {
    const page = (await caller.call(row, { limit: MAX_LIMIT, ...input, cursor }, options)) as Page<unknown>
    yield* page.data
    cursor = page.nextCursor
  } while (cursor !== null)
}

const MAX_LIMIT = 100
/** in seconds */
const LONGEST_WAIT = 30
/** of a claim, in seconds */
const DEFAULT_TTL = 300
/** The longest wait before a stream of changes, or a worker, tries again, in milliseconds. */
const LONGEST_STREAM_DELAY = 30_000

function follow<Item>(
  transport: Transport,
  policy: RetryPolicy,
  row: 'boards.changes' | 'notices.list',
  { after, wait = LONGEST_WAIT, ...input }: ChangesInput | NoticesInput,
  { onRetry, signal: given, timeout, ...options }: ChangesOptions & { readonly timeout: number },
): ChangeStream<Item> {
  const readPage = async (cursor: string | undefined, signal: AbortSignal) => {
    const request = { ...options, signal, timeout: Math.min(LONGEST_TIME, timeout + wait * 1000) }
    return (await transport.call(operations[row], { ...input, wait, after: cursor }, request, patiently(policy, onRetry))) as Page<Item>
  }
  return new ChangeStream(after, readPage, given)
}

/** Unlike `crypto.randomUUID`, this works on pages without https too. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

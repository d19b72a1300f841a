import { hash } from 'node:crypto'
import { sha256Hex } from '../auth/secrets.ts'
import type { FirstResponse, ResponseText } from '../model/idempotency.ts'
import { durations } from '../model/durations.ts'
import { ApiError } from '../model/errors.ts'
import { HOUR, timestamp, type Clock } from '../model/time.ts'
import type { Upload } from '../resources/operation.ts'
import { keys, type Key } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { comparedTags } from './preconditions.ts'
import { restoreTexts, separateTexts } from './response-texts.ts'

/** A string of structured fields (RFC 8941 §3.3.3), or the same text without quotes, as many clients send it. */
const KEY = /^(?:"([ !#-[\]-~]{1,255})"|([!#-+\--[\]-~]{1,255}))$/
const INVALID_KEY = 'Idempotency-Key must be one text of 1 to 255 visible ASCII characters, best in double quotes.'

/** What a request with an Idempotency-Key asks for, except its body. */
interface Asked {
  readonly method: string
  /** below /v1 */
  readonly path: string
  readonly query: unknown
  readonly body: unknown
  readonly headers: Headers
}

/** The names of the requests with an Idempotency-Key that this process is handling. */
export type RunningKeys = Set<string>

/**
 * A write with an Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): the first request with a key makes the change and
 * stores its response in the same commit. Any later one gets that response. A request that fails stores nothing.
 */
export class IdempotentWrite {
  readonly #key: Key<FirstResponse>
  readonly #hashes: Pick<FirstResponse, 'token_hash' | 'key_hash'>
  readonly #running: RunningKeys
  #isRunning = false
  #asked!: string

  private constructor(hashes: Pick<FirstResponse, 'token_hash' | 'key_hash'>, running: RunningKeys) {
    this.#hashes = hashes
    this.#running = running
    this.#key = keys.firstResponse(hashes.token_hash, hashes.key_hash)
  }

  /**
   * Reads the header. A read ignores it.
   * @param principal whose key it is
   * @returns undefined if the request has no key, or an invalid one (see {@link requireValidKey})
   */
  static of(method: string, headers: Headers, principal: { readonly keyOwner: string }, running: RunningKeys): IdempotentWrite | undefined {
    const key = keyOf(method, headers)
    return typeof key !== 'string' ? undefined : new IdempotentWrite({ token_hash: principal.keyOwner, key_hash: sha256Hex(key) }, running)
  }

  /** The records that {@link find} and {@link remember} read. */
  reads(clock: Clock): readonly Key<unknown>[] {
    return [this.#key, keys.tombstone(tombstoneIdOf(clock()))]
  }

  /**
   * The first response to a request with this key.
   * @returns undefined if no response is stored: this request is the first one
   * @throws {ApiError} `idempotency_key_reused` if another request has the same key; `idempotency_key_in_use` if this process is
   *   handling a request with it. If another process is, one of the two commits fails, and is repeated here.
   */
  async find(tx: Transaction, asked: Asked, receive: (() => Promise<Upload>) | undefined): Promise<FirstResponse | undefined> {
    this.#asked = describe(asked)
    const first = await tx.get(this.#key)
    if (first === undefined) {
      this.#begin()
      return undefined
    }
    if (first.request_hash !== hashOf(this.#asked, await receive?.())) throw new ApiError('idempotency_key_reused')
    return withTexts(tx, first)
  }

  /**
   * Adds the response to the commit of the change. A long text of it is stored once for all responses of an hour: most requests, such as
   * the completion of a card, are much smaller than the response, which repeats what was there before.
   * @param upload the file of the request
   * @returns the bytes that are stored for it
   */
  async remember(
    tx: Transaction,
    clock: Clock,
    response: Pick<FirstResponse, 'board_id' | 'status' | 'location' | 'revision' | 'data'>,
    upload: Upload | undefined,
  ): Promise<number> {
    const now = clock()
    const hour = timestamp(() => now).slice(0, 13)
    const id = tombstoneIdOf(now)
    if ((await tx.get(keys.tombstone(id))) === undefined) {
      const not_before = timestamp(() => now + HOUR + durations.firstResponse)
      tx.put(keys.tombstone(id), { id, kind: 'responses', target: hour, not_before })
    }
    const { data, places, texts } = separateTexts(response.data)
    const { token_hash, key_hash } = this.#hashes
    const { board_id, status, revision, location } = response
    // Written out: V8 takes microseconds to spread two objects into one.
    const memory = { token_hash, key_hash, request_hash: hashOf(this.#asked, upload), hour, board_id, status, data, revision, location }
    const record: FirstResponse = places.length === 0 ? memory : { ...memory, texts: places }
    tx.put(this.#key, record)
    return Buffer.byteLength(JSON.stringify(record)) + (await storeTexts(tx, hour, texts))
  }

  /** Ends the request. */
  end(): void {
    if (this.#isRunning) this.#running.delete(this.#key)
  }

  #begin(): void {
    if (this.#isRunning) return
    if (this.#running.has(this.#key)) throw new ApiError('idempotency_key_in_use', { headers: { 'retry-after': '1' } })
    this.#running.add(this.#key)
    this.#isRunning = true
  }
}

/**
 * Stores the texts that are not there yet.
 * @returns their bytes
 */
async function storeTexts(tx: Transaction, hour: string, texts: ReadonlyMap<string, string>): Promise<number> {
  // Stryker disable next-line ConditionalExpression: it only saves a read of nothing
  if (texts.size === 0) return 0
  const found = await tx.read([...texts.keys()].map((sha256) => keys.responseText(hour, sha256)))
  let bytes = 0
  for (const [i, [sha256, text]] of [...texts].entries()) {
    if (found[i] !== undefined) continue
    tx.put(keys.responseText(hour, sha256), { hour, sha256, text })
    bytes += Buffer.byteLength(text)
  }
  return bytes
}

/** A response with its long texts. */
async function withTexts(tx: Transaction, first: FirstResponse): Promise<FirstResponse> {
  const { hour, texts: places } = first
  if (places === undefined) return first
  const found: readonly (ResponseText | undefined)[] = await tx.read(places.map(({ sha256 }) => keys.responseText(hour, sha256)))
  return {
    ...first,
    data: restoreTexts(
      first.data,
      places,
      found.map((one) => one?.text),
    ),
  }
}

/** All responses of an hour have one tombstone. */
function tombstoneIdOf(now: number): string {
  return `tmb_${String(Math.floor(now / HOUR)).padStart(20, '0')}`
}

/** @throws {ApiError} `bad_request` if a write has an Idempotency-Key that is not valid */
export function requireValidKey(method: string, headers: Headers): void {
  if (keyOf(method, headers) === null) throw new ApiError('bad_request', { message: INVALID_KEY })
}

/** The key of a write: undefined if it has none, null if that is not valid. */
function keyOf(method: string, headers: Headers): string | null | undefined {
  const text = method === 'GET' || method === 'HEAD' ? null : headers.get('idempotency-key')
  if (text === null) return undefined
  const match = KEY.exec(text)
  return match?.[1] ?? match?.[2] ?? null
}

function describe({ method, path, query, body, headers }: Asked): string {
  const claim = headers.get('if-claim')
  const stated = [method, path, query, body, tagsIn(headers.get('if-match')), tagsIn(headers.get('if-none-match'))]
  return JSON.stringify(claim === null ? stated : [...stated, claim])
}

/** Conditions that are decided alike belong to the same request. */
function tagsIn(condition: string | null): string | null {
  return condition === null ? null : comparedTags(condition)
}

/** @param upload its bytes and fields are a part of the request; the ids that they got are not */
function hashOf(asked: string, upload: Upload | undefined): string {
  if (upload === undefined) return sha256(asked)
  const { name, contentType, sha256: bytes, visibility } = upload
  return sha256(JSON.stringify([asked, name, contentType, bytes, visibility]))
}

// Not `sha256Hex`, which is for secrets: what decides about access must not be seen to flow into their comparisons.
function sha256(text: string): string {
  return hash('sha256', text)
}

import { afterAll } from 'vitest'
import { createPasswords } from '../../src/auth/accounts/passwords.ts'
import { createApp, type App, type AppOptions } from '../../src/app.ts'
import { loadPolicy } from '../../src/authz/shipped-policy.ts'
import { requestsOfOperators } from '../../src/http/member-requests.ts'
import type { DecisionRecord } from '../../src/http/decision-record.ts'
import type { Services } from '../../src/http/services.ts'
import { readBoardFile as readFile, type BoardFile } from '../../src/importers/board-reading.ts'
import type { Engine } from '../../src/policy/engine.ts'
import type { FileRecord } from '../../src/model/file.ts'
import { systemRandom } from '../../src/model/ids.ts'
import type { Membership, Role } from '../../src/model/workspace.ts'
import { addMember } from '../../src/admin/memberships.ts'
import type { AdminDeps } from '../../src/admin/deps.ts'
import { transact } from '../../src/store/transact.ts'
import { addUser } from '../../src/admin/users.ts'
import { createWorkspace } from '../../src/admin/workspaces.ts'
import { SERVICE } from '../../src/store/derivation.ts'
import { GLOBAL, keys, type Key } from '../../src/store/keys.ts'
import type { Transaction } from '../../src/store/transaction.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { SecretKeys, type SecretDeps } from '../../src/auth/secret-keys.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import type { send } from '../../src/webhooks/send.ts'
import { Targets } from '../../src/webhooks/targets.ts'
import { checksumOf } from './checksum.ts'
import { CountingStore } from './counting-store.ts'
import { FORM_TYPE, isFormText } from './form-text.ts'
import { localRequest, readText } from './local-request.ts'
import { quiet } from './log.ts'
import { memory, type Driver, type OpenDriver } from './memory.ts'
import { checkResponse } from './response-check.ts'

/** A response with its body. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** the body as JSON; {} if it has none */
  readonly body: any
}

/** A user in one workspace, with a token for each scope. */
export interface Person {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  readonly none: string
  readonly read: string
  readonly write: string
  readonly admin: string
}

/** The options of a service under test. */
export type ServiceOptions = Omit<Partial<AppOptions>, 'store' | 'blobs' | 'clock' | 'random' | 'sinks'>

/** The cheapest parameters of argon2id, for tests that are not about its strength. */
export const cheapPasswords = createPasswords({ memoryCost: 8, timeCost: 1, parallelism: 1 })

/** The shipped policy, loaded once: an engine is immutable, and reading the tables takes longer than most tests. */
export const engine: Engine = loadPolicy()

/** Webhooks of tests: nothing is looked up, and each receiver takes what is not sent to it. */
const webhookTargets = Targets.from(undefined, { lookup: async () => [{ address: '192.88.98.1', family: 4 }] })
const sendDelivery: typeof send = async () => ({ status: 204 })

// Node.js 20 cannot run TypeScript in a thread.
const readBoardFile = async (file: BoardFile) => readFile(file)

/** A service on one store, with a clock that tests set. */
export class Service {
  readonly app: App
  readonly store: CountingStore
  readonly deps: SecretDeps
  readonly records: DecisionRecord[] = []
  now = Date.parse('2026-11-20T12:00:00.000Z')
  /** false while a test stores what the API would refuse, so that responses exceed the limits of the OpenAPI document */
  isWithinLimits = true

  /** the storage, for another service on it */
  readonly place: OpenDriver
  readonly #ownOperations: boolean

  private constructor(place: OpenDriver, options: ServiceOptions) {
    const store = new CountingStore(place.store)
    this.place = place
    this.#ownOperations = options.operations !== undefined
    this.store = store
    const clock = () => this.now
    const { secretKeys = SecretKeys.random(), batch } = options
    this.deps = { store, clock, random: systemRandom, batch, secretKeys }
    const sinks = [(record: DecisionRecord) => void this.records.push(record)]
    // Suites send more requests with one token than a client does, and compare whole responses.
    const defaults = {
      log: quiet,
      engine,
      passwords: cheapPasswords,
      rateLimits: undefined,
      secretKeys,
      webhookTargets,
      sendDelivery,
      deliveryPause: 0,
      readBoardFile,
    }
    this.app = createApp({ ...defaults, ...options, store, blobs: place.blobs, clock, sinks })
  }

  static async start(driver: Driver, options: ServiceOptions = {}): Promise<Service> {
    return new Service(await driver.open(), options)
  }

  /** Starts a service that stops after the suite that awaits it: a file, or an asynchronous `describe`. */
  static async forSuite(driver: Driver = memory, options: ServiceOptions = {}): Promise<Service> {
    const service = await Service.start(driver, options)
    afterAll(() => service.stop())
    return service
  }

  async stop(): Promise<void> {
    await this.app.services.usage.settled()
    await this.store.close()
    await this.place.blobs.close()
  }

  /** Makes the service forget which tokens it has seen, so that the next request reads its token before its target. */
  forgetTokens({ always = false } = {}): void {
    const nothing: Services['seenTokens'] = { get: () => undefined, set: () => undefined }
    Object.assign(this.app.services, { seenTokens: always ? nothing : new Map() })
  }

  /** A secret as it is stored in a record. */
  sealed(text: string, owner: string): string {
    const { secretKeys } = this.deps
    return secretKeys.seal(text, owner, secretKeys.ids[0]!)
  }

  get adminDeps(): AdminDeps {
    return { ...this.deps, blobs: this.place.blobs, ...requestsOfOperators(() => this.app.services) }
  }
  recordKeys(partition: string): Promise<string[]> {
    return this.place.recordKeys(partition)
  }
  /** The keys of all records of a workspace except the change feeds and the notices, which follow from writes. */
  async keysBesidesFeeds(workspaceId: string): Promise<string[]> {
    const all = await this.recordKeys(workspaceId)
    const values = (await this.write(workspaceId, (tx) => tx.read(all))) as ({ kind?: string } | undefined)[]
    return all.filter((key, i) => !/^(change|notice):/.test(key) && !['changes', 'notices'].includes(values[i]?.kind ?? ''))
  }
  /** The ids of all stored blobs. */
  async blobKeys(): Promise<string[]> {
    return [...new Set((await this.place.blobKeys()).map((key) => key.split(':')[0]!))].toSorted()
  }
  /** The ids of the blobs that the files of a workspace refer to. */
  async blobKeysInUse(workspaceId: string): Promise<string[]> {
    const files = (await this.recordKeys(workspaceId)).filter((key) => key.startsWith('file:'))
    const found = await this.write(workspaceId, (tx) => tx.read(files as Key<FileRecord>[]))
    return found
      .filter((file) => file!.size > 0)
      .map((file) => file!.blob_id)
      .toSorted()
  }

  async workspace(name = 'Acme'): Promise<string> {
    return (await createWorkspace(this.deps, name)).id
  }

  async person(workspaceId: string, role: Role = 'member', name = `A ${role}`): Promise<Person> {
    const user = await addUser(this.deps, { display_name: name })
    await addMember(this.deps, workspaceId, user, role)
    const tokens = { none: '', read: '', write: '', admin: '' }
    for (const scope of ['none', 'read', 'write', 'admin'] as const)
      tokens[scope] = await this.token(workspaceId, user.id, scope === 'none' ? ['other:read'] : [`kanban:${scope}`])
    return { id: user.id, workspaceId, name, ...tokens }
  }

  async token(workspaceId: string, userId: string, scopes: readonly string[], lifetime?: number): Promise<string> {
    const request = { userId, name: 'test', scopes, ...(lifetime === undefined ? {} : { lifetime }) }
    return (await this.write(workspaceId, (tx) => issueToken(tx, request, this.deps))).plaintext
  }

  /** A token with a prefix from before a rename of the service. */
  async legacyToken({ workspaceId, id }: Person, prefix: string): Promise<string> {
    const plaintext = await this.token(workspaceId, id, ['kanban:read'])
    const body = `${prefix}${plaintext.slice(plaintext.indexOf('_pat_'), -6)}`
    const legacy = body + checksumOf(body)
    await this.write(workspaceId, async (tx) => {
      const record = (await tx.get(keys.token(sha256Hex(plaintext))))!
      const key = keys.token(sha256Hex(legacy))
      await tx.get(key)
      tx.put(key, { ...record, hash: sha256Hex(legacy) })
    })
    return legacy
  }

  /** Writes to the store directly, for states that the API does not allow. */
  write<T>(workspaceId: string, work: (tx: Transaction) => T | Promise<T>): Promise<T> {
    return transact(this.store, workspaceId, this.deps.random, (tx) => {
      tx.logChanges(SERVICE, this.deps.clock)
      return work(tx)
    })
  }

  /** Ends a membership without revoking its tokens, so that both can be tested separately. */
  async leaveOnly(workspaceId: string, userId: string): Promise<void> {
    await this.write(workspaceId, async (tx) => {
      const membership = (await tx.get(keys.membership(userId))) as Membership
      tx.put(keys.membership(userId), { ...membership, ended_at: '2026-01-01T00:00:00.000Z' })
    })
  }

  /** Makes a person whose membership has ended a member again. Their tokens remain as they are. */
  async rejoin({ workspaceId, id }: Person, role: Role = 'member'): Promise<void> {
    const user = (await this.write(GLOBAL, (tx) => tx.get(keys.user(id))))!
    await addMember(this.deps, workspaceId, user, role)
  }

  /** Uploads a file as a form. */
  async upload(token: string, path: string, form: FormData, headers: Record<string, string> = {}): Promise<Reply> {
    return this.#answer(
      new Request(`http://localhost/v1${path}`, { method: 'POST', headers: { authorization: `Bearer ${token}`, ...headers }, body: form }),
    )
  }

  /** Sends a request below /v1. A body that is not a string is sent as JSON. */
  async send(token: string | null, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const all = new Headers(headers)
    if (token !== null && !all.has('authorization')) all.set('authorization', `Bearer ${token}`)
    if (body !== undefined && !all.has('content-type')) all.set('content-type', isFormText(body) ? FORM_TYPE : 'application/json')
    const content = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    const json = typeof body === 'string' ? undefined : body
    return this.#answer(localRequest(`http://localhost/v1${path}`, { method, headers: all, ...content }), json)
  }

  /** Sends a request below /v1, and returns the response unread and unchecked. */
  fetch(token: string, method: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.app.fetch(new Request(`http://localhost/v1${path}`, { method, headers: { authorization: `Bearer ${token}`, ...headers } }))
  }

  /** @param requestBody the JSON of the request, if it has any */
  async #answer(request: Request, requestBody?: unknown): Promise<Reply> {
    const response = await this.app.fetch(request)
    const { status, headers } = response
    const text = await textOf(response)
    const json = headers.get('content-type')?.startsWith('application/json') === true && text !== ''
    const body = json ? JSON.parse(text) : undefined
    // Only rows of the real table can be checked; some suites bring their own.
    if (!this.#ownOperations) {
      const { pathname, search } = new URL(request.url)
      const exchange = { headers, requestBody, isWithinLimits: this.isWithinLimits }
      checkResponse(request.method, pathname.slice('/v1'.length) + search, status, body, exchange)
    }
    return { status, headers, text, body: body ?? parse(text) }
  }
}

/** The body of a response. Of a stream of events, what it begins with: it has no end. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || response.body === null) return readText(response)
  const reader = response.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return Buffer.from(value as Uint8Array).toString()
}

function parse(text: string): unknown {
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** A response as text without its request id and date. Two responses that a client cannot tell apart are equal. */
export function bytes({ status, headers, text }: Reply): string {
  const id = headers.get('x-request-id') ?? 'no id'
  const shown = [...headers].filter(([name]) => name !== 'date').map(([name, value]) => `${name}: ${value}`)
  return [String(status), ...shown, text].join('\n').replaceAll(id, '<id>')
}

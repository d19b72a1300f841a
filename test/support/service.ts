import { createPasswords } from '../../src/auth/accounts/passwords.ts'
import { createApp, type App, type AppOptions } from '../../src/app.ts'
import type { DecisionRecord } from '../../src/http/services.ts'
import type { FileRecord } from '../../src/model/file.ts'
import { systemRandom } from '../../src/model/ids.ts'
import type { Membership, Role } from '../../src/model/workspace.ts'
import { addMember } from '../../src/admin/memberships.ts'
import type { AdminDeps, Deps } from '../../src/admin/deps.ts'
import { addUser } from '../../src/admin/users.ts'
import { createWorkspace } from '../../src/admin/workspaces.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { transact } from '../../src/store/transact.ts'
import type { Transaction } from '../../src/store/transaction.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { hashToken } from '../../src/auth/tokens/secret.ts'
import { checksumOf } from './checksum.ts'
import { CountingStore } from './counting-store.ts'
import type { Driver, OpenDriver } from './drivers.ts'
import { quiet } from './log.ts'

/** An answer, read whole. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** the body as JSON; {} where there is none */
  readonly body: any
}

/** A person in one workspace, with tokens by scope. */
export interface Person {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  readonly none: string
  readonly read: string
  readonly write: string
  readonly admin: string
}

/** What a service under test is started with. */
export type ServiceOptions = Omit<Partial<AppOptions>, 'store' | 'blobs' | 'clock' | 'random' | 'observe'>

/** As cheap as argon2id can be: what passwords are worth is not what is tested over and over. */
export const cheapPasswords = createPasswords({ memoryCost: 8, timeCost: 1, parallelism: 1 })

/** A service over one store, with a clock that stands until it is set. */
export class Service {
  readonly app: App
  readonly store: CountingStore
  readonly deps: Deps
  readonly records: DecisionRecord[] = []
  now = Date.parse('2026-11-20T12:00:00.000Z')

  readonly #place: OpenDriver

  private constructor(place: OpenDriver, options: ServiceOptions) {
    const store = new CountingStore(place.store)
    this.#place = place
    this.store = store
    const clock = () => this.now
    this.deps = { store, clock, random: systemRandom }
    const observe = (trace: DecisionRecord) => void this.records.push(trace)
    this.app = createApp({ log: quiet, passwords: cheapPasswords, ...options, store, blobs: place.blobs, clock, observe })
  }

  static async start(driver: Driver, options: ServiceOptions = {}): Promise<Service> {
    return new Service(await driver.open(), options)
  }

  async stop(): Promise<void> {
    await this.app.services.usage.settled()
    await this.store.close()
    await this.#place.blobs.close()
  }

  get adminDeps(): AdminDeps {
    return { ...this.deps, blobs: this.#place.blobs }
  }
  recordKeys(partition: string): Promise<string[]> {
    return this.#place.recordKeys(partition)
  }
  /** The ids of all bytes that are kept. */
  async blobKeys(): Promise<string[]> {
    return [...new Set((await this.#place.blobKeys()).map((key) => key.split(':')[0]!))].toSorted()
  }
  /** The ids of all bytes that files of a workspace need. */
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
    return (await this.write(workspaceId, (tx) => issueToken(tx, request, this.deps.clock, this.deps.random))).plaintext
  }

  /** A token as it was issued before the service got its present name. */
  async legacyToken({ workspaceId, id }: Person, prefix: string): Promise<string> {
    const plaintext = await this.token(workspaceId, id, ['kanban:read'])
    const body = `${prefix}${plaintext.slice(plaintext.indexOf('_pat_'), -6)}`
    const legacy = body + checksumOf(body)
    await this.write(workspaceId, async (tx) => {
      const record = (await tx.get(keys.token(hashToken(plaintext))))!
      const key = keys.token(hashToken(legacy))
      await tx.get(key)
      tx.put(key, { ...record, hash: hashToken(legacy) })
    })
    return legacy
  }

  /** Writes behind the API's back: for states that it would not let come about. */
  write<T>(workspaceId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return transact(this.store, workspaceId, this.deps.random, work)
  }

  /** Ends a membership and nothing with it: so what a token is worth is seen apart from its revocation. */
  async leaveOnly(workspaceId: string, userId: string): Promise<void> {
    await this.write(workspaceId, async (tx) => {
      const membership = (await tx.get(keys.membership(userId))) as Membership
      tx.put(keys.membership(userId), { ...membership, ended_at: '2026-01-01T00:00:00.000Z' })
    })
  }

  /** Sends a form, as a file is uploaded. */
  async upload(token: string, path: string, form: FormData, headers: Record<string, string> = {}): Promise<Reply> {
    return this.#answer(
      new Request(`http://localhost/v1${path}`, { method: 'POST', headers: { authorization: `Bearer ${token}`, ...headers }, body: form }),
    )
  }

  /** Sends a request below /v1. A body that is no string is sent as JSON. */
  async send(token: string | null, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const all = new Headers(headers)
    if (token !== null && !all.has('authorization')) all.set('authorization', `Bearer ${token}`)
    if (body !== undefined && !all.has('content-type')) all.set('content-type', 'application/json')
    const content = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    return this.#answer(new Request(`http://localhost/v1${path}`, { method, headers: all, ...content }))
  }

  /** Sends a request below /v1 and gives the answer as it is. */
  fetch(token: string, method: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.app.fetch(new Request(`http://localhost/v1${path}`, { method, headers: { authorization: `Bearer ${token}`, ...headers } }))
  }

  async #answer(request: Request): Promise<Reply> {
    const response = await this.app.fetch(request)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: text === '' ? {} : parse(text) }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** What two answers have in common when nothing tells them apart: all but the request's own id. */
export function bytes({ status, headers, text }: Reply): string {
  const id = headers.get('x-request-id') ?? 'no id'
  const shown = [...headers].filter(([name]) => name !== 'date').map(([name, value]) => `${name}: ${value}`)
  return [String(status), ...shown, text].join('\n').replaceAll(id, '<id>')
}

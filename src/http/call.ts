import type { ServerRequest } from 'srvx'
import type { Awaitable } from '../model/awaitable.ts'
import type { ApiError } from '../model/errors.ts'
import type { Upload } from '../resources/operation.ts'
import type { CommitLease } from '../store/commit-leases.ts'
import type { PresentedToken } from './decision-record.ts'
import type { Caller } from '../authz/context.ts'
import { clientSignal, whenAnswered } from './answered.ts'
import { clientAddress, networkOf } from './client-address.ts'
import { IdempotentWrite } from './idempotency.ts'
import type { Input } from './input.ts'
import type { Principal } from './principal.ts'
import type { Route } from './routes.ts'
import { Cost } from '../governor/cost.ts'
import { Quota, type ExchangePart } from '../governor/quotas.ts'
import { Turn, type Worker } from '../governor/turns.ts'
import type { Services } from './services.ts'

/** What a call asks for. */
export interface CallRequest {
  readonly request: ServerRequest
  readonly requestId: string
  readonly method: string
  /** below /v1 */
  readonly path: string
  /** with its question mark, or empty */
  readonly search: string
  /** of an exchange, which was counted before; undefined: it is a request of its own */
  readonly part?: ExchangePart | undefined
  /** the turn of the work that it is a part of; undefined: it has one of its own */
  readonly lent?: Turn | undefined
}

/** Where calls come from: the API below /v1, the decision point, the pages of the web app, or an operator who acts as a member. */
export interface Surface {
  /** what a decision record has of it; undefined: the API, whose calls the rate limits count */
  readonly name: 'web_app' | 'operator' | 'webhook' | undefined
  /** @throws {ApiError} `unauthorized` */
  identify(services: Services, request: CallRequest): Principal
  /** finds the row of a call; undefined: by the operations table */
  readonly route?: (method: string, path: string) => Route | ApiError
  /** the id of the resource that calls are made for, in addition to what they name */
  readonly related?: string
  /** whether the calls count for the audit trail and the metrics */
  readonly isCounted: boolean
}

const NOT_READ = Symbol('not read')

/** A request, with everything that all attempts at it share. */
export class Call implements CallRequest {
  readonly request: ServerRequest
  readonly requestId: string
  readonly method: string
  readonly path: string
  readonly search: string
  readonly lent: Turn | undefined
  /** when it arrived, by the monotonic clock of this process in milliseconds */
  readonly arrivedAt = performance.now()
  readonly surface: Surface
  readonly quota: Quota
  readonly cost = new Cost()
  /** since the first attempt has read it */
  input: Awaitable<Input> | undefined
  readonly #services: Services
  #principal: Principal | undefined
  #key: IdempotentWrite | undefined | typeof NOT_READ = NOT_READ
  #upload: Promise<Upload> | undefined
  #done: Promise<unknown> | undefined
  #signal: AbortSignal | undefined
  #turn: Turn | undefined

  constructor(services: Services, { request, requestId, method, path, search, part, lent }: CallRequest, surface: Surface) {
    this.request = request
    this.requestId = requestId
    this.method = method
    this.path = path
    this.search = search
    this.lent = lent
    this.surface = surface
    this.#services = services
    this.quota = new Quota(surface.name === undefined ? services.rateLimits : undefined, this, part)
  }

  get headers(): Headers {
    return this.request.headers
  }

  /** The address of its client, if that is known. */
  get address(): string | null {
    return clientAddress(this.request, this.#services.proxies) ?? null
  }

  /** The network of its client, which counts as one address. */
  get network(): string {
    return networkOf(this.address)
  }

  /** Is aborted when its client leaves. */
  get signal(): AbortSignal {
    return (this.#signal ??= clientSignal(this.request))
  }

  /**
   * Its share of the event loop.
   * @param lease that its present attempt has
   */
  turn({ workspaceId, token, userId }: Caller, lease?: CommitLease): Turn {
    this.#turn ??= this.lent ?? new Turn(this.#services.turns, new CallWorker(this, workspaceId, token?.id ?? userId))
    this.#turn.hasLease = lease !== undefined
    return this.#turn
  }

  /** Its work is done, or waits for a change. */
  leaveTurn(): void {
    if (this.lent === undefined) this.#turn?.leave()
  }

  /**
   * Who makes it.
   * @throws {ApiError} `unauthorized` if that cannot be read from it
   */
  get principal(): Principal {
    return (this.#principal ??= this.surface.identify(this.#services, this))
  }

  /** The token that it presents, if there is such a token, also if it is not accepted. */
  get presented(): PresentedToken | undefined {
    const token = this.#principal?.presented
    return token && { partition: this.#principal!.partition, token }
  }

  /** The write with an Idempotency-Key that it is; undefined without one, also if it is not valid. */
  get key(): IdempotentWrite | undefined {
    if (this.#key === NOT_READ) this.#key = IdempotentWrite.of(this.method, this.headers, this.principal, this.#services.runningKeys)
    return this.#key
  }

  /** What the first attempt that comes so far does for all of them. */
  once<T>(work: () => Promise<T>): Promise<T> {
    return (this.#done ??= work()) as Promise<T>
  }

  /** The uploaded file, which the first attempt that needs it receives. */
  upload(receive: () => Promise<Upload>): Promise<Upload> {
    return (this.#upload ??= receive())
  }

  /** The uploaded file; undefined if none was received. */
  get uploaded(): Promise<Upload> | undefined {
    return this.#upload
  }

  /** Removes the bytes of an upload that no file needs. Garbage collection finds what remains. */
  discardUpload(): Promise<void> | undefined {
    return this.#upload?.then(({ blobId }) => this.#services.blobs.remove(blobId)).catch(() => undefined)
  }

  /** Whether its outcome, if it is unknown, can be found by repeating it. */
  get isRepeatable(): boolean {
    return this.#key instanceof IdempotentWrite
  }

  /** Ends it: its response is made. */
  end(): void {
    if (this.#key instanceof IdempotentWrite) this.#key.end()
    this.leaveTurn()
    const { leave } = this.quota
    if (leave !== undefined) whenAnswered(this.request, leave)
  }
}

/**
 * Whose work a call is. It is a class: an object literal with a getter has a hidden class of its own, which keeps the whole call in memory
 * until the next full garbage collection.
 */
class CallWorker implements Worker {
  readonly workspaceId: string
  readonly id: string
  readonly #call: Call

  constructor(call: Call, workspaceId: string, id: string) {
    this.workspaceId = workspaceId
    this.id = id
    this.#call = call
  }

  /** It is made when someone waits: few calls do. */
  get signal(): AbortSignal {
    return this.#call.signal
  }
}

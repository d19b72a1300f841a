/** What every method accepts beside its input. */
export interface RequestOptions {
  /** ends the request and its retries */
  readonly signal?: AbortSignal
  /** milliseconds within which each attempt must be answered; default: the client's */
  readonly timeout?: number
  /** further headers, such as `Range` of a download */
  readonly headers?: Readonly<Record<string, string>>
}

/** What a read accepts beside its input. */
export interface ReadOptions extends RequestOptions {
  /** the ETag of a copy. If it is current, the result has the status 304 and no data. */
  readonly ifNoneMatch?: string
}

/** What a write accepts beside its input. */
export interface WriteOptions extends RequestOptions {
  /**
   * Requests with the same key make one change. Without it, each call gets a new key, so that the client can repeat it.
   * `false`: no key; a write whose outcome is unknown is then not repeated.
   */
  readonly idempotencyKey?: string | false
  /** the ETag that the resource must have; otherwise `precondition_failed` */
  readonly ifMatch?: string
  /**
   * the `epoch` of a claim: the write to the card, or to anything on it, succeeds only while the token of the client holds it; otherwise
   * `precondition_failed`
   */
  readonly ifClaim?: number
  /** checks everything and answers as if the change were made, and changes nothing */
  readonly dryRun?: boolean
}

/** What the service has answered. */
export interface Result<Data> {
  readonly status: 200 | 201 | 206
  readonly data: Data
  /** the ETag of the resource, if the response has one */
  readonly etag: string | undefined
  /** the id of the request in the log of the service */
  readonly requestId: string
  /** whether this is the response to an earlier request with the same idempotency key */
  readonly replayed: boolean
  readonly headers: Headers
}

/** The copy of the caller is current (304). */
export interface NotModified extends Omit<Result<undefined>, 'status'> {
  readonly status: 304
}

/** One page of a list. */
export interface Page<Item> extends Result<Item[]> {
  /** the `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** The input may be left out if none of its members is required. */
type Arguments<Input, Options> = {} extends Input ? [input?: Input, options?: Options] : [input: Input, options?: Options]

/** What a method answers: a caller who states `ifNoneMatch` may get 304. */
type Answer<Data, Options> = Promise<Options extends { readonly ifNoneMatch: string } ? Result<Data> | NotModified : Result<Data>>

/** Reads one thing. */
export type ReadMethod<Input, Data> = <const Options extends ReadOptions = {}>(...args: Arguments<Input, Options>) => Answer<Data, Options>

/** Makes a change. */
export type WriteMethod<Input, Data> = (...args: Arguments<Input, WriteOptions>) => Promise<Result<Data>>

/** Reads one page of a list. */
export type PageMethod<Input, Item> = <const Options extends ReadOptions = {}>(
  ...args: Arguments<Input, Options>
) => Promise<Options extends { readonly ifNoneMatch: string } ? Page<Item> | NotModified : Page<Item>>

/** Reads one page of a list, or with `all` the items of all pages, one after the other. */
export type ListMethod<Input, Item> = PageMethod<Input, Item> & {
  all(...args: Arguments<Input, RequestOptions>): AsyncGenerator<Item, void, undefined>
}

/** Reads bytes: `data` is the response, whose body is not read yet. */
export type BytesMethod<Input> = ReadMethod<Input, Response>

/** A write of a batch: an operation with the parameters of its path, and its body. */
export type BatchWrite<Id extends string, Params, Body> = {
  readonly operation: Id
  /** as `ifMatch` of the operation */
  readonly if_match?: string
  /** as `ifClaim` of the operation */
  readonly if_claim?: number
} & ({} extends Params ? { readonly params?: Params } : { readonly params: Params }) &
  ({} extends Body ? { readonly body?: Body } : { readonly body: Body })

/** What a write of a batch answers. */
export interface BatchAnswer<Id extends string, Data> {
  readonly operation: Id
  /** the resource after this write, without the changes of later ones */
  readonly data: Data
  /** the ETag that it answers; null if it has none, or if a later write has changed or deleted the resource */
  readonly etag: string | null
}

/** A row of the operations table, as the client needs it. */
export interface OperationRow {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** below /v1, with `{name}` for each parameter */
  readonly path: string
  /** the parameters of the query */
  readonly query: readonly string[]
  /** the members of the body; undefined if there is none */
  readonly body?: readonly string[]
  /** what the response contains */
  readonly result: 'item' | 'list' | 'bytes'
}

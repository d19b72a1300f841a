import type { Caller } from '../authz/context.ts'
import type { StreamShare } from '../governor/stream-share.ts'
import type { FirstResponse } from '../model/idempotency.ts'
import type { FileRecord } from '../model/file.ts'
import type { Operation } from '../resources/operation.ts'
import type { AwaitedEntry, StreamedResult } from '../resources/result.ts'
import type { Input } from './input.ts'

/** What every outcome of an operation has. */
interface OfOperation {
  readonly operation: Operation
  readonly caller: Caller
}

/** The operation was performed, and its commit made. */
export interface Done extends OfOperation {
  readonly kind: 'done'
  readonly status: 200 | 201
  readonly data: unknown
  /** of a list: the cursor of the next page, or null on the last one */
  readonly nextCursor: string | null | undefined
  /** the members that the response has; undefined: all */
  readonly fields: Input['fields']
  /** the revision of the resource that the response is about: its ETag */
  readonly revision: string | undefined
  /** of a created resource: its path below /v1 */
  readonly location: string | undefined
}

/** The response is the file. */
export interface Download extends OfOperation {
  readonly kind: 'download'
  readonly file: FileRecord
}

/** The write would be allowed and done. Nothing was changed. */
export interface DryRun extends OfOperation {
  readonly kind: 'dry_run'
  readonly status: 200 | 201
  readonly data: unknown
}

/** The write was made before, by a request with the same Idempotency-Key. */
export interface Replayed extends OfOperation {
  readonly kind: 'replayed'
  readonly first: FirstResponse
}

/** The operation has found nothing, and its client waits for something. */
export interface Wait extends OfOperation {
  readonly kind: 'wait'
  readonly awaited: AwaitedEntry
  /** the outcome when the time is over */
  readonly otherwise: Done
}

/** A stream of events begins, or goes on. */
export interface Events extends OfOperation {
  readonly kind: 'events'
  readonly found: StreamedResult
}

/** How an attempt ends, if it is not refused. */
export type Outcome = Done | Download | DryRun | Replayed | Wait | Events

/** How a call ends, if it is not refused. A stream goes on: each further read is decided anew. */
export type Answer =
  | Exclude<Outcome, Wait | Events>
  | (Events & { readonly next: (position: string) => Promise<Events>; readonly share: StreamShare })

import type { FileRecord } from '../model/file.ts'
import type { Index } from '../store/indexes.ts'
import type { Key } from '../store/keys.ts'

/** The result of an operation. A list is read-only. */
export interface OperationResult<Data = unknown> {
  readonly data: Data extends readonly (infer Item)[] ? readonly Item[] : Data
  /** of a list: the cursor of the next page, or null on the last one */
  readonly nextCursor?: string | null
  /** the status, if it differs from the operation's: nothing was created */
  readonly status?: 200
  /** what was done with the claim of a card, for the metrics */
  readonly claimed?: ClaimEvent
  /** what was done with the work on a card, for the metrics */
  readonly work?: readonly WorkEvent[]
  /** of a created resource: its path below /v1 */
  readonly location?: string
  /** of a created resource: the record whose revision is its ETag; null: the response has no ETag */
  readonly entity?: Key<unknown> | null
  /** what a repetition with the same Idempotency-Key gets instead of `data`: what is shown once is not stored */
  readonly remembered?: unknown
  /** of a long poll that has found nothing: what it waits for */
  readonly awaited?: AwaitedEntry
  /** the response is a stream of events, instead of `data` */
  readonly stream?: StreamedResult
  /** the file whose bytes are the response body, instead of `data` */
  readonly download?: FileRecord
}

/** What a stream of events has found. It reads again when a commit appends to the index. */
export interface StreamedResult {
  readonly items: readonly { readonly id: string; readonly data: unknown }[]
  /** what the member `after` of the query is in the next read */
  readonly position: string
  readonly index: Index<unknown>
}

/** What was done with a claim. `taken_over`: from a holder whose claim had run out. */
export type ClaimEvent = 'taken' | 'taken_over' | 'renewed'

/** What was done with the work on a card. `seconds`: how long the question has waited. */
export type WorkEvent =
  | { readonly event: 'failed' | 'stuck' | 'asked' | 'retried' }
  | { readonly event: 'answered'; readonly seconds: number }

/** What a client waits for: the next entry of an index, for a time. */
export interface AwaitedEntry {
  readonly index: Index<unknown>
  readonly seconds: number
  /** what the member `after` of the query is in the next read; undefined: what it was */
  readonly position?: string
  /** when something may be there without an entry, in milliseconds since 1970; undefined: at no time */
  readonly until?: number | undefined
}

import { z } from 'zod'
import type { AuthorizationContext, Caller } from '../authz/context.ts'
import { booleanParameter } from '../listing/pages.ts'
import type { Visibility } from '../model/board.ts'
import { documented, neighborField } from '../model/fields.ts'
import type { FileRecord } from '../model/file.ts'
import type { RandomSource } from '../model/ids.ts'
import type { Clock } from '../model/time.ts'
import type { Index } from '../store/indexes.ts'
import type { Key } from '../store/keys.ts'
import type { Read } from '../store/reads.ts'
import type { Transaction } from '../store/transaction.ts'
import type { Scan } from './scans.ts'

/** What an operation is called with: the caller, the input, and the unit of work. */
export interface OperationRequest<Query = unknown, Body = unknown> {
  readonly tx: Transaction
  readonly caller: Caller
  /** the parameters of the path, not validated yet */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  readonly clock: Clock
  readonly random: RandomSource
  /** the number of records that one commit of a cascade may change */
  readonly batch: number
  /** whether a definition of the policy holds in a context, for example in the state after a change */
  readonly holds: (definition: string, context: AuthorizationContext) => boolean
  /** waits until cards may be examined one by one */
  readonly beginScan: () => Promise<Scan>
  /** stores the bytes of an uploaded file, once for all attempts; undefined if the request has no file */
  readonly receive: (() => Promise<Upload>) | undefined
}

/** An uploaded file whose bytes are stored. */
export interface Upload {
  readonly blobId: string
  /** the tombstone of the bytes. The commit that makes them a file removes it. */
  readonly tombstoneId: string
  readonly name: string
  readonly contentType: string
  /** bytes */
  readonly size: number
  /** SHA-256 of the bytes, in hex */
  readonly sha256: string
  readonly visibility: Visibility
}

/** The part of a request that loading the target of its path needs. */
export type TargetRequest = Pick<OperationRequest, 'tx' | 'caller' | 'params'>

/** What a target is made of: records that facts are read from, or the workspace itself, of which there are no facts. */
export type TargetContext = AuthorizationContext | { readonly workspace: unknown }

/** What a target needs to know of the caller. */
export interface CallerTexts {
  readonly userId: string
  readonly tokenHash: string
}

/** The resource that a path names: what has to be read, and the context that is made from it. */
export interface Target<Context> {
  /**
   * What to read, in one snapshot.
   * @param at the index of the first of these references in the read
   * @param caller texts of the caller, or placeholders for them
   * @throws {ApiError} `not_found`
   */
  reads(params: OperationRequest['params'], at: number, caller: CallerTexts): readonly Read[]
  /** Makes the context from the records. @throws {ApiError} `not_found` */
  from(records: readonly unknown[]): Context
}

/** The result of an operation. A list is read-only. */
export interface OperationResult<Data = unknown> {
  readonly data: Data extends readonly (infer Item)[] ? readonly Item[] : Data
  /** of a list: the cursor of the next page, or null on the last one */
  readonly nextCursor?: string | null
  /** of a created resource: its path below /v1 */
  readonly location?: string
  /** of a created resource: the record whose revision is its ETag; null: the response has no ETag */
  readonly entity?: Key<unknown> | null
  /** the file whose bytes are the response body, instead of `data` */
  readonly download?: FileRecord
}

/** An item that a filtered list may return, with the context that decides whether the caller can see it. */
export interface Candidate<Item = unknown> {
  /** the position from which the list continues after it */
  readonly position: string
  /** undefined if the record was deleted and its index entry not collected yet */
  readonly item: { readonly context: AuthorizationContext; readonly data: Item } | undefined
}

/**
 * A request that works, for the documentation and the tests. `{name}` in a text stands for the parameter of that name,
 * as in the path.
 */
export interface RequestExample {
  readonly body?: unknown
}

interface OperationRow<Query, Body, Data> {
  /** `resource.verb` */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** below /v1, with `{name}` for each parameter */
  readonly path: string
  /** one sentence for the documentation */
  readonly summary: string
  /** the permission: the action and the subject that both tables are asked about */
  readonly needs: readonly [action: string, subject: string]
  /** the same as one text, `action Subject`, by which the policy knows it */
  readonly permission: string
  /** the row of the permission table that decides it; compared with the table at start */
  readonly row: string
  readonly query: z.ZodType<Query>
  readonly body: z.ZodType<Body> | undefined
  /** validates the body against the path */
  readonly bodyRule?: (params: Readonly<Record<string, string>>, body: Body) => { path: string; message: string } | undefined
  /** the shape of `data` in the response */
  readonly data: z.ZodType<Data>
  /** 201 for the creation of a resource that has a path */
  readonly status: 200 | 201
  /** the fields that a body changes, if the permission is decided by field */
  readonly fields?: (body: Body) => readonly string[]
  /** the record whose revision is the ETag of the path's target */
  readonly entity?: (params: Readonly<Record<string, string>>) => Key<unknown>
  /** whether the body can also be a file (multipart/form-data) */
  readonly takesUpload: boolean
  /** the message of each 409 that the operation can answer */
  readonly conflicts: readonly string[]
  readonly example: RequestExample
}

/** An operation that is decided once, on the resources that its path and body name. */
interface SingleOperation<Query, Body, Data, Context extends TargetContext, Related extends object> extends OperationRow<
  Query,
  Body,
  Data
> {
  readonly kind: 'single'
  /**
   * The resource that the path names, with the records up to its board. The pipeline loads it in one snapshot, and
   * answers 404 if the caller has no access to that board, before `related` reads anything.
   */
  readonly target: Target<Context>
  /** the indexes that `run` counts, if the path names them: they are counted together with the read of the target */
  readonly counts?: (params: OperationRequest['params']) => readonly Index<unknown>[]
  /**
   * Loads what else the request names: in its body, or in a second parameter of the path.
   * @throws {ApiError} `not_found`
   */
  readonly related?: (request: OperationRequest<Query, Body>, target: NoInfer<Context>) => Promise<Related>
  /**
   * Performs the operation. It is called after the permission table has allowed it.
   * @throws {ApiError} `conflict`
   */
  run(request: OperationRequest<Query, Body>, loaded: NoInfer<Context & Related>): Promise<OperationResult<NoInfer<Data>>>
}

/** A list whose items are decided one by one: items that the caller cannot see are left out. */
interface FilteredListOperation<Query, Item> extends OperationRow<Query, any, readonly Item[]> {
  readonly kind: 'filtered_list'
  /** Reads the next candidates after a position, in the order of the list. Fewer than `limit` means the end. */
  candidates(request: OperationRequest<Query, any>, after: string | undefined, limit: number): Promise<readonly Candidate<Item>[]>
}

/** A row of the operations table: everything that is known about an operation. */
export type Operation = SingleOperation<any, any, any, any, any> | FilteredListOperation<any, any>

type Optional = 'query' | 'body' | 'status' | 'takesUpload' | 'conflicts' | 'example'
type Given<Row extends OperationRow<any, any, any>> = Omit<Row, 'kind' | 'permission' | Optional> & Partial<Pick<Row, Optional>>

const nothing = z.strictObject({})
/** The query of every write. */
const writeQuery = z.strictObject({
  dry_run: documented(booleanParameter.default(false), {
    description:
      'Checks everything and answers as if the change were made, with `Dry-Run: true`, and changes nothing. The id of what would be created consists of zeros.',
  }),
})
const defaults = { query: nothing, body: undefined, status: 200, takesUpload: false, conflicts: [], example: {} } as const

type GivenSingle<Query, Body, Data, Context extends TargetContext, Related extends object> = Omit<
  Given<SingleOperation<Query, Body, Data, Context, Related>>,
  'target' | 'related'
> &
  Partial<Pick<SingleOperation<Query, Body, Data, Context, Related>, 'target' | 'related'>>

/** The target of an operation on the workspace itself: nothing has to be loaded. */
const workspace: Target<{}> = { reads: () => [], from: () => ({}) }

/** A row that is decided once. Its target is the workspace if it states none. */
export function operation<
  Data,
  Context extends TargetContext = {},
  Related extends object = {},
  Query = Record<string, never>,
  Body = undefined,
>(row: GivenSingle<Query, Body, Data, Context, Related>): Operation {
  const permission = row.needs.join(' ')
  const query = row.method === 'GET' ? nothing : writeQuery
  return Object.freeze({ ...defaults, query, target: workspace, ...row, permission, kind: 'single' }) as unknown as Operation
}

/** A row that lists what the caller can see, decided item by item. */
export function filteredList<Item, Query = Record<string, never>>(row: Given<FilteredListOperation<Query, Item>>): Operation {
  return Object.freeze({ ...defaults, ...row, permission: row.needs.join(' '), kind: 'filtered_list' }) as unknown as Operation
}

/** The `data` of the response to a DELETE. */
export const deleted = documented(
  z.strictObject({
    id: neighborField('The id of what was deleted or removed.'),
    deleted: documented(z.literal(true), { description: 'Always true.' }),
  }),
  { id: 'Deleted', description: 'Something that was deleted or removed.' },
)

/** The body of a PATCH: at least one member. */
export function atLeastOne<Shape extends z.ZodObject>(shape: Shape) {
  return shape.refine((body) => Object.keys(body as object).length > 0, `must have at least one of ${Object.keys(shape.shape).join(', ')}`)
}

import { z } from 'zod'
import type { FileRecord } from '../model/file.ts'
import type { RandomSource } from '../model/ids.ts'
import type { Clock } from '../model/time.ts'
import type { Key } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import type { Caller, AuthorizationContext } from '../authz/context.ts'

/** An operation's view of a request that may be made: who asks, what for, and the unit of work. */
export interface OperationRequest<Query = unknown, Body = unknown> {
  readonly tx: Transaction
  readonly caller: Caller
  /** the parts of the path that the row names; ids that nobody has looked at yet */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  readonly clock: Clock
  readonly random: RandomSource
  /** whether a definition of the policy holds in a situation, which may be one that a change would bring about */
  readonly holds: (definition: string, situation: AuthorizationContext) => boolean
  /**
   * Refuses what lies on a board that the caller may not see, before anything else is read: so what is hidden
   * takes as many steps as what is not there.
   * @throws {Failure} `not_found`
   */
  readonly see: <Seen extends AuthorizationContext>(situation: Seen) => Seen
  /** receives the file that comes along; undefined where none does. Called again, it answers the same */
  readonly receive: (() => Promise<Upload>) | undefined
}

/** A file that came along, its bytes already kept. */
export interface Upload {
  readonly blobId: string
  /** the note that its bytes may be left behind: whoever makes them a file removes it */
  readonly tombstoneId: string
  readonly name: string
  readonly contentType: string
  readonly size: number
  readonly sha256: string
  readonly visibility: 'workspace' | 'private'
}

/** As much of a request as finding what its path names takes. */
export type Addressed = Pick<OperationRequest, 'tx' | 'caller' | 'params'>

/** What an operation answers. */
export interface OperationResult {
  readonly data: unknown
  /** of a list: the cursor of its last item, or null at the end */
  readonly nextCursor?: string | null
  /** of a created resource: its path below /v1 */
  readonly location?: string
  /** of a created resource: the record whose revision is its ETag; null: this answer has none */
  readonly entity?: Key<unknown> | null
  /** a file whose bytes are the answer, in the place of any data */
  readonly download?: FileRecord
}

/** One thing that a list might show, and what decides whether this caller may see it. */
export interface Candidate {
  /** where the list goes on after it */
  readonly position: string
  /** undefined where there is nothing any more */
  readonly found: { readonly situation: AuthorizationContext; readonly data: unknown } | undefined
}

interface OperationRow<Query, Body> {
  /** `resource.verb` */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** below /v1, with `{name}` for its parameters */
  readonly path: string
  /** one sentence for whoever calls it */
  readonly summary: string
  /** the (action, subject) pair that both tables are asked about */
  readonly needs: readonly [action: string, subject: string]
  /** the row of the permission table that decides it; held against the table at start */
  readonly row: string
  readonly query: z.ZodType<Query>
  readonly body: z.ZodType<Body> | undefined
  /** what cannot be, as path and body together tell: which member, and why */
  readonly contradiction?: (params: Readonly<Record<string, string>>, body: Body) => { path: string; message: string } | undefined
  /** the shape of `data` */
  readonly data: z.ZodType
  /** a create that has a path of its own answers 201 with Location */
  readonly status: 200 | 201
  /** where the permission is decided field by field: the fields that change */
  readonly fields?: (body: Body) => readonly string[]
  /** the record whose revision is the ETag of what the path names */
  readonly entity?: (params: Readonly<Record<string, string>>) => Key<unknown>
  /** whether the body may be a file (multipart/form-data) too */
  readonly takesUpload: boolean
  /** in which states it answers 409, a sentence each */
  readonly conflicts: readonly string[]
}

/** An operation that is decided once, on what its path and body name. */
interface SingleOperation<Query, Body, Loaded extends AuthorizationContext> extends OperationRow<Query, Body> {
  readonly kind: 'single'
  /**
   * Reads what the request names, and what that hangs on, inside the caller's workspace.
   * @throws {Failure} `not_found` where something is not there
   */
  load(request: OperationRequest<Query, Body>): Promise<Loaded>
  /**
   * Does it. It is called only once the permission table has allowed it.
   * @throws {Failure} `conflict`
   */
  run(request: OperationRequest<Query, Body>, loaded: Loaded): Promise<OperationResult>
}

/** A list whose items are decided one by one. */
interface FilteredListOperation<Query, Body> extends OperationRow<Query, Body> {
  readonly kind: 'each'
  /** The next candidates after a position, in the list's order; fewer than `limit` at the end alone. */
  candidates(request: OperationRequest<Query, Body>, after: string | undefined, limit: number): Promise<readonly Candidate[]>
}

/** One row of the operations table: all there is to know of an operation. */
export type Operation = SingleOperation<any, any, any> | FilteredListOperation<any, any>

type Defaults = 'kind' | 'query' | 'body' | 'status' | 'takesUpload' | 'conflicts'
type Given<Row extends OperationRow<any, any>> = Omit<Row, Defaults> & Partial<Pick<Row, Exclude<Defaults, 'kind'>>>

const nothing = z.strictObject({})
const defaults = { query: nothing, body: undefined, status: 200, takesUpload: false, conflicts: [] } as const

/** A row that is decided once. */
export function operation<Loaded extends AuthorizationContext, Query = Record<string, never>, Body = undefined>(
  row: Given<SingleOperation<Query, Body, Loaded>>,
): Operation {
  return Object.freeze({ ...defaults, ...row, kind: 'single' }) as unknown as Operation
}

/** A row that lists what the caller may see, decided item by item. */
export function filteredList<Query = Record<string, never>>(row: Given<FilteredListOperation<Query, undefined>>): Operation {
  return Object.freeze({ ...defaults, ...row, kind: 'each' }) as unknown as Operation
}

/** What a DELETE answers. */
export const deleted = z.strictObject({ id: z.string(), deleted: z.literal(true) })

import { z } from 'zod'
import type { AuthorizationContext, Caller } from '../authz/context.ts'
import { booleanParameter } from '../listing/pages.ts'
import type { Awaitable } from '../model/awaitable.ts'
import { documented, anyIdField } from '../model/fields.ts'
import type { ErrorCode } from '../model/errors.ts'
import type { FileVisibility } from '../model/file.ts'
import type { RandomSource } from '../model/ids.ts'
import type { Picture } from '../model/picture.ts'
import type { Clock } from '../model/time.ts'
import type { Index } from '../store/indexes.ts'
import { keys, type Key, type Text } from '../store/keys.ts'
import type { RangeRequest, Read } from '../store/reads.ts'
import type { Transaction } from '../store/transaction.ts'
import type { AwaitedEntry, OperationResult } from './result.ts'
import { capacityMessage, requireCapacity, type Capacity } from './capacity.ts'

/** What only the rows of one feature are called with. The feature declares it, and `app.ts` says what gives it. */
export class Ability<Given> {
  declare readonly given: Given
}

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
  /** What gives the rows of a feature more than all rows have. */
  use<Given>(ability: Ability<Given>): Given
  /**
   * Is called before cards are examined one by one.
   * @param characters their size
   * @returns a promise to wait for; undefined if they may be examined now
   * @throws {ApiError} `request_timeout`, as a rejection, when the client has left
   */
  readonly examine: (characters: number) => Promise<void> | undefined
  /** Does something that has effects outside of the transaction, once for all attempts at the request. */
  readonly once: <T>(work: () => Promise<T>) => Promise<T>
  /** stores the bytes of an uploaded file, once for all attempts; undefined if the request has no file */
  readonly receive: (() => Promise<Upload>) | undefined
  /** The same request with another input, as a batch and an evaluation make one for each of their operations. */
  with(changes: Partial<Pick<OperationRequest, 'caller' | 'params' | 'query' | 'body' | 'clock' | 'receive'>>): OperationRequest
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
  readonly visibility: FileVisibility
  /** the bytes that the files of its workspace may have */
  readonly workspaceBytes: number
  /** null: the bytes are no picture that pages show */
  readonly picture: Picture | null
}

/** The part of a request that loading the target of its path needs. */
export type TargetRequest = Pick<OperationRequest, 'tx' | 'caller' | 'params'>

/** What a target is made of: records that facts are read from, or the workspace itself, which has no facts. */
export type TargetContext = AuthorizationContext | { readonly workspace: unknown }

/** What a target needs to know of the caller. */
export interface CallerTexts {
  readonly userId: Text
  readonly tokenHash: string
}

/** The resource that a path names: what has to be read, and the context that is made from it. */
export interface Target<Context> {
  /**
   * What to read, in one snapshot.
   * @throws {ApiError} `not_found`
   */
  reads(params: OperationRequest['params'], caller: CallerTexts): readonly Read[]
  /**
   * Makes the context from the records.
   * @throws {ApiError} `not_found`
   */
  from(records: readonly unknown[]): Context
}

/** An item that a filtered list may return, with the context that decides whether the caller can see it. */
export interface Candidate<Item = unknown> {
  /** the position after it where the list continues */
  readonly position: string
  /** undefined if the record was deleted and its index entry not collected yet */
  readonly item:
    | {
        readonly context: AuthorizationContext
        readonly data: Item
        /** what decides about it, if that is not the permission of the list */
        readonly permission?: string
      }
    | undefined
}

/** A list that goes on: each of its pages has a cursor, and a client can wait for what comes after it. */
export interface Followed {
  /** the position before the first item */
  readonly start: string
  readonly awaited: AwaitedEntry
}

/** The next candidates of a filtered list. */
export interface Candidates<Item = unknown> {
  readonly candidates: readonly Candidate<Item>[]
  /** whether others may follow */
  readonly more: boolean
}

/**
 * A request that works, for the documentation and the tests. `{name}` in a text stands for the parameter of that name,
 * as in the path.
 */
export interface RequestExample {
  readonly body?: unknown
}

/**
 * A further permission of an operation: it is asked about each item that a member of the body names, as by the operation that does
 * the same to one item. If the body names none, it is not asked.
 */
export interface FurtherPermission<Loaded = any> {
  /** the member of the body */
  readonly member: string
  /** what names an item in the 404 of the operation that does the same to one item */
  readonly parameter: string
  /** as an operation's: `action Subject` */
  readonly permission: string
  readonly row: string
  /**
   * What each item adds to the context of the decision, in the order of the body; undefined for one that is absent: that is
   * answered in its turn, like one that is denied.
   */
  contexts(loaded: Loaded): readonly (AuthorizationContext | undefined)[]
}

/** Something that a parameter of a query names, and what decides whether the caller has access to its board; undefined: it is absent. */
export type NamedByQuery = { readonly parameter: string; readonly context: AuthorizationContext | undefined }

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
  /** the same as one text, `action Subject`, its name in the policy */
  readonly permission: string
  /** the row of the permission table that decides it; compared with the table at start */
  readonly row: string
  /** further permissions, asked after its own in this order */
  readonly also: readonly FurtherPermission[]
  readonly query: z.ZodType<Query>
  readonly body: z.ZodType<Body> | undefined
  /** whether the body may be left out: without one, it is `{}` */
  readonly isBodyOptional: boolean
  /** validates the body against the path */
  readonly bodyRule?: (params: Readonly<Record<string, string>>, body: Body) => { path: string; message: string } | undefined
  /** the shape of `data` in the response */
  readonly data: z.ZodType<Data>
  /** 201 for the creation of a resource that has a path */
  readonly status: 200 | 201
  /** the fields that a body changes, if the permission is decided by field */
  readonly fields?: (body: Body) => readonly string[]
  /** the record whose revision is the ETag of the path's target; default: {@link entityOf} */
  readonly entity: ((params: Readonly<Record<string, string>>) => Key<unknown>) | undefined
  /** whether it changes nothing, as each GET: it has no dry run, and ignores an Idempotency-Key */
  readonly isRead: boolean
  /** whether the response is a stream of events */
  readonly isStream: boolean
  /** whether the body is a form with a file (multipart/form-data) in place of JSON */
  readonly takesUpload: boolean
  /** whether only the holder of the claim of its card may do it, so that a request must state the claim (`If-Claim`) */
  readonly requiresClaim: boolean
  /** the message of each 409 that the operation can answer */
  readonly conflicts: readonly string[]
  /** the codes of errors that only this operation can answer */
  readonly codes: readonly ErrorCode[]
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
  /** what it adds to, if that has a limit: an index of what the path names first */
  readonly capacity?: readonly [limit: Capacity, indexOf: (id: string) => Index<unknown>]
  /** the indexes that `run` counts, if the path names them: they are counted together with the read of the target */
  readonly counts?: (params: OperationRequest['params']) => readonly Index<unknown>[]
  /** the same for ranges that its commit reads */
  readonly ranges?: (params: OperationRequest['params']) => readonly RangeRequest[]
  /**
   * Loads what else the request names: in its body, or in a second parameter of the path.
   * @throws {ApiError} `not_found`
   */
  readonly related?: (request: OperationRequest<Query, Body>, target: NoInfer<Context>) => Awaitable<Related>
  /**
   * Performs the operation. It is called after the permission table has allowed it.
   * @throws {ApiError} `conflict`
   */
  run(request: OperationRequest<Query, Body>, loaded: NoInfer<Context & Related>): Awaitable<OperationResult<NoInfer<Data>>>
}

/** A list whose items are decided one by one: items that the caller cannot see are left out. */
interface FilteredListOperation<Query, Item> extends OperationRow<Query, any, readonly Item[]> {
  readonly kind: 'filtered_list'
  /** Loads what the query names. It is decided before the list is read, in this order. */
  named?(request: OperationRequest<NoInfer<Query>, any>): Promise<readonly NamedByQuery[]>
  /** Reads the next candidates after a position, in the order of the list: at most `limit`. */
  candidates(request: OperationRequest<Query, any>, after: string | undefined, limit: number): Promise<Candidates<Item>>
  /** Whether it goes on after its last item; default: it does not. */
  follow?(request: OperationRequest<NoInfer<Query>, any>): Followed | undefined
}

/** A row of the operations table: everything that is known about an operation. */
export type Operation = SingleOperation<any, any, any, any, any> | FilteredListOperation<any, any>

type Optional =
  | 'also'
  | 'requiresClaim'
  | 'entity'
  | 'query'
  | 'body'
  | 'status'
  | 'isRead'
  | 'isStream'
  | 'takesUpload'
  | 'conflicts'
  | 'codes'
  | 'example'
type Given<Row extends OperationRow<any, any, any>> = Omit<Row, 'kind' | 'permission' | 'isBodyOptional' | Optional> &
  Partial<Pick<Row, Optional>>

const nothing = z.strictObject({})
/** The query of every write. */
export const writeQuery = z.strictObject({
  dry_run: documented(booleanParameter.default(false), {
    description:
      'Checks everything and answers as if the change were made, with `Dry-Run: true`, and changes nothing. The id that a new resource would get consists of zeros.',
  }),
})
/** The names of the parameters of a path, in their order. */
export function namesInPath(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
}

/** Whether a request only asks what it would be answered. */
export function isDryRun({ query }: Pick<OperationRequest, 'query'>): boolean {
  return (query as { readonly dry_run?: boolean }).dry_run === true
}

/** Whether all members of a body are optional, and none of them has to be given. */
function mayBeLeftOut(body: z.ZodType | undefined): boolean {
  // The members first: to parse with each schema at the start would take 20 ms.
  const members = body instanceof z.ZodObject ? Object.values(body.shape) : undefined
  return members?.every((member) => (member as z.ZodType).safeParse(undefined).success) === true && body!.safeParse({}).success
}

/** What the first parameter of a path names is the resource of each write, and of the read that ends with it. */
function entityOf({ method, path }: Pick<Operation, 'method' | 'path'>): Operation['entity'] {
  const [, kind, rest] = /\{(\w+)_id\}(.*)/.exec(path) ?? []
  if (kind === undefined || (method === 'GET' && rest !== '')) return undefined
  return (params) => keys[kind as 'board'](params[`${kind}_id`]!)
}

const defaults = {
  also: [],
  entity: undefined,
  query: nothing,
  body: undefined,
  status: 200,
  isStream: false,
  takesUpload: false,
  requiresClaim: false,
  conflicts: [],
  codes: [],
  example: {},
} as const

type GivenSingle<Query, Body, Data, Context extends TargetContext, Related extends object> = Omit<
  Given<SingleOperation<Query, Body, Data, Context, Related>>,
  'target' | 'related' | 'also'
> &
  Partial<Pick<SingleOperation<Query, Body, Data, Context, Related>, 'target' | 'related'>> & {
    readonly also?: readonly FurtherPermission<NoInfer<Context & Related>>[]
  }

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
  const { isRead = row.method === 'GET' } = row
  const query = isRead ? nothing : writeQuery
  const entity = entityOf(row)
  const limited = row.capacity === undefined ? {} : withCapacity(row, row.capacity)
  return Object.freeze({
    ...defaults,
    isRead,
    query,
    entity,
    target: workspace,
    ...row,
    ...limited,
    permission,
    isBodyOptional: mayBeLeftOut(row.body),
    kind: 'single',
  }) as unknown as Operation
}

/** Checks before it runs that there is capacity for one more. The index is counted together with the read of the target. */
function withCapacity(
  {
    path,
    conflicts = [],
    run,
  }: Pick<SingleOperation<any, any, any, any, any>, 'path' | 'run'> & { readonly conflicts?: readonly string[] },
  [limit, indexOf]: readonly [Capacity, (id: string) => Index<unknown>],
): Partial<SingleOperation<any, any, any, any, any>> {
  const index = (params: OperationRequest['params']) => indexOf(params[namesInPath(path)[0]!]!)
  return {
    conflicts: [capacityMessage(limit), ...conflicts],
    counts: (params) => [index(params)],
    async run(request, loaded) {
      await requireCapacity(request.tx, index(request.params), limit)
      return run(request, loaded)
    },
  }
}

/** A row that lists what the caller can see, decided item by item. */
export function filteredList<Item, Query = Record<string, never>>(row: Given<FilteredListOperation<Query, Item>>): Operation {
  return Object.freeze({
    ...defaults,
    isRead: true,
    ...row,
    permission: row.needs.join(' '),
    isBodyOptional: false,
    kind: 'filtered_list',
  }) as unknown as Operation
}

/** Whether the response is a page of a list. */
export function isList({ data }: Pick<Operation, 'data'>): boolean {
  return data.def.type === 'array'
}

/** Whether an operation changes a card or what hangs on it: its `If-Claim` can hold. */
export function writesToCard({ path, isRead }: Pick<Operation, 'path' | 'isRead'>): boolean {
  return !isRead && /^\/(cards|subtasks|comments|attachments)\/\{/.test(path)
}

/** The `data` of the response to a DELETE. */
export const deleted = documented(
  z.strictObject({
    id: anyIdField('The id of the deleted or removed resource.'),
    deleted: documented(z.literal(true), { description: 'Always true.' }),
  }),
  { id: 'Deleted', description: 'Something that was deleted or removed.' },
)

/** The body of a PATCH: at least one member. */
export function atLeastOne<Shape extends z.ZodObject>(shape: Shape) {
  return shape.refine((body) => Object.keys(body as object).length > 0, `must have at least one of ${Object.keys(shape.shape).join(', ')}`)
}

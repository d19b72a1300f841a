import { isDeepStrictEqual } from 'node:util'
import { newId, type IdKind } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import type { Key } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import type { OperationRequest } from './operation.ts'
import type { OperationResult } from './result.ts'

interface Timestamped {
  readonly id: string
  readonly created_at: string
  readonly updated_at: string
}

/** The kinds of resources with a path: `/boards/{id}` and so on. */
type ResourceKind = Extract<IdKind, 'board' | 'column' | 'card' | 'label' | 'subtask' | 'comment' | 'attachment'>

/** Creates a resource with a new id. The result has its Location and its ETag. */
export function createResource<T extends Timestamped>(
  { tx, clock, random }: Pick<OperationRequest, 'tx' | 'clock' | 'random'>,
  kind: ResourceKind,
  keyOf: (id: string) => Key<T>,
  members: Omit<T, keyof Timestamped>,
): OperationResult<T> {
  const id = newId(kind, random)
  const now = timestamp(clock)
  const created = { id, ...members, created_at: now, updated_at: now } as unknown as T
  tx.create(keyOf(id), created)
  return { data: created, location: `/${kind}s/${id}`, entity: keyOf(id) } as OperationResult<T>
}

/** Writes changes of a resource with a new `updated_at`. If they change nothing, nothing is written, and its ETag remains. */
export function saveResource<T extends Timestamped>(
  { tx, clock }: Pick<OperationRequest, 'tx' | 'clock'>,
  keyOf: (id: string) => Key<T>,
  current: T,
  changes: { readonly [Member in keyof T]?: T[Member] | undefined },
): { data: T } {
  const names = Object.keys(changes) as (keyof T)[]
  if (names.every((name) => changes[name] === current[name] || isDeepStrictEqual(changes[name], current[name]))) return { data: current }
  const data: T = Object.assign({}, current, changes, { updated_at: updateTime(clock, current) })
  tx.put(keyOf(data.id), data)
  return { data }
}

/** Writes a resource whose representation changes with another record. Only its `updated_at` is new, and its revision. */
export function touchResource<T extends Timestamped>(
  { tx, clock }: Pick<OperationRequest, 'tx' | 'clock'>,
  keyOf: (id: string) => Key<T>,
  current: T,
): void {
  tx.put(keyOf(current.id), Object.assign({}, current, { updated_at: updateTime(clock, current) }))
}

/** The time of an update. It never goes back: clocks of several processes differ. */
function updateTime(clock: OperationRequest['clock'], { updated_at }: Timestamped): string {
  const now = timestamp(clock)
  return now > updated_at ? now : updated_at
}

/** Archives or restores a resource. If it is in that state already, nothing is written. */
export function setArchived<T extends Timestamped & { readonly archived_at: string | null }>(
  request: Pick<OperationRequest, 'tx' | 'clock'>,
  keyOf: (id: string) => Key<T>,
  resource: T,
  archived: boolean,
): { data: T } {
  if ((resource.archived_at !== null) === archived) return { data: resource }
  return saveResource<Timestamped & { readonly archived_at: string | null }>(request, keyOf as never, resource, {
    archived_at: archived ? timestamp(request.clock) : null,
  }) as { data: T }
}

/** Removes a resource. */
export function removeResource<T extends Timestamped>(tx: Transaction, keyOf: (id: string) => Key<T>, resource: T): DeletedResult {
  tx.remove(keyOf(resource.id))
  return deletedResult(resource.id)
}

type DeletedResult = { readonly data: { readonly id: string; readonly deleted: true } }

/** The result of a DELETE. */
export function deletedResult(id: string): DeletedResult {
  return { data: { id, deleted: true } }
}

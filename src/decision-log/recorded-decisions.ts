import type { Decision, ScopeDecision } from '../policy/engine.ts'
import type { Facts } from '../policy/evaluate.ts'

type RecordedScope = ScopeDecision & { readonly permission: string; readonly facts: Facts }
type RecordedPermission = Omit<Decision, 'fields' | 'reason'> & { readonly fields: readonly string[] | null }
interface RecordedHidden {
  readonly definition: string
  readonly facts: Facts
}

/** A decision of a record, as it was answered. */
export type RecordedDecision =
  | ({ readonly stage: 'scope' } & RecordedScope)
  /** with the permission that the request needed */
  | ({ readonly stage: 'definition'; readonly needed: string | undefined } & RecordedHidden)
  | ({ readonly stage: 'permission' } & RecordedPermission)

/** The members of a line that have decisions. */
interface Recorded {
  readonly request_id?: string
  readonly scope?: RecordedScope
  readonly hidden?: RecordedHidden
  readonly permission?: RecordedPermission
  readonly further?: readonly Counted[]
  readonly list?: { readonly decisions: readonly Counted[] }
  readonly evaluations?: readonly RecordedItem[]
  readonly batch?: readonly RecordedItem[]
}
interface RecordedItem extends Recorded {
  /** the number of an earlier item that has the decisions */
  readonly as?: number
  /** how often they were made; default: once */
  readonly count?: number
}
interface Counted {
  readonly count: number
  readonly permission: RecordedPermission
}

/**
 * Reads a line of a decision log.
 * @returns undefined if the text is no JSON object
 */
export function readRecord(text: string): Recorded | undefined {
  try {
    const recorded: unknown = JSON.parse(text)
    return recorded !== null && typeof recorded === 'object' ? (recorded as Recorded) : undefined
  } catch {
    return undefined
  }
}

/**
 * All decisions of a record.
 * @param times how often they were made
 */
export function* decisionsOf(recorded: Recorded, times = 1): Generator<{ readonly decision: RecordedDecision; readonly count: number }> {
  const { scope, hidden, permission, further = [], list, evaluations = [], batch = [] } = recorded
  if (scope !== undefined) yield { decision: { stage: 'scope', ...scope }, count: times }
  if (hidden !== undefined) yield { decision: { stage: 'definition', ...hidden, needed: scope?.permission }, count: times }
  if (permission !== undefined) yield { decision: { stage: 'permission', ...permission }, count: times }
  for (const one of [...further, ...(list?.decisions ?? [])])
    yield { decision: { stage: 'permission', ...one.permission }, count: one.count * times }
  for (const items of [evaluations, batch])
    // The decisions of an item are its own, or are shared with an earlier item that was decided in the same way.
    for (const item of items) yield* decisionsOf(item.as === undefined ? item : (items[item.as] ?? item), item.count)
}

import type { Facts } from '../policy/evaluate.ts'

/** A decision of a record: what was asked, of which facts, and how often. */
export type RecordedDecision =
  | { readonly stage: 'scope'; readonly permission: string; readonly facts: Facts; readonly count: number }
  | { readonly stage: 'definition'; readonly definition: string; readonly facts: Facts; readonly count: number }
  | {
      readonly stage: 'permission'
      readonly permission: string
      readonly fields: readonly string[] | null
      readonly facts: Facts
      readonly count: number
    }

type Asked = Omit<Extract<RecordedDecision, { stage: 'permission' }>, 'stage' | 'count'>

/** The members of a record that have decisions. */
interface Recorded {
  readonly scope?: { readonly permission: string; readonly facts: Facts }
  readonly hidden?: { readonly definition: string; readonly facts: Facts }
  readonly permission?: Asked
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
  readonly permission: Asked
}

/** What has the decisions of an item: the item, or the earlier one that was decided in the same way. */
export function withDecisions<Item extends { readonly as?: number }>(item: Item, items: readonly Item[]): Item {
  return item.as === undefined ? item : (items[item.as] ?? item)
}

/** All decisions in a line of a decision log. @returns undefined if the text is no JSON object */
export function readDecisionsOf(text: string): RecordedDecision[] | undefined {
  try {
    const recorded: unknown = JSON.parse(text)
    return recorded !== null && typeof recorded === 'object' ? [...decisionsOf(recorded as Recorded)] : undefined
  } catch {
    return undefined
  }
}

/** @param times how often they were made */
function* decisionsOf(
  { scope, hidden, permission, further = [], list, evaluations = [], batch = [] }: Recorded,
  times = 1,
): Generator<RecordedDecision> {
  if (scope !== undefined) yield { stage: 'scope', permission: scope.permission, facts: scope.facts, count: times }
  if (hidden !== undefined) yield { stage: 'definition', ...hidden, count: times }
  if (permission !== undefined) yield asked(permission, times)
  for (const one of [...further, ...(list?.decisions ?? [])]) yield asked(one.permission, one.count * times)
  for (const items of [evaluations, batch]) for (const item of items) yield* decisionsOf(withDecisions(item, items), item.count)
}

function asked({ permission, fields, facts }: Asked, count: number): RecordedDecision {
  return { stage: 'permission', permission, fields, facts, count }
}

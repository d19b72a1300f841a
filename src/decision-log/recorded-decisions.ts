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
  readonly evaluations?: readonly Recorded[]
  readonly batch?: readonly Recorded[]
}
interface Counted {
  readonly count: number
  readonly permission: Asked
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

function* decisionsOf({
  scope,
  hidden,
  permission,
  further = [],
  list,
  evaluations = [],
  batch = [],
}: Recorded): Generator<RecordedDecision> {
  if (scope !== undefined) yield { stage: 'scope', permission: scope.permission, facts: scope.facts, count: 1 }
  if (hidden !== undefined) yield { stage: 'definition', ...hidden, count: 1 }
  if (permission !== undefined) yield asked(permission, 1)
  for (const one of [...further, ...(list?.decisions ?? [])]) yield asked(one.permission, one.count)
  for (const item of [...evaluations, ...batch]) yield* decisionsOf(item)
}

function asked({ permission, fields, facts }: Asked, count: number): RecordedDecision {
  return { stage: 'permission', permission, fields, facts, count }
}

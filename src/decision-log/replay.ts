import type { Decision, Engine } from '../policy/engine.ts'
import type { Facts } from '../policy/evaluate.ts'
import { decisionsOf, readRecord, type RecordedDecision } from './recorded-decisions.ts'

type OfStage<Stage> = Extract<RecordedDecision, { stage: Stage }>

/** Decisions that are not as they were, and are so in the same way. */
export interface Difference {
  readonly stage: 'scope' | 'definition' | 'permission'
  /** `widened`, `narrowed`: what is answered differs; `changed`: another refusal; `explained`: the same answer for another reason; `undecidable`: the policy does not know the question */
  readonly kind: 'widened' | 'narrowed' | 'changed' | 'explained' | 'undecidable'
  /** the permission or the definition */
  readonly about: string
  readonly was: string
  readonly now: string
  count: number
  /** the first one */
  readonly example: { readonly file: string; readonly line: number; readonly request_id: string | null; readonly facts: Facts }
}

/** Where a line is. */
export interface Place {
  readonly file: string
  /** from 1 */
  readonly line: number
}

/** What one decision has become. */
type Change = Pick<Difference, 'stage' | 'kind' | 'about' | 'was' | 'now'> & { readonly facts: Facts }

/** Decides what was recorded again. The facts in a record are all that a decision depends on. */
export class Replay {
  readonly #engine: Engine
  readonly #known = new Map<string, Change | undefined>()
  readonly #differences = new Map<string, Difference>()
  #decisions = 0
  #records = 0

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** @returns false if the text is no JSON object */
  add(text: string, place: Place): boolean {
    const recorded = readRecord(text)
    if (recorded === undefined) return false
    if (recorded.scope === undefined && recorded.permission === undefined) return true
    this.#records++
    const from = { ...place, request_id: recorded.request_id ?? null }
    for (const { decision, count } of decisionsOf(recorded)) this.#count(from, count, decision)
    return true
  }

  /** The differences so far, the most important and most frequent first. */
  get differences(): Difference[] {
    const order: readonly string[] = ['widened', 'narrowed', 'changed', 'undecidable', 'explained']
    return [...this.#differences.values()].toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || b.count - a.count)
  }

  /** the number of decisions, each item of a list included */
  get decisions(): number {
    return this.#decisions
  }

  /** the number of lines that have any */
  get records(): number {
    return this.#records
  }

  #count(place: Omit<Difference['example'], 'facts'>, count: number, recorded: RecordedDecision): void {
    this.#decisions += count
    const key = JSON.stringify(recorded)
    if (!this.#known.has(key)) this.#known.set(key, this.#decide(recorded))
    const change = this.#known.get(key)
    if (change === undefined) return
    const { facts, ...group } = change
    const id = JSON.stringify(group)
    const known = this.#differences.get(id)
    if (known === undefined) this.#differences.set(id, { ...group, count, example: { ...place, facts } })
    else known.count += count
  }

  #decide(recorded: RecordedDecision): Change | undefined {
    if (recorded.stage === 'scope') return this.#scope(recorded)
    return recorded.stage === 'definition' ? this.#definition(recorded) : this.#permission(recorded)
  }

  #scope({ permission, facts, allowed, required, row }: OfStage<'scope'>): Change | undefined {
    const about = { stage: 'scope', about: permission, facts } as const
    return attempt(about, allowed ? 'allowed' : 'insufficient_scope', () => {
      const now = this.#engine.checkScope(permission, facts)
      return compare(
        about,
        [allowed ? 'allowed' : 'insufficient_scope', `${row}, requires ${required}`],
        [now.allowed ? 'allowed' : 'insufficient_scope', `${now.row}, requires ${now.required}`],
      )
    })
  }

  #definition({ definition, facts, needed: permission }: OfStage<'definition'>): Change | undefined {
    const about = { stage: 'definition', about: definition, facts } as const
    return attempt(about, 'does not hold', () => {
      const { permissions } = this.#engine.vocabulary
      const needed = permission === undefined ? undefined : permissions.get(permission)
      if (permission !== undefined && needed === undefined) throw new TypeError(`"${permission}" is not a permission of the vocabulary`)
      const isNeeded = needed === undefined || needed.notFoundUnless.includes(definition)
      if (!isNeeded) return { ...about, kind: 'changed', was: 'does not hold', now: `is not needed for "${permission}"` }
      return this.#engine.holds(definition, facts) ? { ...about, kind: 'widened', was: 'does not hold', now: 'holds' } : undefined
    })
  }

  #permission(recorded: OfStage<'permission'>): Change | undefined {
    const { permission, facts, fields, outcome } = recorded
    const about = { stage: 'permission', about: permission, facts } as const
    return attempt(about, outcome, () => {
      const now = this.#engine.decide(permission, facts, fields ?? undefined)
      return compare(about, [outcome, explanationOf(recorded)], [now.outcome, explanationOf(now)])
    })
  }
}

type Answer = readonly [outcome: string, explanation: string]

function compare(about: Pick<Change, 'stage' | 'about' | 'facts'>, was: Answer, now: Answer): Change | undefined {
  if (was[0] !== now[0]) {
    const kind = now[0] === 'allowed' ? 'widened' : was[0] === 'allowed' ? 'narrowed' : 'changed'
    return { ...about, kind, was: was[0], now: now[0] }
  }
  return was[1] === now[1] ? undefined : { ...about, kind: 'explained', was: was[1], now: now[1] }
}

/** A policy without a name or a value of the record refuses the question with a TypeError. */
function attempt(about: Pick<Change, 'stage' | 'about' | 'facts'>, was: string, decide: () => Change | undefined): Change | undefined {
  try {
    return decide()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return { ...about, kind: 'undecidable', was, now: error.message }
  }
}

function explanationOf({ row, rules, derived }: Pick<Decision, 'row' | 'rules' | 'derived'>): string {
  const held = Object.entries(derived).map(([name, holds]) => `${name}=${holds}`)
  return [row, rules.join(' ') || 'no rule', ...held].join(', ')
}

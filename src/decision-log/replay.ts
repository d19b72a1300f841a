import type { Decision, Engine, ScopeDecision } from '../policy/engine.ts'
import { refuse, type Facts } from '../policy/evaluate.ts'
import { decisionsOf, readRecord, type RecordedDecision } from './recorded-decisions.ts'

/** Decisions that are not as they were, and are so in the same way. */
export interface Difference {
  readonly stage: 'scope' | 'definition' | 'permission'
  /**
   * `widened`, `narrowed`: what is answered differs; `changed`: another refusal; `explained`: the same answer for another reason;
   * `undecidable`: the policy does not know the question
   */
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

/** The outcome of one decision. */
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
    const decisions = [...decisionsOf(recorded)]
    if (decisions.length === 0) return true
    this.#records++
    const from = { ...place, request_id: recorded.request_id ?? null }
    for (const { decision, count } of decisions) this.#count(from, count, decision)
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

  /** A policy without a name or a value of the record refuses the question with a TypeError. */
  #decide(recorded: RecordedDecision): Change | undefined {
    const { about, was, decide } = questionOf(this.#engine, recorded)
    const change = (kind: Difference['kind'], [before, now]: readonly [string, string]): Change => {
      return { stage: recorded.stage, kind, about, was: before, now, facts: recorded.facts }
    }
    try {
      const now = decide()
      if (was[0] !== now[0]) return change(kindOf(was[0], now[0]), [was[0], now[0]])
      return was[1] === now[1] ? undefined : change('explained', [was[1], now[1]])
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      return change('undecidable', [was[0], error.message])
    }
  }
}

type Answer = readonly [outcome: string, explanation: string]

/** What a decision was about, what it was, and how it is made now. */
function questionOf({ vocabulary, checkScope, decide, holds }: Engine, recorded: RecordedDecision) {
  const { stage, facts } = recorded
  if (stage === 'scope') {
    const { permission } = recorded
    return { about: permission, was: scopeAnswer(recorded), decide: () => scopeAnswer(checkScope(permission, facts)) }
  }
  if (stage === 'permission') {
    const { permission, fields } = recorded
    return { about: permission, was: tableAnswer(recorded), decide: () => tableAnswer(decide(permission, facts, fields ?? undefined)) }
  }
  const { definition, needed } = recorded
  const was: Answer = ['does not hold', '']
  const hides = (): Answer => {
    const permission = needed === undefined ? undefined : vocabulary.permissions.get(needed)
    if (needed !== undefined && permission === undefined) refuse(`"${needed}" is not a permission of the vocabulary`)
    if (permission?.notFoundUnless.includes(definition) === false) return [`is not needed for "${needed}"`, '']
    return holds(definition, facts) ? ['holds', ''] : was
  }
  return { about: definition, was, decide: hides }
}

function kindOf(was: string, now: string): Difference['kind'] {
  if (now === 'allowed' || now === 'holds') return 'widened'
  return was === 'allowed' ? 'narrowed' : 'changed'
}

function scopeAnswer({ allowed, row, required }: ScopeDecision): Answer {
  return [allowed ? 'allowed' : 'insufficient_scope', `${row}, requires ${required}`]
}

function tableAnswer({ outcome, row, rules, derived }: Pick<Decision, 'outcome' | 'row' | 'rules' | 'derived'>): Answer {
  const held = Object.entries(derived).map(([name, value]) => `${name}=${value}`)
  return [outcome, [row, rules.join(' ') || 'no rule', ...held].join(', ')]
}

import type { Decision, Engine } from './engine.ts'
import type { Cell } from './enumerate.ts'
import { isDefinition, type Rule } from './rules.ts'

/**
 * Finds the rules of the permission table that can be removed, each alone, without a change of any decision. Their order makes no
 * difference: of two rules that say the same, both are found. Each rule of the scope table decides something, because each permission has
 * exactly one. Cells are added one by one, so that no space is too large to keep.
 */
export class Redundancy {
  readonly #engine: Engine
  /** the rules that no cell needs so far */
  readonly #rules: Set<string>
  #definitions: Rule[]

  constructor(engine: Engine) {
    this.#engine = engine
    this.#rules = new Set(engine.permissionRules.map(({ id }) => id))
    this.#definitions = engine.permissionRules.filter(isDefinition)
  }

  /** @param decision of the whole table in the cell */
  add(cell: Cell, decision: Decision): void {
    // A rule that allows changes a decision where no other rule allows the same. What a definition changes is found by deciding without it.
    if (decision.rules.length === 1) this.#rules.delete(decision.rules[0]!)
    if (this.#definitions.length === 0) return
    const needed = this.#definitions.filter((rule) => concerns(rule, decision) && changes(this.#engine, rule, cell, decision))
    if (needed.length === 0) return
    for (const { id } of needed) this.#rules.delete(id)
    this.#definitions = this.#definitions.filter(({ id }) => this.#rules.has(id))
  }

  /** The ids of the rules that can be removed, if all cells were added. */
  get found(): string[] {
    return [...this.#rules]
  }
}

/** Whether a decision depends on what a rule defines. */
function concerns({ subject }: Rule, { derived }: Decision): boolean {
  return subject.some((name) => derived[name] === true)
}

/** Whether a decision changes if a rule is removed. */
function changes(engine: Engine, { id }: Rule, { permission, facts }: Cell, { fields, outcome }: Decision): boolean {
  return engine.decide(permission.id, facts, fields, id).outcome !== outcome
}

import type { Decision, Engine } from './engine.ts'
import type { Cell } from './enumerate.ts'
import { isDefinition, type Rule } from './rules.ts'

/** A cell and the decision of the whole table in it. */
export interface DecidedCell {
  readonly cell: Cell
  readonly decision: Decision
}

/**
 * Finds the rules of the permission table that can be removed, each alone, without a change of any decision. Their order makes no
 * difference: of two rules that say the same, both are found. Each rule of the scope table decides something, because each permission has
 * exactly one.
 * @param decided every cell
 * @returns their ids
 */
export function findRedundant(engine: Engine, decided: readonly DecidedCell[]): string[] {
  // A rule that allows changes a decision where no other rule allows the same. What a definition changes is found by deciding without it.
  const alone = new Set(decided.flatMap(({ decision: { rules } }) => (rules.length === 1 ? rules : [])))
  const isNeeded = (rule: Rule) =>
    isDefinition(rule) ? decided.some((one) => concerns(rule, one) && changes(engine, rule, one)) : alone.has(rule.id)
  return engine.permissionRules.filter((rule) => !isNeeded(rule)).map(({ id }) => id)
}

/** Whether a decision depends on what a rule defines. */
function concerns({ subject }: Rule, { decision: { derived } }: DecidedCell): boolean {
  return subject.some((name) => derived[name] === true)
}

/** Whether a decision changes if a rule is removed. */
function changes(engine: Engine, { id }: Rule, { cell: { permission, facts }, decision: { fields, outcome } }: DecidedCell): boolean {
  return engine.decide(permission.id, facts, fields, id).outcome !== outcome
}

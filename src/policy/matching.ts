import type { Condition } from './conditions.ts'
import type { Engine } from './engine.ts'
import type { Facts } from './evaluate.ts'
import { isDefinition, type Rule } from './rules.ts'

/** Facts and definitions with their values. */
export type Values = Readonly<Record<string, string | boolean | undefined>>

/** The names of the conditions of a rule that are not met. The rule matches if there are none. */
export function unmetConditions({ conditions }: Pick<Rule, 'conditions'>, values: Values): readonly string[] {
  let unmet: string[] | undefined
  for (const name in conditions) if (!meets(conditions[name]!, values[name])) (unmet ??= []).push(name)
  return unmet ?? NONE
}

const NONE: readonly string[] = []

function meets(condition: Condition, value: string | boolean | undefined): boolean {
  if (condition === true || typeof condition === 'string') return value === condition
  return typeof value === 'string' && condition.$in.includes(value)
}

/** A definition with the values of some facts. */
export interface EvaluatedDefinition {
  readonly name: string
  /** its rules */
  readonly rules: readonly Rule[]
  /** the ids of those that match; the definition is true if there are any */
  readonly matching: readonly string[]
  /** the facts and definitions on which it was evaluated */
  readonly values: Values
}

/**
 * Evaluates definitions, and states which of their rules match. The engine decides faster, but only states the values. What was
 * evaluated is remembered: most cells have the same facts about a definition.
 */
export class DefinitionEvaluator {
  readonly #definitions: readonly { readonly name: string; readonly rules: readonly Rule[]; readonly facts: readonly string[] }[]
  readonly #known = new Map<string, EvaluatedDefinition>()

  constructor({ vocabulary, permissionRules }: Pick<Engine, 'vocabulary' | 'permissionRules'>) {
    this.#definitions = [...vocabulary.definitions.values()].map(({ name, groups }) => ({
      name,
      rules: permissionRules.filter((rule) => isDefinition(rule) && rule.subject.includes(name)),
      facts: groups.flatMap((group) => vocabulary.groups.get(group)!.map((fact) => fact.name)),
    }))
  }

  /**
   * Evaluates definitions in their order.
   * @param names all that are needed, with those that they depend on
   * @returns them, and the facts together with their values
   */
  evaluate(names: readonly string[], facts: Facts): { readonly values: Values; readonly definitions: readonly EvaluatedDefinition[] } {
    const values: Record<string, string | boolean> = { ...facts }
    const definitions: EvaluatedDefinition[] = []
    for (const { name, rules, facts: used } of this.#definitions) {
      if (!names.includes(name)) continue
      let key = name
      for (const fact of used) key += `|${facts[fact]}`
      let known = this.#known.get(key)
      if (known === undefined) {
        const matching = rules.filter((rule) => unmetConditions(rule, values).length === 0).map(({ id }) => id)
        this.#known.set(key, (known = { name, rules, matching, values: { ...values } }))
      }
      values[name] = known.matching.length > 0
      definitions.push(known)
    }
    return { values, definitions }
  }
}

import { recordKey, type Ability } from './compile.ts'
import { blankRecord, factRecord, type FactSlot, type DefinitionSlot } from './evaluate.ts'
import type { Rule } from './rules.ts'
import { DEFINE, type Permission, type Definition, type Fact, type Vocabulary } from './vocabulary.ts'

/** All that can be said of a pair before any request asks about it. */
export interface PreparedPermission {
  readonly permission: Permission
  /** the facts of its groups */
  readonly facts: readonly FactSlot[]
  /** the definitions that it needs, in the order of their evaluation */
  readonly definitions: readonly DefinitionSlot[]
  readonly required: string
  readonly scopeRow: string
  readonly row: string
  readonly reason: string
}

/** Prepares a pair. The least value of the ladder that is allowed to it is found by asking the scope table. */
export function preparePermission(
  ask: Permission,
  vocabulary: Vocabulary,
  scopeRules: readonly Rule[],
  permissionRules: readonly Rule[],
  scopes: Ability,
): PreparedPermission {
  const blank = blankRecord(vocabulary)
  const facts = factsOf(ask.groups, vocabulary)
  const definitions = inOrder(ask.notFoundUnless, vocabulary, permissionRules)
  const covers = (rule: Rule) => rule.action.includes(ask.action) && rule.subject.includes(ask.subject)
  const candidates = permissionRules.filter(covers)
  const { scopeOrder: scopeOrder } = vocabulary
  const required = scopeOrder.values.find(
    (value) => scopes(ask.action, factRecord(blank, ask.subject, [factSlot(scopeOrder)], { [scopeOrder.name]: value })) !== undefined,
  )
  return {
    permission: ask,
    facts,
    definitions,
    required: required ?? 'nothing grants it',
    scopeRow: scopeRules.find(covers)?.row ?? 'none',
    row: candidates[0]?.row ?? 'none',
    reason: candidates.map((rule) => `${rule.id}: ${rule.reason}`).join(' Or '),
  }
}

/** Prepares a definition that is asked for by itself. */
export function prepareDefinition(
  { name, groups: groups }: Definition,
  vocabulary: Vocabulary,
  rules: readonly Rule[],
): Pick<PreparedPermission, 'facts' | 'definitions'> {
  return { facts: factsOf(groups, vocabulary), definitions: inOrder([name], vocabulary, rules) }
}

function factsOf(groups: readonly string[], vocabulary: Vocabulary): FactSlot[] {
  return groups.flatMap((group) => vocabulary.groups.get(group)!.map(factSlot))
}

/** Definitions with all that they depend on, in the order of their evaluation. */
function inOrder(names: readonly string[], vocabulary: Vocabulary, rules: readonly Rule[]): DefinitionSlot[] {
  const needed = closure(names, rules, vocabulary)
  return [...vocabulary.definitions.keys()].filter((name) => needed.has(name)).map((name) => ({ name, key: recordKey(name) }))
}

/** A fact as records need it. */
export function factSlot({ name, values }: Fact): FactSlot {
  return { name, key: recordKey(name), values: new Set(values) }
}

function closure(names: readonly string[], rules: readonly Rule[], vocabulary: Vocabulary): Set<string> {
  const found = new Set(names)
  for (const name of found) {
    for (const rule of rules) {
      if (!rule.action.includes(DEFINE) || !rule.subject.includes(name)) continue
      for (const fact of Object.keys(rule.conditions)) if (vocabulary.definitions.has(fact)) found.add(fact)
    }
  }
  return found
}

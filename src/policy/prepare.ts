import { recordKey, type Ability } from './compile.ts'
import { blankRecord, factRecord, type DefinitionSlot, type FactSlot } from './evaluate.ts'
import { covers, type Rule } from './rules.ts'
import { DEFINE, WEB_APP, type Definition, type Fact, type Permission, type Vocabulary } from './vocabulary.ts'

/** Everything about a permission that does not depend on facts. It is computed once, when the policy is loaded. */
export interface PreparedPermission {
  readonly permission: Permission
  /** the facts of its groups */
  readonly facts: readonly FactSlot[]
  /** the definitions that it needs, in the order of evaluation */
  readonly definitions: readonly DefinitionSlot[]
  /** the least value of the scope order that the scope table allows; of a permission of the web app alone, `web_app` */
  readonly requiredScope: string
  /** the row of its rule in the scope table; of a permission of the web app alone, `no token` */
  readonly scopeRow: string
  /** the row of its first rule in the permission table */
  readonly row: string
  /** the ids and reasons of all its rules in the permission table */
  readonly reason: string
}

/**
 * Prepares a permission.
 * @param scopes the compiled scope table: the required scope is the first one that it allows
 */
export function preparePermission(
  permission: Permission,
  vocabulary: Vocabulary,
  scopeRules: readonly Rule[],
  permissionRules: readonly Rule[],
  scopes: Ability,
): PreparedPermission {
  const { action, subject } = permission
  const { scopeOrder } = vocabulary
  const blank = blankRecord(vocabulary)
  const allows = (value: string) => scopes.allows(action, factRecord(blank, subject, [factSlot(scopeOrder)], { [scopeOrder.name]: value }))
  const rules = permissionRules.filter((rule) => covers(rule, permission))
  return {
    permission,
    facts: factSlots(permission.groups, vocabulary),
    definitions: definitionSlots([...permission.notFoundUnless, ...permission.forbiddenUnless], vocabulary, permissionRules),
    requiredScope: scopeOrder.values.find(allows) ?? (permission.surface === undefined ? '(no scope)' : WEB_APP),
    scopeRow: scopeRules.find((rule) => covers(rule, permission))?.row ?? (permission.surface === undefined ? '(no row)' : 'no token'),
    row: rules[0]?.row ?? '(no row)',
    reason: rules.map((rule) => `${rule.id}: ${rule.reason}`).join(' Or '),
  }
}

/** Prepares a definition that is evaluated without a permission. */
export function prepareDefinition(
  { name, groups }: Definition,
  vocabulary: Vocabulary,
  rules: readonly Rule[],
): Pick<PreparedPermission, 'facts' | 'definitions'> {
  return { facts: factSlots(groups, vocabulary), definitions: definitionSlots([name], vocabulary, rules) }
}

/** A fact with its key in a fact record. */
export function factSlot({ name, values }: Fact): FactSlot {
  return { name, key: recordKey(name), values: new Set(values) }
}

function factSlots(groups: readonly string[], vocabulary: Vocabulary): FactSlot[] {
  return groups.flatMap((group) => vocabulary.groups.get(group)!.map(factSlot))
}

/** Definitions and all definitions that they depend on, in the order of evaluation. */
function definitionSlots(names: readonly string[], vocabulary: Vocabulary, rules: readonly Rule[]): DefinitionSlot[] {
  const needed = withDependencies(names, vocabulary, rules)
  return [...vocabulary.definitions.keys()].filter((name) => needed.has(name)).map((name) => ({ name, key: recordKey(name) }))
}

function withDependencies(names: readonly string[], vocabulary: Vocabulary, rules: readonly Rule[]): Set<string> {
  const needed = new Set(names)
  // A Set can grow while it is iterated: added names are visited too.
  for (const name of needed) {
    for (const rule of rules.filter((candidate) => covers(candidate, { action: DEFINE, subject: name })))
      for (const term of Object.keys(rule.conditions)) if (vocabulary.definitions.has(term)) needed.add(term)
  }
  return needed
}

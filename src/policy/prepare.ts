import { recordKey, type Ability } from './compile.ts'
import { blankRecord, factRecord, type Askable, type Derivable } from './evaluate.ts'
import type { Rule } from './rules.ts'
import { DEFINE, type Ask, type Definition, type Fact, type Vocabulary } from './vocabulary.ts'

/** All that can be said of a pair before any request asks about it. */
export interface Prepared {
  readonly ask: Ask
  /** the facts of its groups */
  readonly facts: readonly Askable[]
  /** the definitions that it needs, in the order of their evaluation */
  readonly definitions: readonly Derivable[]
  readonly required: string
  readonly scopeRow: string
  readonly row: string
  readonly reason: string
}

/** Prepares a pair. The least value of the ladder that is allowed to it is found by asking the scope table. */
export function prepare(
  ask: Ask,
  vocabulary: Vocabulary,
  scopeRules: readonly Rule[],
  permissionRules: readonly Rule[],
  scopes: Ability,
): Prepared {
  const blank = blankRecord(vocabulary)
  const facts = factsOf(ask.of, vocabulary)
  const definitions = inOrder(ask.notFoundUnless, vocabulary, permissionRules)
  const covers = (rule: Rule) => rule.action.includes(ask.action) && rule.subject.includes(ask.subject)
  const candidates = permissionRules.filter(covers)
  const { ladder } = vocabulary
  const required = ladder.values.find(
    (value) => scopes(ask.action, factRecord(blank, ask.subject, [askable(ladder)], { [ladder.name]: value })) !== undefined,
  )
  return {
    ask,
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
  { name, of }: Definition,
  vocabulary: Vocabulary,
  rules: readonly Rule[],
): Pick<Prepared, 'facts' | 'definitions'> {
  return { facts: factsOf(of, vocabulary), definitions: inOrder([name], vocabulary, rules) }
}

function factsOf(groups: readonly string[], vocabulary: Vocabulary): Askable[] {
  return groups.flatMap((group) => vocabulary.groups.get(group)!.map(askable))
}

/** Definitions with all that they depend on, in the order of their evaluation. */
function inOrder(names: readonly string[], vocabulary: Vocabulary, rules: readonly Rule[]): Derivable[] {
  const needed = closure(names, rules, vocabulary)
  return [...vocabulary.definitions.keys()].filter((name) => needed.has(name)).map((name) => ({ name, key: recordKey(name) }))
}

/** A fact as records need it. */
export function askable({ name, values }: Fact): Askable {
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

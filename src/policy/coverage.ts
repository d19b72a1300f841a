import type { Engine } from './engine.ts'
import { cells } from './enumerate.ts'
import type { Facts } from './evaluate.ts'
import { DefinitionEvaluator, unmetConditions, type EvaluatedDefinition, type Values } from './matching.ts'
import { covers, isDefinition, type Rule } from './rules.ts'
import type { Definition, Permission } from './vocabulary.ts'

/** What coverage is measured of. */
export const coverageKinds = ['rules', 'conditions', 'cases', 'cells', 'scopes'] as const
export type CoverageKind = (typeof coverageKinds)[number]

/** One rule, value of a condition, case of a hand-written decision, or cell. */
export interface CoverageItem {
  readonly kind: CoverageKind
  readonly name: string
  /** how often it was observed */
  count: number
  /** the permission table is not asked in any of its cells: they are answered before */
  isUnasked: boolean
}

/** The coverage of one kind. */
export interface CoverageShare {
  readonly total: number
  readonly covered: number
  /** of those that are not covered: the table is never asked about them */
  readonly unasked: number
  /** the names of the others that are not covered */
  readonly missing: readonly string[]
}

/** The value of a condition of a rule: `rule`, fact or definition, value. */
export interface ConditionValue {
  readonly rule: string
  readonly name: string
  readonly value: string
}

/**
 * Counts what decisions cover of a policy. The denominators come from the enumerated space: only what occurs in a cell is counted.
 * - A rule is covered if it has decided: it allowed something, or made a definition true.
 * - A value of a condition is covered if it has decided: all other conditions of the rule held, so the rule matched because of the value,
 *   or did not match because of it.
 * - A case of a hand-written decision is covered if one of its cells is.
 * - A cell is covered if a decision had its facts. The cells of the scope table are counted apart.
 */
export class Coverage {
  readonly #engine: Engine
  readonly #items = new Map<string, CoverageItem>()
  /** the items of each cell, by its key */
  readonly #cells = new Map<string, readonly CoverageItem[]>()
  readonly #definitions = new Map<string, readonly CoverageItem[]>()
  readonly #conditions = new Map<CoverageItem, ConditionValue>()
  readonly #rulesOf = new Map<Permission, readonly Rule[]>()
  readonly #factsOf = new Map<Permission, readonly string[]>()
  readonly #definitionNames = new Map<Permission, readonly string[]>()
  readonly #evaluator: DefinitionEvaluator
  readonly #evaluated = new Map<EvaluatedDefinition, readonly CoverageItem[]>()

  constructor(engine: Engine) {
    this.#engine = engine
    this.#evaluator = new DefinitionEvaluator(engine)
    const { vocabulary, scopeRules, permissionRules } = engine
    for (const permission of vocabulary.permissions.values()) {
      const rules = permissionRules.filter((rule) => covers(rule, permission))
      this.#rulesOf.set(permission, rules)
      this.#factsOf.set(
        permission,
        permission.groups.flatMap((group) => vocabulary.groups.get(group)!.map(({ name }) => name)),
      )
    }
    // All rules are there, also those that decide in no cell.
    for (const { id } of [...scopeRules, ...permissionRules]) this.#item('rules', id)
    for (const permission of vocabulary.permissions.values()) this.#enumerateScopes(permission)
    for (const { permission, facts, field } of cells(vocabulary)) this.#enumerateCell(permission, facts, field)
  }

  /** Counts every cell once: each has a hand-written decision. */
  addAllCells(): void {
    for (const items of this.#cells.values()) for (const item of items) item.count++
  }

  /** Counts a decision of the permission table. @returns whether the policy has its cells */
  addDecision(permission: string, facts: Facts, fields: readonly string[] | undefined, count = 1): boolean {
    const known = this.#engine.vocabulary.permissions.get(permission)
    if (known === undefined) return false
    const keys = (fields ?? [undefined]).map((field) => cellKey(known, this.#factsOf.get(known)!, facts, field))
    return keys.map((key) => addTo(this.#cells.get(key), count)).every(Boolean)
  }

  /** Counts a decision of the scope table. @returns whether the policy has its cell */
  addScopeDecision(permission: string, facts: Facts, count = 1): boolean {
    return addTo(this.#cells.get(scopeKey(permission, facts[this.#engine.vocabulary.scopeOrder.name])), count)
  }

  /** Counts a definition that was evaluated without a permission. @returns whether the policy has it and its facts */
  addDefinition(name: string, facts: Facts, count = 1): boolean {
    const definition = this.#engine.vocabulary.definitions.get(name)
    if (definition === undefined || !this.#knows(definition, facts)) return false
    const key = [name, ...Object.entries(facts).flat()].join('\n')
    const known = this.#definitions.get(key) ?? this.#itemsOfDefinitions(facts, this.#upTo(definition)).items
    this.#definitions.set(key, known)
    return addTo(known, count)
  }

  /** The coverage of each kind. */
  shares(): Readonly<Record<CoverageKind, CoverageShare>> {
    const shareOf = (kind: CoverageKind): CoverageShare => {
      const items = [...this.#items.values()].filter((item) => item.kind === kind)
      const open = items.filter(({ count }) => count === 0)
      const missing = open.filter(({ isUnasked }) => !isUnasked).map(({ name }) => name)
      return { total: items.length, covered: items.length - open.length, unasked: open.length - missing.length, missing }
    }
    return Object.fromEntries(coverageKinds.map((kind) => [kind, shareOf(kind)])) as Record<CoverageKind, CoverageShare>
  }

  /** How often each rule has decided. */
  ruleCounts(): ReadonlyMap<string, number> {
    return new Map([...this.#items.values()].filter(({ kind }) => kind === 'rules').map(({ name, count }) => [name, count]))
  }

  /** How often each value of a condition has decided. */
  conditionCounts(): readonly (ConditionValue & { readonly count: number })[] {
    return [...this.#conditions].map(([{ count }, value]) => ({ ...value, count }))
  }

  #item(kind: CoverageKind, name: string): CoverageItem {
    const key = `${kind}\n${name}`
    const known = this.#items.get(key) ?? { kind, name, count: 0, isUnasked: true }
    this.#items.set(key, known)
    return known
  }

  #enumerateScopes({ id, action, subject, surface }: Permission): void {
    if (surface !== undefined) return

    const { name, values } = this.#engine.vocabulary.scopeOrder
    const rules = this.#engine.scopeRules.filter((rule) => covers(rule, { action, subject }))
    for (const value of values) {
      const items = [this.#item('scopes', `${id}: ${name} ${value}`), ...this.#itemsOfRules(rules, { [name]: value })]
      this.#remember(scopeKey(id, value), items, true)
    }
  }

  #enumerateCell(permission: Permission, facts: Facts, field: string | undefined): void {
    const { decisions } = this.#engine
    const { values, items: ofDefinitions } = this.#itemsOfDefinitions(facts, this.#definitionsOf(permission, facts, field))
    const rules = this.#rulesOf.get(permission)!.filter(({ fields }) => field === undefined || fields?.includes(field))
    const stated = decisions.permissions.get(permission.id)!
    const { response, name } = stated.lookUp(facts, field)
    let label = permission.id + (field === undefined ? ':' : ` (${field}):`)
    for (const fact in facts) label += ` ${fact} ${facts[fact]},`
    const items = [
      this.#item('cells', label.slice(0, -1)),
      this.#item('cases', `${stated.decisionOf(field)}: ${name}`),
      ...ofDefinitions,
      ...this.#itemsOfRules(rules, values),
    ]
    // Requests never ask about what only the web app does.
    this.#remember(
      cellKey(permission, this.#factsOf.get(permission)!, facts, field),
      items,
      response !== 401 && permission.surface === undefined,
    )
  }

  #remember(key: string, items: readonly CoverageItem[], isAsked: boolean): void {
    this.#cells.set(key, items)
    if (isAsked) for (const item of items) item.isUnasked = false
  }

  #itemsOfDefinitions(facts: Facts, names: readonly string[]): { values: Values; items: CoverageItem[] } {
    const { values, definitions } = this.#evaluator.evaluate(names, facts)
    const items = definitions.flatMap((definition) => {
      const known = this.#evaluated.get(definition) ?? this.#itemsOfRules(definition.rules, definition.values)
      this.#evaluated.set(definition, known)
      return known
    })
    return { values, items }
  }

  /** The rules that match, and the values of conditions that decide whether they do. */
  #itemsOfRules(rules: readonly Rule[], values: Values): CoverageItem[] {
    const items: CoverageItem[] = []
    for (const rule of rules) {
      const unmet = unmetConditions(rule, values)
      if (unmet.length > 1) continue
      if (unmet.length === 0) items.push(this.#item('rules', rule.id))
      for (const name of unmet.length === 1 ? unmet : Object.keys(rule.conditions))
        items.push(this.#conditionItem({ rule: rule.id, name, value: String(values[name]) }))
    }
    return items
  }

  #conditionItem(condition: ConditionValue): CoverageItem {
    const item = this.#item('conditions', `${condition.rule}: ${condition.name} ${condition.value}`)
    if (!this.#conditions.has(item)) this.#conditions.set(item, condition)
    return item
  }

  /** The definitions that are evaluated for a permission: in each of its cells the same. */
  #definitionsOf(permission: Permission, facts: Facts, field: string | undefined): readonly string[] {
    let known = this.#definitionNames.get(permission)
    if (known === undefined) {
      known = Object.keys(this.#engine.decide(permission.id, facts, field === undefined ? undefined : [field]).derived)
      this.#definitionNames.set(permission, known)
    }
    return known
  }

  #knows({ groups }: Definition, facts: Facts): boolean {
    return groups.every((group) => this.#engine.vocabulary.groups.get(group)!.every(({ name, values }) => values.includes(facts[name]!)))
  }

  /** A definition and those that it may depend on. */
  #upTo({ name, groups }: Definition): readonly string[] {
    const { definitions } = this.#engine.vocabulary
    const { permissionRules } = this.#engine
    const needed = new Set([name])
    // A Set can grow while it is iterated.
    for (const one of needed)
      for (const rule of permissionRules.filter((candidate) => isDefinition(candidate) && candidate.subject.includes(one)))
        for (const term of Object.keys(rule.conditions))
          if (definitions.get(term)?.groups.every((group) => groups.includes(group))) needed.add(term)
    return [...needed]
  }
}

function addTo(items: readonly CoverageItem[] | undefined, count: number): boolean {
  for (const item of items ?? []) item.count += count
  return items !== undefined
}

function scopeKey(permission: string, value: string | undefined): string {
  return `scope\n${permission}\n${value}`
}

function cellKey({ id }: Permission, names: readonly string[], facts: Facts, field: string | undefined): string {
  let key = `${id}\n${field ?? ''}`
  for (const name of names) key += `\n${facts[name]}`
  return key
}

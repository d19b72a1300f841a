import { unmetConditions } from './compile.ts'
import { withDependencies, type Engine } from './engine.ts'
import { cells, type Cell } from './enumerate.ts'
import type { Facts } from './evaluate.ts'
import { isKnown } from './points.ts'
import { covers, isDefinition, type Rule } from './rules.ts'
import type { Permission } from './vocabulary.ts'

/** What coverage is measured of, in words. */
export const coverageKinds = {
  rules: 'rules that decided',
  conditions: 'values of conditions that decided',
  cases: 'cases of the hand-written decisions',
  cells: 'cells of the permission table',
  scopes: 'cells of the scope table',
}
export type CoverageKind = keyof typeof coverageKinds

/** One rule, value of a condition, case of a hand-written decision, or cell. */
export interface CoverageItem {
  readonly kind: CoverageKind
  readonly name: string
  readonly condition: ConditionValue | undefined
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

  constructor(engine: Engine) {
    this.#engine = engine
    const { vocabulary, scopeRules, permissionRules } = engine
    // All rules are there, also those that decide in no cell.
    for (const { id } of [...scopeRules, ...permissionRules]) this.#item('rules', id)
    for (const permission of vocabulary.permissions.values()) this.#enumerateScopes(permission)
    for (const cell of cells(vocabulary)) this.#enumerateCell(cell)
  }

  /** Counts every cell once: each has a hand-written decision. */
  addAllCells(): void {
    for (const items of this.#cells.values()) for (const item of items) item.count++
  }

  /**
   * Counts a decision of the permission table.
   * @returns whether the policy has its cells
   */
  addDecision(permission: string, facts: Facts, fields: readonly string[] | undefined, count = 1): boolean {
    const known = this.#engine.vocabulary.permissions.get(permission)
    if (known === undefined) return false
    return (fields ?? [undefined]).map((field) => addTo(this.#cells.get(cellKey(known, facts, field)), count)).every(Boolean)
  }

  /**
   * Counts a decision of the scope table.
   * @returns whether the policy has its cell
   */
  addScopeDecision(permission: string, facts: Facts, count = 1): boolean {
    return addTo(this.#cells.get(scopeKey(permission, facts[this.#engine.vocabulary.scopeOrder.name])), count)
  }

  /**
   * Counts a definition that was evaluated without a permission.
   * @returns whether the policy has it and its facts
   */
  addDefinition(name: string, facts: Facts, count = 1): boolean {
    const { vocabulary, permissionRules, holds } = this.#engine
    const definition = vocabulary.definitions.get(name)
    if (definition === undefined || !isKnown(definition.facts, facts)) return false
    const needed = withDependencies([name], vocabulary, permissionRules)
    const derived = Object.fromEntries(needed.map((one) => [one, holds(one, facts)]))
    return addTo(this.#itemsOfRules(definitionRules(this.#engine, derived), { ...facts, ...derived }), count)
  }

  /** The coverage of each kind. */
  shares(): Readonly<Record<CoverageKind, CoverageShare>> {
    const shareOf = (kind: string): CoverageShare => {
      const items = [...this.#items.values()].filter((item) => item.kind === kind)
      const open = items.filter(({ count }) => count === 0)
      const missing = open.filter(({ isUnasked }) => !isUnasked).map(({ name }) => name)
      return { total: items.length, covered: items.length - open.length, unasked: open.length - missing.length, missing }
    }
    return Object.fromEntries(Object.keys(coverageKinds).map((kind) => [kind, shareOf(kind)])) as Record<CoverageKind, CoverageShare>
  }

  /** How often each rule has decided. */
  ruleCounts(): ReadonlyMap<string, number> {
    return new Map([...this.#items.values()].filter(({ kind }) => kind === 'rules').map(({ name, count }) => [name, count]))
  }

  /** How often each value of a condition has decided. */
  conditionCounts(): readonly (ConditionValue & { readonly count: number })[] {
    return [...this.#items.values()].flatMap(({ condition, count }) => (condition === undefined ? [] : [{ ...condition, count }]))
  }

  #item(kind: CoverageKind, name: string, condition?: ConditionValue): CoverageItem {
    const key = `${kind}\n${name}`
    const known = this.#items.get(key) ?? { kind, name, condition, count: 0, isUnasked: true }
    this.#items.set(key, known)
    return known
  }

  #enumerateScopes(permission: Permission): void {
    const { id, surface } = permission
    if (surface !== undefined) return
    const { name, values } = this.#engine.vocabulary.scopeOrder
    const rules = this.#engine.scopeRules.filter((rule) => covers(rule, permission))
    for (const value of values) {
      const items = [this.#item('scopes', `${id}: ${name} ${value}`), ...this.#itemsOfRules(rules, { [name]: value })]
      this.#remember(scopeKey(id, value), items, true)
    }
  }

  #enumerateCell({ permission, facts, field, fields }: Cell): void {
    const { decisions, permissionRules, decide } = this.#engine
    const { derived } = decide(permission.id, facts, fields)
    const rules = permissionRules.filter((rule) => covers(rule, permission) && (field === undefined || rule.fields?.includes(field)))
    const stated = decisions.permissions.get(permission.id)!
    const { response, name } = stated.lookUp(facts, field)
    const label = permission.id + (field === undefined ? ':' : ` (${field}):`)
    const described = Object.entries(facts).map(([fact, value]) => ` ${fact} ${value}`)
    const items = [
      this.#item('cells', label + described.join()),
      this.#item('cases', `${stated.decisionOf(field)}: ${name}`),
      ...this.#itemsOfRules([...definitionRules(this.#engine, derived), ...rules], { ...facts, ...derived }),
    ]
    // Requests never ask about what only the web app does.
    this.#remember(cellKey(permission, facts, field), items, response !== 401 && permission.surface === undefined)
  }

  #remember(key: string, items: readonly CoverageItem[], isAsked: boolean): void {
    this.#cells.set(key, items)
    if (isAsked) for (const item of items) item.isUnasked = false
  }

  /** The rules that match, and the values of conditions that decide whether they do. */
  #itemsOfRules(rules: readonly Rule[], values: Readonly<Record<string, string | boolean>>): CoverageItem[] {
    return rules.flatMap(({ id, conditions }) => {
      const unmet = unmetConditions(conditions, values)
      if (unmet.length > 1) return []
      const deciding = unmet.length === 1 ? unmet : Object.keys(conditions)
      const items = deciding.map((name) => {
        const value = String(values[name])
        return this.#item('conditions', `${id}: ${name} ${value}`, { rule: id, name, value })
      })
      return unmet.length === 0 ? [this.#item('rules', id), ...items] : items
    })
  }
}

/** The rules of the definitions that were evaluated. */
function definitionRules({ permissionRules }: Engine, derived: Readonly<Record<string, boolean>>): Rule[] {
  return permissionRules.filter((rule) => isDefinition(rule) && rule.subject.some((name) => Object.hasOwn(derived, name)))
}

function addTo(items: readonly CoverageItem[] | undefined, count: number): boolean {
  for (const item of items ?? []) item.count += count
  return items !== undefined
}

function scopeKey(permission: string, value: string | undefined): string {
  return `scope\n${permission}\n${value}`
}

function cellKey({ id, facts: names }: Permission, facts: Facts, field: string | undefined): string {
  return [id, field, ...names.map(({ name }) => facts[name])].join('\n')
}

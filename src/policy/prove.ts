import { performance } from 'node:perf_hooks'
import type { Decision, Engine } from './engine.ts'
import { cells, type Cell } from './enumerate.ts'
import type { Rule } from './rules.ts'

/** What an operation says of itself, to be held against the tables. */
export interface OperationClaim {
  /** the operation's id */
  readonly id: string
  readonly permission: string
  /** the row that it says decides it */
  readonly row: string
}

/** What was proved, or why not. */
export interface Proof {
  readonly permissions: number
  readonly cells: number
  readonly milliseconds: number
  /** empty where the tables hold */
  readonly failures: readonly string[]
}

/**
 * Proves over the whole decision space what must hold of any tables (specification, section 5):
 * scopes are cumulative, and each row opens to the one that the vocabulary says; every pair stands in exactly one S row and in rules of exactly one P or X row;
 * every pair is allowed for someone, and every rule decides something; what stands in no row is denied; where
 * something that the request names may not be seen, nothing is allowed; every operation's stated row is the one
 * that decides it; and every pair is asked by an operation.
 */
export function proveInvariants(engine: Engine, claims: readonly OperationClaim[]): Proof {
  const start = performance.now()
  const failures = [...proveScopes(engine), ...proveRows(engine)]
  const space = decideAllCells(engine, failures)
  failures.push(...proveClaims(engine, claims, space.rows))
  return { permissions: engine.vocabulary.permissions.size, cells: space.count, milliseconds: performance.now() - start, failures }
}

function proveScopes({ vocabulary, checkScope: checkScope }: Engine): string[] {
  const { scopeOrder: scopeOrder, permissions: permissions, minimumScopes: minimumScopes } = vocabulary
  const failures: string[] = []
  for (const { id: id } of permissions.values()) {
    const { row, required } = checkScope(id, { [scopeOrder.name]: scopeOrder.values[0]! })
    const least = minimumScopes.get(row)
    if (least !== undefined && required !== least) failures.push(`"${id}" is opened to ${required}; row ${row} opens to ${least}`)
    const allowed = scopeOrder.values.map((value) => checkScope(id, { [scopeOrder.name]: value }).allowed)
    if (allowed[0]) failures.push(`"${id}" is allowed to ${scopeOrder.name} ${scopeOrder.values[0]}`)
    if (!allowed.at(-1)) failures.push(`"${id}" is not allowed to ${scopeOrder.name} ${scopeOrder.values.at(-1)}`)
    for (let i = 1; i < allowed.length; i++) {
      if (allowed[i - 1] && !allowed[i])
        failures.push(`scopes are not cumulative: "${id}" is allowed to ${scopeOrder.values[i - 1]} and not to ${scopeOrder.values[i]}`)
    }
  }
  return failures
}

const covers = (rule: Rule, action: string, subject: string) => rule.action.includes(action) && rule.subject.includes(subject)

function proveRows({ vocabulary, scopeRules, permissionRules }: Engine): string[] {
  const failures: string[] = []
  for (const { id: id, action, subject } of vocabulary.permissions.values()) {
    const scopes = scopeRules.filter((rule) => covers(rule, action, subject)).map((rule) => rule.id)
    if (scopes.length !== 1) failures.push(`"${id}" stands in ${scopes.length === 0 ? 'no S row' : `several S rows: ${scopes.join(', ')}`}`)
    const permissions = new Set(permissionRules.filter((rule) => covers(rule, action, subject)).map((rule) => rule.row))
    if (permissions.size !== 1)
      failures.push(`"${id}" stands in ${permissions.size === 0 ? 'no P or X row' : `several rows: ${[...permissions].join(', ')}`}`)
  }
  for (const action of vocabulary.actions) {
    for (const subject of vocabulary.subjects) {
      if (vocabulary.permissions.has(`${action} ${subject}`)) continue
      const rule = [...scopeRules, ...permissionRules].find((candidate) => covers(candidate, action, subject))
      if (rule !== undefined) failures.push(`${rule.id} allows "${action} ${subject}", which is never asked`)
    }
  }
  const used = new Set([...scopeRules, ...permissionRules].map((rule) => rule.row))
  for (const row of vocabulary.rows.keys()) if (!used.has(row)) failures.push(`row ${row} has no rule`)
  return failures
}

/** Asks every cell once. Adds what fails; returns the rows seen deciding each pair. */
function decideAllCells(engine: Engine, failures: string[]): { count: number; rows: Map<string, Set<string>> } {
  const { vocabulary, permissionRules } = engine
  const rows = new Map<string, Set<string>>()
  const idle = new Set(permissionRules.filter((rule) => !rule.row.startsWith('D')).map((rule) => rule.id))
  const seen = new Map([...vocabulary.definitions.keys()].map((name) => [name, new Set<boolean>()]))
  // One line for a fault, however many cells it has.
  const examples = new Map<string, { readonly first: Cell; count: number }>()
  const note = (failure: string, cell: Cell): void => {
    const example = examples.get(failure)
    if (example === undefined) examples.set(failure, { first: cell, count: 1 })
    else example.count++
  }
  let count = 0
  for (const cell of cells(vocabulary)) {
    count++
    const decision = decideCell(engine, cell)
    for (const [name, value] of Object.entries(decision.derived)) seen.get(name)!.add(value)
    if (decision.outcome !== 'allowed') continue
    idle.delete(decision.rule!)
    const deciding = rows.get(decision.permission) ?? new Set()
    rows.set(decision.permission, deciding.add(decision.row))
    const hidden = cell.permission.notFoundUnless.find((name) => decision.derived[name] !== true)
    if (hidden !== undefined) note(`${decision.rule} allows "${decision.permission}" without ${hidden}`, cell)
    const read = `read ${cell.permission.subject}`
    if (vocabulary.permissions.has(read) && engine.decide(read, cell.facts).outcome !== 'allowed')
      note(`${decision.rule} allows "${decision.permission}" where "${read}" is denied`, cell)
  }
  for (const [failure, { first, count: more }] of examples) failures.push(`${failure}: in ${more} cells, as ${describeCell(first)}`)
  for (const pair of vocabulary.permissions.keys()) if (!rows.has(pair)) failures.push(`"${pair}" is allowed for nobody`)
  for (const id of idle) failures.push(`${id} decides nothing that no other rule decides`)
  for (const [name, values] of seen) if (values.size < 2) failures.push(`${name} is always the same, or never asked`)
  return { count, rows }
}

function proveClaims({ vocabulary }: Engine, claims: readonly OperationClaim[], rows: Map<string, Set<string>>): string[] {
  const claimed = new Set(claims.map(({ permission: permission }) => permission))
  const idle = claims.length === 0 ? [] : [...vocabulary.permissions.keys()].filter((pair) => !claimed.has(pair))
  const failures = idle.map((pair) => `"${pair}" is asked by no operation`)
  for (const { id, permission: permission, row } of claims) {
    if (!vocabulary.permissions.has(permission)) failures.push(`operation ${id} needs "${permission}", which is no pair of the vocabulary`)
    const deciding = [...(rows.get(permission) ?? [])]
    if (deciding.length !== 1 || deciding[0] !== row)
      failures.push(`operation ${id} says it is decided by ${row}; it is decided by ${deciding.join(', ') || 'no row'}`)
  }
  return failures
}

function decideCell(engine: Engine, { permission: { id: id }, facts, field }: Cell): Decision {
  return engine.decide(id, facts, field === undefined ? undefined : [field])
}

function describeCell({ facts, field }: Cell): string {
  const parts = Object.entries(facts).map(([name, value]) => `${name} ${value}`)
  return [...parts, ...(field === undefined ? [] : [`field ${field}`])].join(', ')
}

import { performance } from 'node:perf_hooks'
import type { Decision, Engine } from './engine.ts'
import { cells, type Cell } from './enumerate.ts'
import type { Rule } from './rules.ts'

/** What an operation says of itself, to be held against the tables. */
export interface Claim {
  /** the operation's id */
  readonly id: string
  readonly pair: string
  /** the row that it says decides it */
  readonly row: string
}

/** What was proved, or why not. */
export interface Proof {
  readonly pairs: number
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
export function prove(engine: Engine, claims: readonly Claim[]): Proof {
  const start = performance.now()
  const failures = [...proveScopes(engine), ...proveRows(engine)]
  const space = walk(engine, failures)
  failures.push(...proveClaims(engine, claims, space.rows))
  return { pairs: engine.vocabulary.asks.size, cells: space.count, milliseconds: performance.now() - start, failures }
}

function proveScopes({ vocabulary, scope }: Engine): string[] {
  const { ladder, asks, opens } = vocabulary
  const failures: string[] = []
  for (const { pair } of asks.values()) {
    const { row, required } = scope(pair, { [ladder.name]: ladder.values[0]! })
    const least = opens.get(row)
    if (least !== undefined && required !== least) failures.push(`"${pair}" is opened to ${required}; row ${row} opens to ${least}`)
    const allowed = ladder.values.map((value) => scope(pair, { [ladder.name]: value }).allowed)
    if (allowed[0]) failures.push(`"${pair}" is allowed to ${ladder.name} ${ladder.values[0]}`)
    if (!allowed.at(-1)) failures.push(`"${pair}" is not allowed to ${ladder.name} ${ladder.values.at(-1)}`)
    for (let i = 1; i < allowed.length; i++) {
      if (allowed[i - 1] && !allowed[i])
        failures.push(`scopes are not cumulative: "${pair}" is allowed to ${ladder.values[i - 1]} and not to ${ladder.values[i]}`)
    }
  }
  return failures
}

const covers = (rule: Rule, action: string, subject: string) => rule.action.includes(action) && rule.subject.includes(subject)

function proveRows({ vocabulary, scopeRules, permissionRules }: Engine): string[] {
  const failures: string[] = []
  for (const { pair, action, subject } of vocabulary.asks.values()) {
    const scopes = scopeRules.filter((rule) => covers(rule, action, subject)).map((rule) => rule.id)
    if (scopes.length !== 1)
      failures.push(`"${pair}" stands in ${scopes.length === 0 ? 'no S row' : `several S rows: ${scopes.join(', ')}`}`)
    const permissions = new Set(permissionRules.filter((rule) => covers(rule, action, subject)).map((rule) => rule.row))
    if (permissions.size !== 1)
      failures.push(`"${pair}" stands in ${permissions.size === 0 ? 'no P or X row' : `several rows: ${[...permissions].join(', ')}`}`)
  }
  for (const action of vocabulary.actions) {
    for (const subject of vocabulary.subjects) {
      if (vocabulary.asks.has(`${action} ${subject}`)) continue
      const rule = [...scopeRules, ...permissionRules].find((candidate) => covers(candidate, action, subject))
      if (rule !== undefined) failures.push(`${rule.id} allows "${action} ${subject}", which is never asked`)
    }
  }
  const used = new Set([...scopeRules, ...permissionRules].map((rule) => rule.row))
  for (const row of vocabulary.rows.keys()) if (!used.has(row)) failures.push(`row ${row} has no rule`)
  return failures
}

/** Asks every cell once. Adds what fails; returns the rows seen deciding each pair. */
function walk(engine: Engine, failures: string[]): { count: number; rows: Map<string, Set<string>> } {
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
    const decision = ask(engine, cell)
    for (const [name, value] of Object.entries(decision.derived)) seen.get(name)!.add(value)
    if (decision.outcome !== 'allowed') continue
    idle.delete(decision.rule!)
    const deciding = rows.get(decision.pair) ?? new Set()
    rows.set(decision.pair, deciding.add(decision.row))
    const hidden = cell.ask.notFoundUnless.find((name) => decision.derived[name] !== true)
    if (hidden !== undefined) note(`${decision.rule} allows "${decision.pair}" without ${hidden}`, cell)
    const read = `read ${cell.ask.subject}`
    if (vocabulary.asks.has(read) && engine.decide(read, cell.facts).outcome !== 'allowed')
      note(`${decision.rule} allows "${decision.pair}" where "${read}" is denied`, cell)
  }
  for (const [failure, { first, count: more }] of examples) failures.push(`${failure}: in ${more} cells, as ${show(first)}`)
  for (const pair of vocabulary.asks.keys()) if (!rows.has(pair)) failures.push(`"${pair}" is allowed for nobody`)
  for (const id of idle) failures.push(`${id} decides nothing that no other rule decides`)
  for (const [name, values] of seen) if (values.size < 2) failures.push(`${name} is always the same, or never asked`)
  return { count, rows }
}

function proveClaims({ vocabulary }: Engine, claims: readonly Claim[], rows: Map<string, Set<string>>): string[] {
  const claimed = new Set(claims.map(({ pair }) => pair))
  const idle = claims.length === 0 ? [] : [...vocabulary.asks.keys()].filter((pair) => !claimed.has(pair))
  const failures = idle.map((pair) => `"${pair}" is asked by no operation`)
  for (const { id, pair, row } of claims) {
    if (!vocabulary.asks.has(pair)) failures.push(`operation ${id} needs "${pair}", which is no pair of the vocabulary`)
    const deciding = [...(rows.get(pair) ?? [])]
    if (deciding.length !== 1 || deciding[0] !== row)
      failures.push(`operation ${id} says it is decided by ${row}; it is decided by ${deciding.join(', ') || 'no row'}`)
  }
  return failures
}

function ask(engine: Engine, { ask: { pair }, facts, field }: Cell): Decision {
  return engine.decide(pair, facts, field === undefined ? undefined : [field])
}

function show({ facts, field }: Cell): string {
  const parts = Object.entries(facts).map(([name, value]) => `${name} ${value}`)
  return [...parts, ...(field === undefined ? [] : [`field ${field}`])].join(', ')
}

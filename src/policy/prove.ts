import { performance } from 'node:perf_hooks'
import type { Engine } from './engine.ts'
import { cells, type Cell } from './enumerate.ts'
import type { Facts } from './evaluate.ts'
import { covers, isDefinition } from './rules.ts'

/** What an operation states about itself. The proof compares it with the tables. */
export interface OperationClaim {
  /** the id of the operation */
  readonly id: string
  /** the permission that it needs: `action Subject` */
  readonly permission: string
  /** the row of the permission table that decides it */
  readonly row: string
  /** the further permissions that it asks, about what its body names */
  readonly also?: readonly FurtherClaim[]
}

/** A further permission of an operation. */
export interface FurtherClaim extends Pick<OperationClaim, 'permission' | 'row'> {
  /** the member of the body */
  readonly member: string
}

/** The result of a proof. */
export interface Proof {
  /** the number of permissions */
  readonly permissions: number
  /** the number of cells in the decision space */
  readonly cells: number
  readonly milliseconds: number
  /** one message for each violation; empty if all invariants hold */
  readonly failures: readonly string[]
}

/**
 * Proves the invariants of the tables over the whole decision space (spec §5):
 * - scopes are cumulative, and each S row requires the minimum scope that the vocabulary states;
 * - each permission has exactly one S rule, and P or X rules of exactly one row;
 * - each permission is allowed in some cell, each rule decides some cell, and each definition has both values;
 * - a rule allows nothing outside the vocabulary;
 * - nothing is allowed if a definition under `not_found_unless` fails, or if the subject may not be read;
 * - each operation states the row that decides it, and each permission is needed by an operation;
 * - a further permission of an operation requires no greater scope than its own, which is checked before the body is read.
 * @param claims without any, the last invariant is skipped
 */
export function proveInvariants(engine: Engine, claims: readonly OperationClaim[]): Proof {
  const start = performance.now()
  const space = decidedSpaceOf(engine)
  const failures = [...proveScopes(engine), ...proveRows(engine), ...space.failures, ...proveClaims(engine, claims, space.decidingRows)]
  return { permissions: engine.vocabulary.permissions.size, cells: space.count, milliseconds: performance.now() - start, failures }
}

function proveScopes({ vocabulary, checkScope }: Engine): string[] {
  const { permissions, minimumScopes } = vocabulary
  const { name, values } = vocabulary.scopeOrder
  const failures: string[] = []
  for (const id of permissions.keys()) {
    const { row, required } = checkScope(id, { [name]: values[0]! })
    const minimum = minimumScopes.get(row)
    if (minimum !== undefined && required !== minimum)
      failures.push(`the minimum scope of "${id}" is ${required}; its row ${row} has the minimum scope ${minimum}`)
    const allowed = values.map((value) => checkScope(id, { [name]: value }).allowed)
    if (allowed[0]) failures.push(`"${id}" is allowed with ${name} ${values[0]}`)
    if (!allowed.at(-1)) failures.push(`"${id}" is not allowed with ${name} ${values.at(-1)}`)
    for (let i = 1; i < allowed.length; i++) {
      if (allowed[i - 1] && !allowed[i])
        failures.push(`scopes are not cumulative: "${id}" is allowed with ${values[i - 1]} but not with ${values[i]}`)
    }
  }
  return failures
}

function proveRows({ vocabulary, scopeRules, permissionRules }: Engine): string[] {
  const failures: string[] = []
  for (const permission of vocabulary.permissions.values()) {
    const { id } = permission
    const scopes = scopeRules.filter((rule) => covers(rule, permission)).map((rule) => rule.id)
    if (scopes.length === 0) failures.push(`"${id}" has no S rule`)
    if (scopes.length > 1) failures.push(`"${id}" has several S rules: ${scopes.join(', ')}`)
    const rows = new Set(permissionRules.filter((rule) => covers(rule, permission)).map((rule) => rule.row))
    if (rows.size === 0) failures.push(`"${id}" has no P or X rule`)
    if (rows.size > 1) failures.push(`"${id}" has rules of several rows: ${[...rows].join(', ')}`)
  }
  const rules = [...scopeRules, ...permissionRules]
  for (const action of vocabulary.actions) {
    const candidates = rules.filter((rule) => rule.action.includes(action))
    for (const subject of vocabulary.subjects) {
      const id = `${action} ${subject}`
      if (vocabulary.permissions.has(id)) continue
      const rule = candidates.find((candidate) => candidate.subject.includes(subject))
      if (rule !== undefined) failures.push(`${rule.id} allows "${id}", which is not a permission of the vocabulary`)
    }
  }
  const used = new Set(rules.map((rule) => rule.row))
  for (const row of vocabulary.rows.keys()) if (!used.has(row)) failures.push(`row ${row} has no rule`)
  return failures
}

interface DecidedSpace {
  readonly count: number
  readonly failures: readonly string[]
  /** permission → the rows of the rules that allow it in some cell */
  readonly decidingRows: ReadonlyMap<string, ReadonlySet<string>>
}

const decidedSpaces = new WeakMap<Engine, DecidedSpace>()

/** The decided space of an engine. An engine never changes, so a process that creates several services decides it once. */
function decidedSpaceOf(engine: Engine): DecidedSpace {
  const space = decidedSpaces.get(engine) ?? decideAllCells(engine)
  decidedSpaces.set(engine, space)
  return space
}

/** Decides every cell once. */
function decideAllCells(engine: Engine): DecidedSpace {
  const { vocabulary, permissionRules } = engine
  const decidingRows = new Map<string, Set<string>>()
  const idleRules = new Set(permissionRules.filter((rule) => !isDefinition(rule)).map((rule) => rule.id))
  const derivedValues = new Map([...vocabulary.definitions.keys()].map((name) => [name, new Set<boolean>()]))
  const violations = new Violations()
  const canRead = createReadDecisions(engine)
  let count = 0
  for (const cell of cells(vocabulary)) {
    count++
    const { id, subject, notFoundUnless } = cell.permission
    const decision = engine.decide(id, cell.facts, cell.field === undefined ? undefined : [cell.field])
    for (const [name, value] of Object.entries(decision.derived)) derivedValues.get(name)!.add(value)
    if (decision.outcome !== 'allowed') continue
    idleRules.delete(decision.rule!)
    decidingRows.set(id, (decidingRows.get(id) ?? new Set()).add(decision.row))
    const failed = notFoundUnless.find((name) => decision.derived[name] !== true)
    if (failed !== undefined) violations.add(`${decision.rule} allows "${id}" without ${failed}`, cell)
    if (!canRead(subject, cell.facts)) violations.add(`${decision.rule} allows "${id}" where "read ${subject}" is denied`, cell)
  }
  const failures = violations.messages()
  for (const id of vocabulary.permissions.keys()) if (!decidingRows.has(id)) failures.push(`"${id}" is never allowed`)
  for (const rule of idleRules) failures.push(`${rule} decides no cell`)
  for (const [name, values] of derivedValues) {
    if (values.size === 0) failures.push(`no permission uses ${name}`)
    if (values.size === 1) failures.push(`${name} is ${[...values].join()} in all cells`)
  }
  return { count, failures, decidingRows }
}

/**
 * Returns a function that decides whether a subject may be read. A subject without that permission may. Many cells have the same
 * facts about it, so each decision is made once.
 */
function createReadDecisions({ vocabulary, decide }: Engine): (subject: string, facts: Facts) => boolean {
  const decided = new Map<string, boolean>()
  return (subject, facts) => {
    const permission = vocabulary.permissions.get(`read ${subject}`)
    if (permission === undefined) return true
    let key = subject
    for (const group of permission.groups) for (const { name } of vocabulary.groups.get(group)!) key += `\n${facts[name]}`
    const known = decided.get(key)
    if (known !== undefined) return known
    const allowed = decide(permission.id, facts).outcome === 'allowed'
    decided.set(key, allowed)
    return allowed
  }
}

/** Violations of an invariant in single cells: one message for each kind, with the first cell as an example. */
class Violations {
  readonly #byMessage = new Map<string, { readonly example: Cell; count: number }>()

  add(message: string, cell: Cell): void {
    const violation = this.#byMessage.get(message)
    if (violation === undefined) this.#byMessage.set(message, { example: cell, count: 1 })
    else violation.count++
  }

  messages(): string[] {
    return [...this.#byMessage].map(([message, { example, count }]) => `${message} (${count} cells, for example ${describeCell(example)})`)
  }
}

function proveClaims(engine: Engine, claims: readonly OperationClaim[], decidingRows: DecidedSpace['decidingRows']): string[] {
  const { vocabulary } = engine
  const needed = new Set(claims.map(({ permission }) => permission))
  const unused = claims.length === 0 ? [] : [...vocabulary.permissions.keys()].filter((id) => !needed.has(id))
  const failures = unused.map((id) => `no operation needs "${id}"`)
  const further = claims.flatMap(({ id, also = [] }) => also.map(({ member, ...claim }) => ({ id: `${id} (${member})`, ...claim })))
  for (const { id, permission, row } of [...claims, ...further]) {
    if (!vocabulary.permissions.has(permission))
      failures.push(`operation ${id} needs "${permission}", which is not a permission of the vocabulary`)
    const rows = [...(decidingRows.get(permission) ?? [])]
    if (rows.length !== 1 || rows[0] !== row)
      failures.push(`operation ${id} states row ${row}; the deciding row is ${rows.join(', ') || 'none'}`)
  }
  return [...failures, ...claims.flatMap((claim) => proveFurther(engine, claim))]
}

function proveFurther({ vocabulary, checkScope }: Engine, { id, permission, also = [] }: OperationClaim): string[] {
  const { name, values } = vocabulary.scopeOrder
  const known = also.filter((claim) => vocabulary.permissions.has(claim.permission) && vocabulary.permissions.has(permission))
  const scopeOf = (one: string) => checkScope(one, { [name]: values[0]! }).required
  return known.flatMap((claim) => {
    const about = `operation ${id} (${claim.member}) needs "${claim.permission}"`
    return [
      ...(vocabulary.permissions.get(claim.permission)!.fields === undefined ? [] : [`${about}, which is decided by field`]),
      ...(values.indexOf(scopeOf(claim.permission)) > values.indexOf(scopeOf(permission))
        ? [`${about}, which requires ${scopeOf(claim.permission)}; the scope of the operation is ${scopeOf(permission)}`]
        : []),
    ]
  })
}

function describeCell({ facts, field }: Cell): string {
  const parts = Object.entries(facts).map(([name, value]) => `${name} ${value}`)
  return [...parts, ...(field === undefined ? [] : [`field ${field}`])].join(', ')
}

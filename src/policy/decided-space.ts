import type { Decision, Engine } from './engine.ts'
import { cells, type Cell } from './enumerate.ts'
import type { Facts } from './evaluate.ts'
import type { HandWrittenResponse } from './hand-written-cases.ts'
import { isDefinition, type Rule } from './rules.ts'

/**
 * Finds the rules of the permission table that can be removed, each alone, without a change of any decision. Their order makes no
 * difference: of two rules that say the same, both are found. Each rule of the scope table decides something, because each permission has
 * exactly one. Cells are added one by one, so that no space is too large to keep.
 */
class Redundancy {
  readonly #engine: Engine
  /** the rules that no cell needs so far */
  readonly #rules: Set<string>
  #definitions: Rule[]

  constructor(engine: Engine) {
    this.#engine = engine
    this.#rules = new Set(engine.permissionRules.map(({ id }) => id))
    this.#definitions = engine.permissionRules.filter(isDefinition)
  }

  /** @param decision of the whole table in the cell */
  add(cell: Cell, decision: Decision): void {
    // A rule that allows changes a decision where no other rule allows the same. What a definition changes is found by deciding without it.
    if (decision.rules.length === 1) this.#rules.delete(decision.rules[0]!)
    if (this.#definitions.length === 0) return
    const needed = this.#definitions.filter((rule) => concerns(rule, decision) && changes(this.#engine, rule, cell, decision))
    if (needed.length === 0) return
    for (const { id } of needed) this.#rules.delete(id)
    this.#definitions = this.#definitions.filter(({ id }) => this.#rules.has(id))
  }

  /** The ids of the rules that can be removed, if all cells were added. */
  get found(): string[] {
    return [...this.#rules]
  }
}

/** Whether a decision depends on the definition that a rule gives. */
function concerns({ subject }: Rule, { derived }: Decision): boolean {
  return subject.some((name) => derived[name] === true)
}

/** Whether a decision changes if a rule is removed. */
function changes(engine: Engine, { id }: Rule, { permission, facts }: Cell, { fields, outcome }: Decision): boolean {
  return engine.decide(permission.id, facts, fields, id).outcome !== outcome
}

/** One invariant, or what the decisions say of one permission. */
export interface Check {
  readonly name: string
  /** one message for each violation; empty if it holds */
  readonly failures: readonly string[]
}

/** What {@link decidedSpaceOf} finds. */
export interface DecidedSpace {
  readonly count: number
  /** one for each permission, and one for all definitions */
  readonly checks: readonly Check[]
  /** permission → the rows of the rules that allow it in some cell */
  readonly decidingRows: ReadonlyMap<string, ReadonlySet<string>>
  /** the ids of the rules of the permission table that can be removed, each alone, without a change of any decision */
  readonly redundantRules: readonly string[]
}

const decidedSpaces = new WeakMap<Engine, DecidedSpace>()

/** The decided space of an engine. An engine never changes, so a process that creates several services decides it once. */
export function decidedSpaceOf(engine: Engine): DecidedSpace {
  const space = decidedSpaces.get(engine) ?? decideAllCells(engine)
  decidedSpaces.set(engine, space)
  return space
}

/** Decides every cell once. */
function decideAllCells(engine: Engine): DecidedSpace {
  const { vocabulary, decisions } = engine
  const decidingRows = new Map<string, Set<string>>()
  const redundancy = new Redundancy(engine)
  const derivedValues = new Map([...vocabulary.definitions.keys()].map((name) => [name, new Set<boolean>()]))
  const violations = new Map([...vocabulary.permissions.keys()].map((id) => [id, new Violations()]))
  // A subject without that permission may be read.
  const canRead = (subject: string, facts: Facts) =>
    !vocabulary.permissions.has(`read ${subject}`) || engine.decide(`read ${subject}`, facts).outcome === 'allowed'
  let count = 0
  for (const cell of cells(vocabulary)) {
    count++
    const { id, subject, notFoundUnless, forbiddenUnless } = cell.permission
    const found = violations.get(id)!
    found.count++
    const decision = engine.decide(id, cell.facts, cell.fields)
    redundancy.add(cell, decision)
    for (const name in decision.derived) derivedValues.get(name)!.add(decision.derived[name]!)
    const { response, name } = decisions.permissions.get(id)!.lookUp(cell.facts, cell.field)
    if (!answers(decision, response)) found.add(describeDifference(engine, cell, decision, response, name), cell)
    if (decision.outcome !== 'allowed') continue
    decidingRows.set(id, (decidingRows.get(id) ?? new Set()).add(decision.row))
    const isMissing = (name: string) => decision.derived[name] !== true
    const failed = notFoundUnless.find(isMissing) ?? forbiddenUnless.find(isMissing)
    if (failed !== undefined) found.add(`${decision.rules.join(', ')} allows "${id}" without ${failed}`, cell)
    if (id !== `read ${subject}` && !canRead(subject, cell.facts))
      found.add(`${decision.rules.join(', ')} allows "${id}" where "read ${subject}" is denied`, cell)
  }
  const checks = [...violations].map(([id, found]) => ({
    name: `"${id}" answers what the decisions say in ${found.count} cells`,
    failures: [...found.messages(), ...(decidingRows.has(id) ? [] : [`"${id}" is never allowed`])],
  }))
  checks.push({ name: 'each definition is true in some cells', failures: constants(derivedValues) })
  return { count, checks, decidingRows, redundantRules: redundancy.found }
}

/** Definitions that do not make a difference. */
function constants(derivedValues: ReadonlyMap<string, ReadonlySet<boolean>>): string[] {
  return [...derivedValues].flatMap(([name, values]) => {
    if (values.size === 0) return [`no permission uses ${name}`]
    return values.size === 1 ? [`${name} is ${[...values].join()} in all cells`] : []
  })
}

/** Whether a decision leads to a response. Before a 401 the permission table is not asked, so there it must only deny. */
function answers({ outcome }: Decision, response: HandWrittenResponse): boolean {
  return response === 401 ? outcome !== 'allowed' : responses[outcome] === response
}

const responses = { allowed: 'ok', forbidden: 403, not_found: 404 } as const

function describeDifference(
  { decisions }: Engine,
  { permission, field }: Cell,
  decision: Decision,
  response: HandWrittenResponse,
  at: string,
): string {
  const { decisionOf, row } = decisions.permissions.get(permission.id)!
  const rules = decision.rules.length === 0 ? '' : ` by ${decision.rules.join(', ')}`
  const what = field === undefined ? `"${permission.id}"` : `"${permission.id}" of ${field}`
  return `${what}, row ${row}: the tables answer ${responses[decision.outcome]}${rules}; the decisions say ${response} (decision "${decisionOf(field)}", ${at})`
}

/** Violations of an invariant in single cells: one message for each kind, with the first cell as an example. */
class Violations {
  /** the number of cells that were decided */
  count = 0
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

function describeCell({ facts, field }: Cell): string {
  const parts = Object.entries(facts).map(([name, value]) => `${name} ${value}`)
  return [...parts, ...(field === undefined ? [] : [`field ${field}`])].join(', ')
}

import type { Decision, Engine } from './engine.ts'
import { cells, type Cell } from './enumerate.ts'
import type { Facts } from './evaluate.ts'
import type { ExpectedResponse } from './grids.ts'

/** What {@link decidedSpaceOf} finds. */
export interface DecidedSpace {
  readonly count: number
  readonly failures: readonly string[]
  /** permission → the rows of the rules that allow it in some cell */
  readonly decidingRows: ReadonlyMap<string, ReadonlySet<string>>
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
  const { vocabulary, expected } = engine
  const decidingRows = new Map<string, Set<string>>()
  const derivedValues = new Map([...vocabulary.definitions.keys()].map((name) => [name, new Set<boolean>()]))
  const violations = new Violations()
  const canRead = createReadDecisions(engine)
  let count = 0
  for (const cell of cells(vocabulary)) {
    count++
    const { id, subject, notFoundUnless } = cell.permission
    const decision = engine.decide(id, cell.facts, cell.field === undefined ? undefined : [cell.field])
    for (const [name, value] of Object.entries(decision.derived)) derivedValues.get(name)!.add(value)
    const { response, name } = expected.permissions.get(id)!.lookUp(cell.facts, cell.field)
    if (!answers(decision, response)) violations.add(describeDifference(engine, cell, decision, response, name), cell)
    if (decision.outcome !== 'allowed') continue
    decidingRows.set(id, (decidingRows.get(id) ?? new Set()).add(decision.row))
    const failed = notFoundUnless.find((name) => decision.derived[name] !== true)
    if (failed !== undefined) violations.add(`${decision.rules.join(', ')} allows "${id}" without ${failed}`, cell)
    if (!canRead(subject, cell.facts)) violations.add(`${decision.rules.join(', ')} allows "${id}" where "read ${subject}" is denied`, cell)
  }
  const failures = violations.messages()
  for (const id of vocabulary.permissions.keys()) if (!decidingRows.has(id)) failures.push(`"${id}" is never allowed`)
  for (const [name, values] of derivedValues) {
    if (values.size === 0) failures.push(`no permission uses ${name}`)
    if (values.size === 1) failures.push(`${name} is ${[...values].join()} in all cells`)
  }
  return { count, failures, decidingRows }
}

/** Whether a decision leads to a response. Before a 401 the permission table is not asked, so there it must only deny. */
function answers({ outcome }: Decision, response: ExpectedResponse): boolean {
  return response === 401 ? outcome !== 'allowed' : responses[outcome] === response
}

const responses = { allowed: 'ok', forbidden: 403, not_found: 404 } as const

function describeDifference(
  { expected }: Engine,
  { permission, field }: Cell,
  decision: Decision,
  response: ExpectedResponse,
  at: string,
): string {
  const { gridOf, row } = expected.permissions.get(permission.id)!
  const rules = decision.rules.length === 0 ? '' : ` by ${decision.rules.join(', ')}`
  const what = field === undefined ? `"${permission.id}"` : `"${permission.id}" of ${field}`
  return `${what}, row ${row}: the tables answer ${responses[decision.outcome]}${rules}; the decisions say ${response} (grid "${gridOf(field)}", ${at})`
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

function describeCell({ facts, field }: Cell): string {
  const parts = Object.entries(facts).map(([name, value]) => `${name} ${value}`)
  return [...parts, ...(field === undefined ? [] : [`field ${field}`])].join(', ')
}

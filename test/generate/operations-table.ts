import type { Engine } from '../../src/policy/engine.ts'
import { markdownTable } from '../../src/policy/matrix.ts'
import type { Operation } from '../../src/resources/operation.ts'

const START = '<!-- operations:start -->'
const END = '<!-- operations:end -->'

type Row = Pick<Operation, 'id' | 'method' | 'path' | 'summary' | 'needs'>

/**
 * Renders the operations as a Markdown table, grouped by resource: operation id, method and path, minimum scope, summary.
 * The resource is the first word of the id.
 */
export function renderOperations(engine: Engine, operations: readonly Row[]): string {
  const resources = new Set(operations.map(resourceOf))
  const rows = [...resources].flatMap((resource) => [
    [`**${resource.replaceAll('_', ' ')}**`, '', '', ''],
    ...operations
      .filter((operation) => resourceOf(operation) === resource)
      .map(({ id, method, path, needs, summary }) => [
        `\`${id}\``,
        `\`${method} ${path}\``,
        `\`${minimumScope(engine, needs.join(' '))}\``,
        summary,
      ]),
  ])
  return markdownTable(['operation', 'request', 'scope', 'summary'], rows).join('\n')
}

/**
 * Replaces the operations table of its page.
 * @throws {Error} if the page does not have exactly one pair of markers
 */
export function insertOperations(page: string, table: string): string {
  const [before, rest, ...more] = page.split(START)
  const [previous, after, ...others] = (rest ?? '').split(END)
  if (previous === undefined || after === undefined || more.length > 0 || others.length > 0)
    throw new Error(`src/http/operations.md must contain ${START} and ${END} once, in this order`)
  return `${before}${START}\n${table}\n${END}${after}`
}

function resourceOf({ id }: Row): string {
  return id.split('.')[0]!
}

function minimumScope(engine: Engine, permission: string): string {
  const { scopeOrder } = engine.vocabulary
  return engine.checkScope(permission, { [scopeOrder.name]: scopeOrder.values[0]! }).required
}

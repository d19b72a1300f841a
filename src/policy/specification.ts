import { z } from 'zod'
import { didYouMean, PolicyError, type PolicyDiagnostic } from './diagnostic.ts'
import { readShape, singleLine } from './shape.ts'
import type { Path, Report, Source } from './source.ts'

/** One row of the specification. */
export interface Row {
  /** what it says */
  readonly words: string
  /** the least scopes that its permissions require, from least to greatest; none for a D row, which has no permissions */
  readonly scopes: readonly string[]
  /** its permissions are those of the web app, which no scope allows */
  readonly surface?: 'web_app' | undefined
}

/** The fact of the scope table: its name, and its values from least to greatest. */
export interface ScopeOrder {
  readonly name: string
  readonly values: readonly string[]
}

const row = z.strictObject({
  scope: z.union([z.string(), z.array(z.string()).min(1)]).optional(),
  surface: z.literal('web_app').optional(),
  words: singleLine,
})
const shape = z.strictObject({
  version: z.literal(1),
  rows: z.record(z.string(), row),
})
const KEYS = ['version', 'rows', 'scope', 'surface', 'words']

/** Rows that extend the specification. The owner of a policy may change them. */
function isExtension(row: string): boolean {
  return row.startsWith('X')
}

/**
 * Reads the rows of the specification.
 * @param shipped the rows of the specification itself. A file that says something else about one of them is refused: the rules of a row
 * would be compared with a sentence that was never specified. X rows are free.
 * @throws {PolicyError} if a row is missing, differs from what was shipped, or has an unknown scope
 */
export function readSpecification(source: Source, scopeOrder: ScopeOrder, shipped: ReadonlyMap<string, Row>): ReadonlyMap<string, Row> {
  const data = readShape(source, shape, KEYS)
  const diagnostics: PolicyDiagnostic[] = []
  const report: Report = (at, message, suggestion, on) => void diagnostics.push(source.diagnostic(at, message, { suggestion, on }))
  const rows = new Map(
    Object.entries(data.rows).map(([id, { words, surface, ...stated }]) => [
      id,
      { words, scopes: readScopes(id, { ...stated, surface }, scopeOrder, report), ...(surface !== undefined && { surface }) },
    ]),
  )
  for (const [id, { words, scopes }] of shipped) {
    const stated = rows.get(id)
    const at: Path = ['rows', id]
    if (stated === undefined) report(['rows'], `row ${id} is missing`, 'the specification has it', 'key')
    else if (stated.words !== words) report([...at, 'words'], `these are not the words of row ${id}`, `the specification says: ${words}`)
    else if (stated.scopes.join() !== scopes.join())
      report([...at, 'scope'], `this is not the scope of row ${id}`, `the specification says: ${scopes.join(', ')}`)
  }
  for (const id of rows.keys())
    if (!/^[SDPX][1-9][0-9]?$/.test(id)) report(['rows', id], 'a row is S, D, P or X and a number', undefined, 'key')
    else if (!isExtension(id) && !shipped.has(id))
      report(['rows', id], `the specification has no row ${id}`, 'an extension is an X row', 'key')
  if (diagnostics.length > 0) throw new PolicyError(diagnostics)
  return rows
}

function readScopes(
  id: string,
  { scope, surface }: Omit<z.output<typeof row>, 'words'>,
  { name, values }: ScopeOrder,
  report: Report,
): readonly string[] {
  const at: Path = ['rows', id, 'scope']
  if (surface !== undefined) {
    if (!isExtension(id)) report(['rows', id, 'surface'], `row ${id} is about tokens`, 'only an X row can be of the web app alone', 'key')
    if (scope !== undefined) report(at, 'no scope allows what only the web app can do', 'remove it, or "surface"', 'key')
    return []
  }
  if (id.startsWith('D')) {
    if (scope !== undefined) report(at, 'a D row has no permissions, and so no scope', 'remove it', 'key')
    return []
  }
  if (scope === undefined) report(['rows', id], `row ${id} has no scope`, 'state the least scope that its permissions require', 'key')
  const scopes = scope === undefined ? [] : [scope].flat()
  for (const value of scopes)
    if (!values.includes(value))
      report(at, `"${value}" is not a value of ${name}`, didYouMean(value, values) ?? `one of ${values.join(', ')}`)
  if (scopes.some((value, i) => i > 0 && values.indexOf(value) <= values.indexOf(scopes[i - 1]!)))
    report(at, 'the scopes are not in their order', 'list each once, from least to greatest')
  return scopes
}

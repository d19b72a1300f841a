import { z } from 'zod'
import { checkValue, readShape, singleLine } from './shape.ts'
import type { Path, Report, Source } from './source.ts'

/** One row of the specification. */
export interface Row {
  /** what it says */
  readonly words: string
  /** the least scopes that its permissions require, from least to greatest; none for a D row, which has no permissions */
  readonly scopes: readonly string[]
  /** its permissions belong to the web app; no scope allows them */
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
  domain: z
    .string()
    .regex(/^[a-z][a-z0-9-]*$/, 'a name consists of lower-case letters, digits and "-"')
    .optional(),
  rows: z.record(z.string(), row),
})

/** What a specification says. */
export interface Specification {
  /** the name of the domain, such as `repositories`, unless it is the service's own */
  readonly domain: string | undefined
  readonly rows: ReadonlyMap<string, Row>
}

/** Checks of a specification beyond the engine's own. */
export type SpecificationCheck = (specification: Specification, report: Report) => void

/**
 * Reads the rows of the specification. An S row is of the scope table, a D row is of definitions, and the rows of all other letters are of
 * permissions.
 * @param check further checks, for example by a service whose rows are fixed
 * @throws {PolicyError} if a row has no name of a row, or an unknown scope, or a check has found something
 */
export function readSpecification(source: Source, scopeOrder: ScopeOrder, check?: SpecificationCheck): Specification {
  return readShape(source, shape, (data, report) => {
    const rows = new Map(
      Object.entries(data.rows).map(([id, { words, surface, ...stated }]) => [
        id,
        { words, scopes: readScopes(id, { ...stated, surface }, scopeOrder, report), ...(surface !== undefined && { surface }) },
      ]),
    )
    const specification = { domain: data.domain, rows }
    check?.(specification, report)
    for (const id of rows.keys())
      if (!/^[A-Z][1-9][0-9]?$/.test(id)) report(['rows', id], 'a row is a capital letter and a number', undefined, 'key')
    return specification
  })
}

function readScopes(
  id: string,
  { scope, surface }: Omit<z.output<typeof row>, 'words'>,
  scopeOrder: ScopeOrder,
  report: Report,
): readonly string[] {
  const at: Path = ['rows', id, 'scope']
  if (surface !== undefined) {
    if (/^[SD]/.test(id))
      report(['rows', id, 'surface'], `row ${id} is not of permissions`, 'only these can be of the web app alone', 'key')
    if (scope !== undefined) report(at, 'no scope allows what only the web app can do', 'remove it, or "surface"', 'key')
    return []
  }
  if (id.startsWith('D')) {
    if (scope !== undefined) report(at, 'a D row has no permissions, and so no scope', 'remove it', 'key')
    return []
  }
  if (scope === undefined) report(['rows', id], `row ${id} has no scope`, 'state the least scope that its permissions require', 'key')
  const scopes = scope === undefined ? [] : [scope].flat()
  for (const value of scopes) checkValue(value, scopeOrder, at, report)
  const { values } = scopeOrder
  if (scopes.some((value, i) => i > 0 && values.indexOf(value) <= values.indexOf(scopes[i - 1]!)))
    report(at, 'the scopes are not in their order', 'list each once, from least to greatest')
  return scopes
}

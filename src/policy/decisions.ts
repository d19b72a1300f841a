import { z } from 'zod'
import { didYouMean, PolicyError, type PolicyDiagnostic } from './diagnostic.ts'
import type { Facts } from './evaluate.ts'
import type { ExpectedCase, Grid } from './grids.ts'
import { readShape } from './shape.ts'
import type { Path, Report, Source } from './source.ts'
import { WEB_APP, type Vocabulary } from './vocabulary.ts'

/** An operation, as the hand-written decisions describe it. */
export interface ExpectedOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  /** `action Subject` */
  readonly permission: string
  readonly row: string
  /** the members of its body whose items are decided in addition */
  readonly also: ReadonlyMap<string, { readonly permission: string; readonly row: string }>
}

/** What only the web app does, as the hand-written decisions describe it. */
export type ExpectedWebAction = Pick<ExpectedOperation, 'id' | 'permission' | 'row'>

/** What the hand-written decisions say of a permission. */
export interface ExpectedPermission {
  /** the least scope; undefined: only the web app asks for it */
  readonly scope: string | undefined
  readonly row: string
  /** the name of the grid that has the response for a field */
  gridOf(field: string | undefined): string
  /** The response in a cell. */
  lookUp(facts: Facts, field: string | undefined): ExpectedCase
}

/** The hand-written decisions of a policy (`decisions/`). They share no code with what decides. */
export interface ExpectedDecisions {
  readonly operations: ReadonlyMap<string, ExpectedOperation>
  /** what no token can do */
  readonly webActions: ReadonlyMap<string, ExpectedWebAction>
  /** by `action Subject`; each permission of the vocabulary has one */
  readonly permissions: ReadonlyMap<string, ExpectedPermission>
}

const grid = z.union([z.string(), z.record(z.string(), z.string())], { error: 'must be the name of a grid, or a grid for each field' })
const also = z.record(z.string(), z.tuple([z.string(), z.string(), z.string()]))
const method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const entry = z.tuple([method, z.string().startsWith('/'), z.string(), z.string(), z.string(), grid], also)
const webEntry = z.tuple([z.string(), z.string(), z.string()])
const shape = z.strictObject({
  version: z.literal(1),
  operations: z.record(z.string(), entry),
  web_app: z.record(z.string(), webEntry).optional(),
})

type Gridded = string | Readonly<Record<string, string>>
interface Statement extends Pick<ExpectedPermission, 'row'> {
  readonly scope: string | undefined
  readonly grid: Gridded
}

/**
 * Reads what is expected of each operation.
 * @throws {PolicyError} if a name is unknown, a permission has no decision, or two operations state different ones of one permission
 */
export function readDecisions(source: Source, grids: ReadonlyMap<string, Grid>, vocabulary: Vocabulary): ExpectedDecisions {
  const data = readShape(source, shape, ['version', 'operations', 'web_app'])
  const diagnostics: PolicyDiagnostic[] = []
  const report: Report = (at, message, suggestion, on) => void diagnostics.push(source.diagnostic(at, message, { suggestion, on }))
  const statements = new Map<string, Statement>()
  const state = (permission: string, statement: Statement, at: Path): void => {
    checkStatement(permission, statement, grids, vocabulary, (message, suggestion) => report(at, message, suggestion))
    const other = statements.get(permission)
    if (other !== undefined && !agree(other, statement)) report(at, `another operation states something else of "${permission}"`)
    statements.set(permission, { ...statement, scope: statement.scope ?? other?.scope })
  }
  const operations = new Map<string, ExpectedOperation>()
  for (const [id, [verb, path, scopeName, row, permission, ofGrid, ...rest]] of Object.entries(data.operations)) {
    const at: Path = ['operations', id]
    const [additions = {}, ...more] = rest
    if (more.length > 0) report(at, 'there is something after the last column')
    const scope = vocabulary.scopeOrder.values.find((value) => value === scopeName || value.endsWith(`:${scopeName}`))
    if (scope === undefined) report(at, `unknown scope "${scopeName}"`, `one of ${vocabulary.scopeOrder.values.join(', ')}`)
    state(permission, { scope, row, grid: ofGrid }, at)
    for (const [ofRow, ofPermission, gridName] of Object.values(additions))
      state(ofPermission, { scope: undefined, row: ofRow, grid: gridName }, at)
    const further = Object.entries(additions).map(
      ([member, [ofRow, ofPermission]]) => [member, { permission: ofPermission, row: ofRow }] as const,
    )
    operations.set(id, { id, method: verb, path, permission, row, also: new Map(further) })
  }
  const webActions = Object.entries(data.web_app ?? {}).map(([id, [row, permission, ofGrid]]): [string, ExpectedWebAction] => {
    const at: Path = ['web_app', id]
    state(permission, { scope: undefined, row, grid: ofGrid }, at)
    if (vocabulary.permissions.get(permission)?.surface !== WEB_APP)
      report(at, `"${permission}" is not a permission of the web app`, 'an operation of the API belongs to "operations"')
    return [id, { id, permission, row }]
  })
  for (const [id, { surface }] of vocabulary.permissions) {
    const { scope } = statements.get(id) ?? {}
    if (surface === undefined && scope === undefined)
      report(['operations'], `no operation decides "${id}"`, 'add one, or remove the permission', 'key')
    else if (surface === WEB_APP && (scope !== undefined || !webActions.some(([, { permission }]) => permission === id)))
      report(['operations'], `"${id}" is a permission of the web app`, 'state it under "web_app", and in no operation', 'key')
  }
  if (diagnostics.length > 0) throw new PolicyError(diagnostics)
  return {
    operations,
    webActions: new Map(webActions),
    permissions: new Map([...statements].map(([id, statement]) => [id, expectedPermission(statement, grids)])),
  }
}

/** Whether two operations state the same of their permission. A further permission states no scope. */
function agree(a: Statement, b: Statement): boolean {
  const scopesAgree = a.scope === undefined || b.scope === undefined || a.scope === b.scope
  return scopesAgree && a.row === b.row && JSON.stringify(a.grid) === JSON.stringify(b.grid)
}

function checkStatement(
  id: string,
  { row, grid: ofGrid }: Statement,
  grids: ReadonlyMap<string, Grid>,
  { permissions, rows }: Vocabulary,
  report: (message: string, suggestion?: string) => void,
): void {
  const permission = permissions.get(id)
  if (!rows.has(row)) report(`unknown row "${row}"`, didYouMean(row, rows.keys()))
  if (permission === undefined) return report(`unknown permission "${id}"`, didYouMean(id, permissions.keys()))
  const fields = typeof ofGrid === 'string' ? undefined : Object.keys(ofGrid)
  if ((fields === undefined) !== (permission.fields === undefined) || fields?.toSorted().join() !== permission.fields?.toSorted().join())
    report(`"${id}" is ${permission.fields === undefined ? 'not decided field by field' : `decided for ${permission.fields.join(', ')}`}`)
  for (const name of typeof ofGrid === 'string' ? [ofGrid] : Object.values(ofGrid)) {
    const { groups } = grids.get(name) ?? {}
    if (groups === undefined) report(`unknown grid "${name}"`, didYouMean(name, grids.keys()))
    for (const group of groups ?? [])
      if (!permission.groups.includes(group)) report(`the grid "${name}" is about ${group}, and "${id}" is not decided on it`)
  }
}

function expectedPermission({ scope, row, grid: ofGrid }: Statement, grids: ReadonlyMap<string, Grid>): ExpectedPermission {
  const gridOf = (field: string | undefined) => (typeof ofGrid === 'string' ? ofGrid : ofGrid[field!]!)
  return { scope, row, gridOf, lookUp: (facts, field) => grids.get(gridOf(field))!.lookUp(facts) }
}

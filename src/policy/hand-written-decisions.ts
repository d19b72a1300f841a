import { z } from 'zod'
import { didYouMean } from './diagnostic.ts'
import type { Facts } from './evaluate.ts'
import type { HandWrittenCase, HandWrittenDecision } from './hand-written-cases.ts'
import { webOperation, type PolicyOperation } from './operations.ts'
import { readShape } from './shape.ts'
import type { Path, Source } from './source.ts'
import { WEB_APP, type Vocabulary } from './vocabulary.ts'

/** What the hand-written decisions say of a permission. */
export interface HandWrittenPermission {
  /** the least scope; undefined: only the web app asks for it */
  readonly scope: string | undefined
  readonly row: string
  /** the name of the decision that has the response for a field */
  decisionOf(field: string | undefined): string
  /** The response in a cell. */
  lookUp(facts: Facts, field: string | undefined): HandWrittenCase
}

/** The hand-written decisions of a policy (`decisions/`). They share no code with the engine. */
export interface HandWrittenDecisions {
  /** by id; the web app's operations come last */
  readonly operations: ReadonlyMap<string, PolicyOperation>
  /** by `action Subject`; each permission of the vocabulary has one */
  readonly permissions: ReadonlyMap<string, HandWrittenPermission>
}

const decisionName = z.union([z.string(), z.record(z.string(), z.string())], {
  error: 'must be the name of a decision, or a decision for each field',
})
const also = z.record(z.string(), z.tuple([z.string(), z.string(), z.string()]))
const method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const entry = z.tuple([method, z.string().startsWith('/'), z.string(), z.string(), z.string(), decisionName], also)
const webEntry = z.tuple([z.string(), z.string(), z.string()])
const shape = z.strictObject({
  version: z.literal(1),
  operations: z.record(z.string(), entry),
  web_app: z.record(z.string(), webEntry).optional(),
})

type DecisionName = string | Readonly<Record<string, string>>
interface Statement extends Pick<HandWrittenPermission, 'row'> {
  readonly scope: string | undefined
  readonly decision: DecisionName
}

/**
 * Reads the hand-written decisions about each operation.
 * @throws {PolicyError} if a name is unknown, a permission has no decision, or two operations state different ones of one permission
 */
export function readDecisions(
  source: Source,
  byName: ReadonlyMap<string, HandWrittenDecision>,
  vocabulary: Vocabulary,
): HandWrittenDecisions {
  return readShape(source, shape, (data, report) => {
    const statements = new Map<string, Statement>()
    const state = (permission: string, statement: Statement, at: Path): void => {
      checkStatement(permission, statement, byName, vocabulary, (message, suggestion) => report(at, message, suggestion))
      const other = statements.get(permission)
      if (other !== undefined && !agree(other, statement)) report(at, `another operation states something else of "${permission}"`)
      statements.set(permission, { ...statement, scope: statement.scope ?? other?.scope })
    }
    const operations = new Map<string, PolicyOperation>()
    for (const [id, [method, path, scopeName, row, permission, decision, additions = {}, ...more]] of Object.entries(data.operations)) {
      const at: Path = ['operations', id]
      if (more.length > 0) report(at, 'there is something after the last column')
      const scope = vocabulary.scopeOrder.values.find((value) => value === scopeName || value.endsWith(`:${scopeName}`))
      if (scope === undefined) report(at, `unknown scope "${scopeName}"`, `one of ${vocabulary.scopeOrder.values.join(', ')}`)
      state(permission, { scope, row, decision }, at)
      const also = Object.entries(additions).map(([member, [ofRow, ofPermission, ofDecision]]) => {
        state(ofPermission, { scope: undefined, row: ofRow, decision: ofDecision }, at)
        return { member, permission: ofPermission, row: ofRow }
      })
      operations.set(id, { id, method, path, permission, row, also })
    }
    const ofWebApp = new Set<string>()
    for (const [id, [row, permission, decision]] of Object.entries(data.web_app ?? {})) {
      const at: Path = ['web_app', id]
      state(permission, { scope: undefined, row, decision }, at)
      if (vocabulary.permissions.get(permission)?.surface !== WEB_APP)
        report(at, `"${permission}" is not a permission of the web app`, 'an operation of the API belongs to "operations"')
      if (operations.has(id)) report(at, `"${id}" is an operation of the API, too`)
      ofWebApp.add(permission)
      operations.set(id, webOperation(id, permission, row))
    }
    for (const [id, { surface }] of vocabulary.permissions) {
      const { scope } = statements.get(id) ?? {}
      if (surface === undefined && scope === undefined)
        report(['operations'], `no operation decides "${id}"`, 'add one, or remove the permission', 'key')
      else if (surface === WEB_APP && (scope !== undefined || !ofWebApp.has(id)))
        report(['operations'], `"${id}" is a permission of the web app`, 'state it under "web_app", and in no operation', 'key')
    }
    const permissions = new Map([...statements].map(([id, statement]) => [id, handWrittenPermission(statement, byName)]))
    return { operations, permissions }
  })
}

/** Whether two operations state the same of their permission. A further permission states no scope. */
function agree(a: Statement, b: Statement): boolean {
  const scopesAgree = a.scope === undefined || b.scope === undefined || a.scope === b.scope
  return scopesAgree && a.row === b.row && JSON.stringify(a.decision) === JSON.stringify(b.decision)
}

function checkStatement(
  id: string,
  { row, decision }: Statement,
  byName: ReadonlyMap<string, HandWrittenDecision>,
  { permissions, rows }: Vocabulary,
  report: (message: string, suggestion?: string) => void,
): void {
  const permission = permissions.get(id)
  if (!rows.has(row)) report(`unknown row "${row}"`, didYouMean(row, rows.keys()))
  if (permission === undefined) return report(`unknown permission "${id}"`, didYouMean(id, permissions.keys()))
  const fields = typeof decision === 'string' ? undefined : Object.keys(decision)
  if (fields?.toSorted().join() !== permission.fields?.toSorted().join())
    report(`"${id}" is ${permission.fields === undefined ? 'not decided field by field' : `decided for ${permission.fields.join(', ')}`}`)
  for (const name of typeof decision === 'string' ? [decision] : Object.values(decision)) {
    const { groups } = byName.get(name) ?? {}
    if (groups === undefined) report(`unknown decision "${name}"`, didYouMean(name, byName.keys()))
    for (const group of groups ?? [])
      if (!permission.groups.includes(group)) report(`the decision "${name}" is about ${group}, and "${id}" is not decided on it`)
  }
}

function handWrittenPermission(
  { scope, row, decision }: Statement,
  byName: ReadonlyMap<string, HandWrittenDecision>,
): HandWrittenPermission {
  const decisionOf = (field: string | undefined) => (typeof decision === 'string' ? decision : decision[field!]!)
  return { scope, row, decisionOf, lookUp: (facts, field) => byName.get(decisionOf(field))!.lookUp(facts) }
}

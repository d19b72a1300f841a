import type { HandWrittenOperation } from './hand-written-decisions.ts'
import type { Engine } from './engine.ts'
import { WEB_APP } from './vocabulary.ts'

/** What an operation states about itself. The proof compares it with the tables. */
export interface OperationClaim {
  /** the id of the operation */
  readonly id: string
  readonly method: string
  /** below `/v1` */
  readonly path: string
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

/** What the web app states about something that only it does. */
export type WebClaim = Pick<OperationClaim, 'id' | 'permission' | 'row'>

/**
 * Compares what operations state of themselves with the tables and with the hand-written decisions.
 * @param webClaims of the web app
 * @param decidingRows permission → the rows of the rules that allow it in some cell
 */
export function proveClaims(
  engine: Engine,
  claims: readonly OperationClaim[],
  webClaims: readonly WebClaim[],
  decidingRows: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const { vocabulary } = engine
  const unused = [...vocabulary.permissions.values()].flatMap(({ id, surface }) => {
    const candidates = surface === undefined ? claims : webClaims
    return candidates.length === 0 || candidates.some(({ permission }) => permission === id) ? [] : [id]
  })
  const failures = unused.map((id) => `no operation needs "${id}"`)
  const further = claims.flatMap(({ id, also = [] }) => also.map(({ member, ...claim }) => ({ id: `${id} (${member})`, ...claim })))
  const asked = [...claims, ...further].filter(({ permission }) => vocabulary.permissions.get(permission)?.surface !== undefined)
  failures.push(...asked.map(({ id, permission }) => `operation ${id} needs "${permission}", which no token can have`))
  for (const { id, permission, row } of [...claims, ...further, ...webClaims]) {
    if (!vocabulary.permissions.has(permission))
      failures.push(`operation ${id} needs "${permission}", which is not a permission of the vocabulary`)
    const rows = [...(decidingRows.get(permission) ?? [])]
    if (rows.length !== 1 || rows[0] !== row)
      failures.push(`operation ${id} states row ${row}; the deciding row is ${rows.join(', ') || 'none'}`)
  }
  return [
    ...failures,
    ...claims.flatMap((claim) => proveFurther(engine, claim)),
    ...compareOperations(engine, claims),
    ...compareWebActions(engine, webClaims),
  ]
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

/** The operations of the hand-written decisions are those of the service, with the same method, path, permissions and rows. */
function compareOperations({ decisions }: Engine, claims: readonly OperationClaim[]): string[] {
  const ids = new Set(claims.map(({ id }) => id))
  const unknown = claims.length === 0 ? [] : [...decisions.operations.keys()].filter((id) => !ids.has(id))
  const failures = unknown.map((id) => `the decisions have an operation ${id}, which does not exist`)
  for (const claim of claims) {
    const stated = decisions.operations.get(claim.id)
    if (stated === undefined) failures.push(`the decisions do not have the operation ${claim.id}`)
    else if (describeOperation(claim, claim.also ?? []) !== describeOperation(stated, furtherOf(stated)))
      failures.push(
        `operation ${claim.id} is ${describeOperation(claim, claim.also ?? [])}; the decisions say ${describeOperation(stated, furtherOf(stated))}`,
      )
  }
  return failures
}

/** What only the web app does is what the hand-written decisions say, and no scope allows it. */
function compareWebActions({ decisions, vocabulary }: Engine, claims: readonly WebClaim[]): string[] {
  const describe = ({ permission, row }: WebClaim) => `"${permission}" by ${row}`
  const ids = new Set(claims.map(({ id }) => id))
  const unknown = claims.length === 0 ? [] : [...decisions.webActions.keys()].filter((id) => !ids.has(id))
  return [
    ...unknown.map((id) => `the decisions have an action ${id} of the web app, which does not exist`),
    ...claims.flatMap((claim) => {
      const stated = decisions.webActions.get(claim.id)
      if (stated === undefined) return [`the decisions do not have the action ${claim.id} of the web app`]
      return [
        ...(vocabulary.permissions.get(claim.permission)?.surface === WEB_APP
          ? []
          : [`action ${claim.id} needs "${claim.permission}", which is not a permission of the web app`]),
        ...(describe(claim) === describe(stated)
          ? []
          : [`action ${claim.id} is ${describe(claim)}; the decisions say ${describe(stated)}`]),
      ]
    }),
  ]
}

function furtherOf({ also }: HandWrittenOperation): FurtherClaim[] {
  return [...also].map(([member, further]) => ({ member, ...further }))
}

type Described = Pick<OperationClaim, 'method' | 'path' | 'permission' | 'row'>

function describeOperation({ method, path, permission, row }: Described, also: readonly FurtherClaim[]): string {
  const further = also.map((one) => `${one.member} "${one.permission}" by ${one.row}`).toSorted()
  return [`${method} ${path}, "${permission}" by ${row}`, ...further].join(', ')
}

import type { Engine } from './engine.ts'
import { isOfWebApp, operationsOf, type PolicyOperation } from './operations.ts'
import { WEB_APP } from './vocabulary.ts'

/**
 * Compares what operations state of themselves with the tables and with the hand-written decisions.
 * @param claims all operations of a service
 * @param decidingRows permission → the rows of the rules that allow it in some cell
 */
export function proveClaims(
  engine: Engine,
  claims: readonly PolicyOperation[],
  decidingRows: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const { permissions } = engine.vocabulary
  const unused = [...permissions.keys()].filter((id) => !claims.some(({ permission }) => permission === id))
  const asked = claims.flatMap(({ also, ...claim }) => [
    claim,
    ...also.map(({ member, permission, row }) => ({ ...claim, id: `${claim.id} (${member})`, permission, row })),
  ])
  return [
    ...unused.map((id) => `no operation needs "${id}"`),
    ...asked.flatMap((claim) => {
      const { id, permission, row } = claim
      const surface = permissions.get(permission)?.surface
      const rows = [...(decidingRows.get(permission) ?? [])].join(', ')
      return [
        !permissions.has(permission) && `operation ${id} needs "${permission}", which is not a permission of the vocabulary`,
        !isOfWebApp(claim) && surface === WEB_APP && `operation ${id} needs "${permission}", which no token can have`,
        isOfWebApp(claim) && surface !== WEB_APP && `operation ${id} needs "${permission}", which is not a permission of the web app`,
        rows !== row && `operation ${id} states row ${row}; the deciding row is ${rows || 'none'}`,
      ].filter((failure) => failure !== false)
    }),
    ...claims.flatMap((claim) => proveFurther(engine, claim)),
    ...compareOperations(engine, claims),
  ]
}

function proveFurther({ vocabulary, checkScope }: Engine, { id, permission, also }: PolicyOperation): string[] {
  const { permissions, scopeOrder } = vocabulary
  const { name, values } = scopeOrder
  const scopeOf = (one: string) => checkScope(one, { [name]: values[0]! }).required
  const known = also.filter((claim) => permissions.has(claim.permission) && permissions.has(permission))
  return known.flatMap((claim) => {
    const about = `operation ${id} (${claim.member}) needs "${claim.permission}"`
    return [
      ...(permissions.get(claim.permission)!.fields === undefined ? [] : [`${about}, which is decided by field`]),
      ...(values.indexOf(scopeOf(claim.permission)) > values.indexOf(scopeOf(permission))
        ? [`${about}, which requires ${scopeOf(claim.permission)}; the scope of the operation is ${scopeOf(permission)}`]
        : []),
    ]
  })
}

/** The hand-written decisions list exactly the operations of the service, with the same method, path, permissions and rows. */
function compareOperations(engine: Engine, claims: readonly PolicyOperation[]): string[] {
  const ids = new Set(claims.map(({ id }) => id))
  const unknown = operationsOf(engine).filter(({ id }) => !ids.has(id))
  return [
    ...unknown.map(({ id }) => `the decisions have an operation ${id}, which does not exist`),
    ...claims.flatMap((claim) => {
      const stated = engine.decisions.operations.get(claim.id)
      if (stated === undefined) return [`the decisions do not have the operation ${claim.id}`]
      const [is, said] = [describeOperation(claim), describeOperation(stated)]
      return is === said ? [] : [`operation ${claim.id} is ${is}; the decisions say ${said}`]
    }),
  ]
}

function describeOperation({ method, path, permission, row, also }: PolicyOperation): string {
  const further = also.map((one) => `${one.member} "${one.permission}" by ${one.row}`).toSorted()
  return [`${method} ${path}, "${permission}" by ${row}`, ...further].join(', ')
}

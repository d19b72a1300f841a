import { compareDefinitions, compareFacts, dependsOnClaim } from '../authz/facts.ts'
import type { Engine } from '../policy/engine.ts'
import { proveInvariants, requireSuccess, type Proof } from '../policy/prove.ts'
import { writesToCard, type Operation } from './operation.ts'
import { webActions } from './web-actions.ts'

/**
 * Proves a policy, and compares it with the facts and the operations of the service.
 * @returns its failures are empty if the service may use it
 */
export function provePolicy(engine: Engine, rows: readonly Operation[]): Proof {
  const proof = proveInvariants(engine, [...rows, ...webActions])
  const checks = [
    {
      name: "the facts are the service's",
      failures: [...compareFacts(engine.vocabulary), ...compareDefinitions(engine.vocabulary)],
    },
    { name: 'the operations table is not ambiguous', failures: [...findAmbiguous(rows), ...findMissingMembers(rows)] },
    { name: 'facts about a claim are asked where a card is named', failures: findUnknownGroups(engine, rows) },
    ...proof.checks,
  ]
  return { ...proof, checks, failures: checks.flatMap(({ failures }) => failures) }
}

/** @throws {PolicyInvariantError} if the policy does not hold */
export function requireProof(engine: Engine, rows: readonly Operation[]): Proof {
  return requireSuccess(provePolicy(engine, rows))
}

/** Rows of the operations table that have the same id, or the same method and path. */
function findAmbiguous(rows: readonly Operation[]): string[] {
  const ids = new Set<string>()
  const routes = new Map<string, string>()
  return rows.flatMap(({ id, method, path }) => {
    const route = `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`
    const other = routes.get(route)
    const found = [ids.has(id) && `operation ${id} is a duplicate`, other !== undefined && `${other} and ${id} are both ${method} ${path}`]
    ids.add(id)
    routes.set(route, id)
    return found.filter((failure) => failure !== false)
  })
}

/** Further permissions about a member that the body does not have: they would never be asked. */
function findMissingMembers(rows: readonly Operation[]): string[] {
  const membersOf = ({ body }: Operation) => (body?.def as { shape?: object } | undefined)?.shape ?? {}
  return rows.flatMap((row) =>
    row.also
      .filter(({ member }) => !Object.hasOwn(membersOf(row), member))
      .map(({ member }) => `operation ${row.id} asks a permission about "${member}", which is no member of its body`),
  )
}

/**
 * Permissions that depend on the claim of a card or on its question, of operations that do not know them. A list is decided once for all of
 * its cards, and the next card to take is not known when that is decided: such a rule would allow or deny what it does not speak of. A card
 * that is created has no claim.
 */
function findUnknownGroups({ vocabulary }: Engine, rows: readonly Operation[]): string[] {
  const knowsClaim = (row: Operation) => writesToCard(row) || row.id === 'cards.create'
  return rows.flatMap((row) => {
    const { id, permission } = row
    const groups = vocabulary.permissions.get(permission)?.groups
    if (groups === undefined) return []
    const unknown = [
      dependsOnClaim(vocabulary, permission) && !knowsClaim(row) && `the claim of a card; operation ${id} names no card that it changes`,
      groups.includes('question') && id !== 'cards.answer' && `the question on a card; operation ${id} answers none`,
    ]
    return unknown.flatMap((what) => (what === false ? [] : [`"${permission}" depends on ${what}`]))
  })
}

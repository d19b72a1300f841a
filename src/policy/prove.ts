import { performance } from 'node:perf_hooks'
import { proveClaims } from './claims.ts'
import { decidedSpaceOf, type Check } from './decided-space.ts'
import type { Engine } from './engine.ts'
import { PolicyInvariantError } from './folder.ts'
import type { PolicyOperation } from './operations.ts'
import { covers, isDefinition } from './rules.ts'

/** The result of a proof. */
export interface Proof {
  /** the number of permissions */
  readonly permissions: number
  /** the number of cells in the decision space */
  readonly cells: number
  readonly milliseconds: number
  readonly checks: readonly Check[]
  /** the findings of all checks; empty if all invariants hold */
  readonly failures: readonly string[]
}

/**
 * Proves the invariants of the tables over the whole decision space (spec §5):
 * - in each cell the tables answer what the hand-written decisions say, and each permission requires the scope that they say;
 * - scopes are cumulative, and the permissions of each row require the scopes that the row states;
 * - each permission has exactly one S rule, and P or X rules of exactly one row; one of the web app alone has no S rule, and no token has
 * it;
 * - each permission is allowed in some cell, and each definition has both values;
 * - no rule can be removed without a change of a decision;
 * - a rule allows nothing outside the vocabulary;
 * - a definition that reading a subject requires is under `not_found_unless` of every permission of that subject;
 * - nothing is allowed if a definition under `not_found_unless` or `forbidden_unless` fails, or if the subject may not be read;
 * - each operation states the row that decides it, and is the one that the decisions describe; each permission is needed by an operation;
 * - a further permission of an operation requires no greater scope than its own, which is checked before the body is read.
 * @param claims the operations of the service, including the web app's; without any, the last two invariants are skipped
 */
export function proveInvariants(engine: Engine, claims: readonly PolicyOperation[] = []): Proof {
  const start = performance.now()
  const space = decidedSpaceOf(engine)
  const checks = [
    { name: 'each permission requires its scope, and scopes are cumulative', failures: proveScopes(engine) },
    { name: 'each permission has the rules of its row, and each row its scopes', failures: proveRows(engine) },
    { name: 'what hides a subject hides everything that is done with it', failures: proveHidden(engine) },
    ...space.checks,
    { name: 'no rule can be removed', failures: space.redundantRules.map((rule) => `${rule} can be removed: no decision changes`) },
    {
      name: 'the operations are those that the decisions describe',
      failures: claims.length === 0 ? [] : proveClaims(engine, claims, space.decidingRows),
    },
  ]
  const failures = checks.flatMap((check) => check.failures)
  return { permissions: engine.vocabulary.permissions.size, cells: space.count, milliseconds: performance.now() - start, checks, failures }
}

/** @throws {PolicyInvariantError} with all failures */
export function requireSuccess(proof: Proof): Proof {
  if (proof.failures.length === 0) return proof
  throw new PolicyInvariantError(`The policy does not hold:\n${proof.failures.map((line) => `  - ${line}`).join('\n')}`)
}

function proveScopes({ vocabulary, checkScope, decisions }: Engine): string[] {
  const { permissions, rows } = vocabulary
  const { name, values } = vocabulary.scopeOrder
  const failures: string[] = []
  for (const [id, { surface }] of permissions) {
    if (surface !== undefined) {
      for (const value of values)
        if (checkScope(id, { [name]: value }).allowed)
          failures.push(`"${id}" is allowed with ${name} ${value}; only the web app may ask for it`)
      continue
    }
    const { row, required } = checkScope(id, { [name]: values[0]! })
    const minimum = rows.get(row)?.scopes[0]
    if (minimum !== undefined && required !== minimum)
      failures.push(`the minimum scope of "${id}" is ${required}; its row ${row} has the minimum scope ${minimum}`)
    const stated = decisions.permissions.get(id)!
    if (stated.scope !== required) failures.push(`"${id}", row ${stated.row}, requires ${required}; the decisions say ${stated.scope}`)
    const allowed = values.map((value) => checkScope(id, { [name]: value }).allowed)
    if (allowed[0]) failures.push(`"${id}" is allowed with ${name} ${values[0]}`)
    if (!allowed.at(-1)) failures.push(`"${id}" is not allowed with ${name} ${values.at(-1)}`)
    for (let i = 1; i < allowed.length; i++) {
      if (allowed[i - 1] && !allowed[i])
        failures.push(`scopes are not cumulative: "${id}" is allowed with ${values[i - 1]} but not with ${values[i]}`)
    }
  }
  return failures
}

function proveRows(engine: Engine): string[] {
  const { vocabulary, scopeRules, permissionRules, decisions } = engine
  const failures: string[] = []
  for (const permission of vocabulary.permissions.values()) {
    const { id } = permission
    const scopes = scopeRules.filter((rule) => covers(rule, permission)).map((rule) => rule.id)
    if (permission.surface !== undefined) {
      if (scopes.length > 0) failures.push(`"${id}" has the S rule ${scopes.join(', ')}; only the web app may ask for it`)
    } else if (scopes.length === 0) failures.push(`"${id}" has no S rule`)
    else if (scopes.length > 1) failures.push(`"${id}" has several S rules: ${scopes.join(', ')}`)
    const rows = new Set(permissionRules.filter((rule) => covers(rule, permission)).map((rule) => rule.row))
    if (rows.size === 0) failures.push(`"${id}" has no P or X rule`)
    if (rows.size > 1) failures.push(`"${id}" has rules of several rows: ${[...rows].join(', ')}`)
    const { row } = decisions.permissions.get(id)!
    if (rows.size === 1 && !rows.has(row)) failures.push(`"${id}" has rules of row ${[...rows].join()}; the decisions say ${row}`)
  }
  const rules = [...scopeRules, ...permissionRules]
  for (const action of vocabulary.actions) {
    const candidates = rules.filter((rule) => rule.action.includes(action))
    for (const subject of vocabulary.subjects) {
      const id = `${action} ${subject}`
      if (vocabulary.permissions.has(id)) continue
      const rule = candidates.find((candidate) => candidate.subject.includes(subject))
      if (rule !== undefined) failures.push(`${rule.id} allows "${id}", which is not a permission of the vocabulary`)
    }
  }
  const used = new Set(rules.map((rule) => rule.row))
  for (const row of vocabulary.rows.keys()) if (!used.has(row)) failures.push(`row ${row} has no rule`)
  return [...failures, ...proveScopesOfRows(engine)]
}

/** The permissions of a row require exactly the scopes that the row states. */
function proveScopesOfRows({ vocabulary, permissionRules, checkScope }: Engine): string[] {
  const { name, values } = vocabulary.scopeOrder
  return [...vocabulary.rows].flatMap(([row, { scopes, surface }]) => {
    const rules = permissionRules.filter((rule) => rule.row === row && !isDefinition(rule))
    const ofRow = [...vocabulary.permissions.values()].filter((permission) => rules.some((rule) => covers(rule, permission)))
    const elsewhere = ofRow.filter((permission) => permission.surface !== surface)
    if (elsewhere.length > 0 || surface !== undefined)
      return elsewhere.map(
        ({ id }) => `row ${row} is ${surface === undefined ? 'not ' : ''}of the web app alone; its permission "${id}" is the opposite`,
      )
    const required = new Map(ofRow.map(({ id }) => [id, checkScope(id, { [name]: values[0]! }).required]))
    const wrong = [...required].filter(([, scope]) => !scopes.includes(scope))
    const unused = ofRow.length === 0 ? [] : scopes.filter((scope) => ![...required.values()].includes(scope))
    return [
      ...wrong.map(([id, scope]) => `row ${row} has the scope ${scopes.join(', ')}; its permission "${id}" requires ${scope}`),
      ...unused.map((scope) => `row ${row} has the scope ${scope}, which none of its permissions requires`),
    ]
  })
}

/**
 * What hides a subject from its readers hides it in every permission. Otherwise the response to a hidden subject would not be that to an
 * absent one: before anything else is read, only the definitions of the target itself are evaluated (spec §5, rule 3).
 */
function proveHidden({ vocabulary: { permissions } }: Engine): string[] {
  return [...permissions.values()].flatMap(({ id, subject, notFoundUnless }) => {
    const hiding = permissions.get(`read ${subject}`)?.notFoundUnless ?? []
    const missing = hiding.filter((name) => !notFoundUnless.includes(name))
    return missing.map((name) => `"${id}" lacks ${name} under not_found_unless, which "read ${subject}" has`)
  })
}

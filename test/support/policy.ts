import { fileURLToPath } from 'node:url'
import { specificationRows } from '../../src/authz/specification.ts'
import { createEngine, loadEngine, type Decision, type Engine, type PolicyFiles } from '../../src/policy/engine.ts'
import type { Facts } from '../../src/policy/evaluate.ts'
import { readPolicyFolder } from '../../src/policy/folder.ts'
import type { GridOutcome, OracleCell } from './oracle.ts'

/** The policy files in `policies/`. */
export const shippedFiles: PolicyFiles = readPolicyFolder(fileURLToPath(new URL('../../policies', import.meta.url)), 'policies')
export const shipped: Engine = load(shippedFiles)

/** Loads a policy with the rows of the specification. */
export function load(files: PolicyFiles): Engine {
  return loadEngine(files, specificationRows)
}

/**
 * An engine that expects what its own tables decide. For tests of a service with another policy: it would not start with the shipped
 * decisions.
 */
export function expectingItself(engine: Engine): Engine {
  const { vocabulary } = engine
  const permissions = new Map(
    [...vocabulary.permissions].map(([id, permission]) => {
      const { row } = engine.permissionRules.find(
        ({ action, subject }) => action.includes(permission.action) && subject.includes(permission.subject),
      )!
      const scope = engine.checkScope(id, { [vocabulary.scopeOrder.name]: vocabulary.scopeOrder.values[0]! }).required
      const lookUp = (facts: Facts, field: string | undefined) => ({
        response: toGridOutcome(decideCell(engine, id, { facts, field })),
        name: 'itself',
      })
      return [id, { scope, row, gridOf: () => 'itself', lookUp }] as const
    }),
  )
  return createEngine({ ...engine, expected: { ...engine.expected, permissions: new Map(permissions) } })
}

/** The decision of the permission table for a cell of the oracle or of the decision space. */
export function decideCell(engine: Engine, permission: string, { facts, field }: Pick<OracleCell, 'facts' | 'field'>): Decision {
  return engine.decide(permission, facts, field === undefined ? undefined : [field])
}

/** The outcome of a decision in the terms of the oracle. */
export function toGridOutcome({ outcome }: Decision): GridOutcome {
  return ({ allowed: 'ok', forbidden: 403, not_found: 404 } as const)[outcome]
}

/** Whether a decision is the expected one. Before a 401 the table is not asked, so there it must only deny. */
export function isExpected(decision: Decision, { expected }: OracleCell): boolean {
  return expected === 401 ? decision.outcome !== 'allowed' : toGridOutcome(decision) === expected
}

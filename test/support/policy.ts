import { readFileSync } from 'node:fs'
import { loadEngine, type Decision, type Engine, type PolicyFiles } from '../../src/policy/engine.ts'
import type { GridOutcome, OracleCell } from './oracle.ts'

const file = (name: string) => ({
  path: `policies/${name}.yaml`,
  text: readFileSync(new URL(`../../policies/${name}.yaml`, import.meta.url), 'utf8'),
})

/** The policy files in `policies/`. */
export const shippedFiles: PolicyFiles = { vocabulary: file('vocabulary'), scopes: file('scopes'), permissions: file('permissions') }
export const shipped: Engine = loadEngine(shippedFiles)

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

import { fileURLToPath } from 'node:url'
import { checkShippedRows } from '../../src/authz/shipped-rows.ts'
import { createEngine, loadEngine, type Decision, type Engine, type PolicyFiles } from '../../src/policy/engine.ts'
import type { Facts } from '../../src/policy/evaluate.ts'
import { readPolicyFolder } from '../../src/policy/folder.ts'
import type { HandWrittenResponse, HandWrittenCell } from './hand-written-decisions.ts'

/** The policy files in `policies/`. */
export const shippedFiles: PolicyFiles = readPolicyFolder(fileURLToPath(new URL('../../policies', import.meta.url)), 'policies')
export const shipped: Engine = load(shippedFiles)

/** Loads a policy with the rows of the specification. */
export function load(files: PolicyFiles): Engine {
  return loadEngine(files, checkShippedRows)
}

/**
 * An engine whose hand-written decisions follow its own tables. For tests of a service with another policy: it would not start with the
 * shipped decisions.
 */
export function withOwnDecisions(engine: Engine): Engine {
  const { vocabulary } = engine
  const permissions = new Map(
    [...vocabulary.permissions].map(([id, permission]) => {
      const { row } = engine.permissionRules.find(
        ({ action, subject }) => action.includes(permission.action) && subject.includes(permission.subject),
      )!
      const scope = engine.checkScope(id, { [vocabulary.scopeOrder.name]: vocabulary.scopeOrder.values[0]! }).required
      const lookUp = (facts: Facts, field: string | undefined) => ({
        response: toResponse(decideCell(engine, id, { facts, field })),
        name: 'itself',
      })
      return [id, { scope, row, decisionOf: () => 'itself', lookUp }] as const
    }),
  )
  return createEngine({ ...engine, decisions: { ...engine.decisions, permissions: new Map(permissions) } })
}

/** The decision of the permission table for a cell of the hand-written decisions or of the decision space. */
export function decideCell(engine: Engine, permission: string, { facts, field }: Pick<HandWrittenCell, 'facts' | 'field'>): Decision {
  return engine.decide(permission, facts, field === undefined ? undefined : [field])
}

/** The outcome of a decision in the terms of the hand-written decisions. */
export function toResponse({ outcome }: Decision): HandWrittenResponse {
  return ({ allowed: 'ok', forbidden: 403, not_found: 404 } as const)[outcome]
}

/** Whether a decision is the hand-written one. Before a 401 the table is not asked, so there it must only deny. */
export function agrees(decision: Decision, { response }: HandWrittenCell): boolean {
  return response === 401 ? decision.outcome !== 'allowed' : toResponse(decision) === response
}

import { readFileSync } from 'node:fs'
import { loadEngine, type Decision, type Engine, type PolicyFiles } from '../../src/policy/engine.ts'
import type { OracleCell, OracleOperation } from './oracle.ts'

const file = (name: string) => ({
  path: `policies/${name}.yaml`,
  text: readFileSync(new URL(`../../policies/${name}.yaml`, import.meta.url), 'utf8'),
})

/** The tables that ship. */
export const shippedFiles: PolicyFiles = { vocabulary: file('vocabulary'), scopes: file('scopes'), permissions: file('permissions') }
export const shipped: Engine = loadEngine(shippedFiles)

/** What the permission table answers to a cell of the oracle, in the oracle's words. */
export function answerOf(engine: Engine, { pair }: OracleOperation, { facts, field }: OracleCell): 'ok' | 403 | 404 {
  const words: Record<Decision['outcome'], 'ok' | 403 | 404> = { allowed: 'ok', forbidden: 403, not_found: 404 }
  return words[engine.decide(pair, facts, field === undefined ? undefined : [field]).outcome]
}

/** Whether an answer is the expected one. Where a 401 is expected the table is never asked: it need only deny. */
export function agrees(answer: 'ok' | 403 | 404, { expected }: OracleCell): boolean {
  return expected === 401 ? answer !== 'ok' : answer === expected
}

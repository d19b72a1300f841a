import { loadPolicy } from '../../authz/shipped-policy.ts'
import { requireProof } from '../../resources/policy-proof.ts'
import { checkShippedRows } from '../../authz/shipped-rows.ts'
import { diffPolicies, undeclared } from '../../policy/decision-diff.ts'
import { loadEngine, type Engine, type PolicyFiles, type PolicyTexts } from '../../policy/engine.ts'
import type { Proof } from '../../policy/prove.ts'
import { operations } from '../../resources/table.ts'
import { loadTexts } from './read-policy.ts'

/** Whether a policy may replace another one. Plain data: it comes from another thread. */
export type Examination =
  | { readonly outcome: 'unchanged' }
  | {
      readonly outcome: 'refused'
      readonly reason: string
    }
  | {
      readonly outcome: 'undeclared'
      /** the hash of the proposed policy */
      readonly hash: string
      /** what it allows more, without a declaration: `action Subject`, or `define NAME` */
      readonly permissions: readonly string[]
    }
  | {
      readonly outcome: 'accepted'
      /** the hash of the policy that it was compared with */
      readonly before: string
      /** the hash of the proposed policy */
      readonly hash: string
      readonly proof: Proof
      readonly changes: number
      readonly widened: number
      readonly departures: Departures
    }

/**
 * The rows of the specification that a policy decides differently than the shipped one. Its own decisions can say so: only the
 * words and scopes of these rows are fixed.
 */
export type Departures = { readonly rows: readonly string[] } | { readonly failure: string }

/** Questions about policies whose answers take part of a second of CPU time. */
export const examinations = { examine, departuresOf }
export type Examinations = typeof examinations

/**
 * Proves a policy, and compares it with the one in use.
 * @returns `refused` if it cannot be loaded, does not hold, or cannot be compared; `undeclared` if it allows more without declaring it
 */
function examine(inUse: PolicyFiles, proposed: PolicyTexts): Examination {
  try {
    return examineLoaded(loadEngine(inUse, checkShippedRows), proposed)
  } catch (error) {
    return { outcome: 'refused', reason: (error as Error).message }
  }
}

/** Compares a policy with the shipped one. It never throws: what departs too far to be compared is a result, too. */
function departuresOf(files: PolicyFiles): Departures {
  return departuresIn(() => loadEngine(files, checkShippedRows))
}

function examineLoaded(before: Engine, proposed: PolicyTexts): Examination {
  const { engine, widenings } = loadTexts(proposed)
  const { hash } = engine
  if (hash === before.hash) return { outcome: 'unchanged' }
  const proof = requireProof(engine, operations)
  const diff = diffPolicies(before, engine, widenings)
  const missing = undeclared(diff)
  if (missing.length > 0) {
    const permissions = [...new Set(missing.map((change) => ('name' in change ? `define ${change.name}` : change.permission)))]
    return { outcome: 'undeclared', hash, permissions }
  }
  const widened = diff.changes.filter(({ kind }) => kind === 'widening').length
  const departures = departuresIn(() => engine)
  return { outcome: 'accepted', before: before.hash, hash, proof, changes: diff.changes.length, widened, departures }
}

function departuresIn(load: () => Engine): Departures {
  try {
    const engine = load()
    const { changes } = diffPolicies(loadPolicy(), engine)
    const rows = new Set(changes.flatMap(({ permission }) => engine.decisions.permissions.get(permission)?.row ?? []))
    return { rows: [...rows].filter((row) => !row.startsWith('X')).toSorted() }
  } catch (error) {
    return { failure: (error as Error).message }
  }
}

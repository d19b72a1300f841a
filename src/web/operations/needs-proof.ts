import type { Operation } from '../../resources/operation.ts'
import { readFields } from './fields.ts'

const OUTLIVES_SESSIONS = /^webhooks\.(?:create|update|rotate_secret)$/

/**
 * Whether what a form makes outlives "sign out everywhere": a webhook goes on to send to whoever knows its secret. Then it asks for a
 * recent proof, as a token with `kanban:admin` does. To disable a webhook or to remove its header, and nothing else, needs none.
 */
export function needsProof(operation: Operation, form: URLSearchParams): boolean {
  if (!OUTLIVES_SESSIONS.test(operation.id)) return false
  const changed = Object.entries(readFields(operation, form).body ?? {})
  return (
    changed.length === 0 ||
    !changed.every(([name, value]) => (name === 'enabled' ? value === false : name === 'authorization' && value === null))
  )
}

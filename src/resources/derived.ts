import type { Derivation } from '../store/derivation.ts'
import { deriveReadiness } from './cards/readiness.ts'
import { createChangeLog } from './changes/change-log.ts'
import { countFileBytes } from './files/count-bytes.ts'
import { createNotices } from './notices/notify.ts'

/**
 * What every commit derives from the records that it writes, in order, whoever makes it: requests, commands of operators, garbage
 * collection, imports, restores and migrations. A store is opened with this list.
 *
 * - the readiness of cards, from cards and claims
 * - the count of the bytes of all files, from files
 * - the entries of the change feeds, from everything on a board
 * - the notices that people get, from cards, comments, claims and webhooks
 */
export function createDerivations(): readonly Derivation[] {
  return [deriveReadiness, countFileBytes, createChangeLog(), createNotices()]
}

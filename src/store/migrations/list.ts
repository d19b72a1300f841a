import type { Value } from '../port.ts'
import type { Entry, Migration } from './migration.ts'
import { activeTokens } from './active-tokens.ts'
import { alertsOfAccounts, alertsOfAccountsAlone } from './alerts.ts'
import { authorsOfComments } from './authors-of-comments.ts'
import { completions } from './completions.ts'
import { webhookCounts } from './webhook-counts.ts'
import { workOfCards } from './work.ts'

/** All migrations in order. The first one has the number after {@link FIRST_VERSION}. */
export const migrations: readonly Migration[] = [
  workOfCards,
  activeTokens,
  webhookCounts,
  authorsOfComments,
  alertsOfAccounts,
  completions,
  alertsOfAccountsAlone,
]

/** The version of the records of the first release. Nothing reads those before it, which have their numbers. */
export const FIRST_VERSION = 5

/** The version of the records that this version of Lanekeeper reads and writes. */
export const SCHEMA_VERSION = versionAfter(migrations)

/** The version that migrations lead to. */
export function versionAfter(list: readonly Migration[]): number {
  return list.at(-1)?.number ?? FIRST_VERSION
}

/** Whether records of a version can be brought to the present one, or have it. */
export function isReadable(version: number, list: readonly Migration[] = migrations): boolean {
  return version >= FIRST_VERSION && version <= versionAfter(list)
}

/**
 * Brings a record from a version to the present one.
 * @returns what replaces it
 */
export function bringForward(key: string, value: Value, version: number, list: readonly Migration[] = migrations): readonly Entry[] {
  let entries: readonly Entry[] = [[key, value]]
  for (const migration of list) if (migration.number > version) entries = entries.flatMap((entry) => migration.migrate(...entry))
  return entries
}

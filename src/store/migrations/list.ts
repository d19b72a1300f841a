import { standardNames } from './0001-standard-names.ts'
import { sortedCards } from './0002-sorted-cards.ts'
import { homeBoards } from './0003-home-boards.ts'
import { completedCards } from './0004-completed-cards.ts'
import type { Completion, Entry, Migration } from './migration.ts'
import type { Value } from '../port.ts'

/** All migrations in order. */
export const migrations: readonly Migration[] = [standardNames, sortedCards, homeBoards, completedCards]

/** The version of the records that this version of Lanekeeper reads and writes. */
export const SCHEMA_VERSION = versionAfter(migrations)

/** The version that migrations lead to. */
export function versionAfter(list: readonly Migration[]): number {
  return list.at(-1)?.number ?? 0
}

/** What the migrations after a version change afterwards, because it depends on other records. */
export function completionsAfter(version: number, list: readonly Migration[] = migrations): readonly Completion[] {
  return list.flatMap(({ number, completion }) => (completion !== undefined && number > version ? [completion] : []))
}

/** Brings a record from a version to the present one. @returns what replaces it */
export function bringForward(key: string, value: Value, version: number, list: readonly Migration[] = migrations): readonly Entry[] {
  let entries: readonly Entry[] = [[key, value]]
  for (const migration of list) if (migration.number > version) entries = entries.flatMap((entry) => migration.migrate(...entry))
  return entries
}

import type { Change } from '../port.ts'

/** How long the line of a commit may be, in characters. A commit that has changed more does not say what. */
const LINE_LENGTH = 500
/** How long the text of a partition's last commits may be, in characters: about eight changes of cards. */
export const COMMITS_LENGTH = 1000

/** The names of what commits have changed. */
export interface Changed {
  readonly records: readonly string[]
  readonly indexes: readonly string[]
}

/** A commit as a line: its revision, a space, and JSON of what it has changed. */
export function lineOf(change: Change): string {
  const line = `${change.revision} ${JSON.stringify(changedBy(change))}`
  return line.length > LINE_LENGTH ? change.revision : line
}

/** What a commit changes, without the records that it appends. */
export function changedBy({ put, remove, indexes, append }: Change): Changed {
  return { records: [...put.keys(), ...remove], indexes: [...indexes.keys(), ...(append?.keys() ?? [])] }
}

/** The revision of the last commit. @param text lines, the last commit first; null: there was no commit, and the revision is "" */
export function lastRevisionOf(text: string | null): string {
  return /^[^ \n]*/.exec(text ?? '')![0]
}

/**
 * What has changed since a commit.
 * @param text lines, the last commit first; the last line ends or is cut
 * @returns undefined: that is not known
 */
export function changedSince(text: string | null, revision: string): Changed | undefined {
  const changed: { records: string[]; indexes: string[] } = { records: [], indexes: [] }
  for (const line of (text ?? '').split('\n').slice(0, -1)) {
    const space = line.indexOf(' ')
    if ((space === -1 ? line : line.slice(0, space)) === revision) return changed
    if (space === -1) return undefined
    const { records, indexes } = JSON.parse(line.slice(space + 1)) as Changed
    changed.records.push(...records)
    changed.indexes.push(...indexes)
  }
  return undefined
}

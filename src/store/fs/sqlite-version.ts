/** The releases of the affected branches that fixed it: `3.44.6` means 3.44.6 and later releases of 3.44. */
const MENDED = ['3.44.6', '3.50.7', '3.51.3'].map(numbersOf)

/** The first version with a log (WAL). */
const FIRST = [3, 7, 0]

/**
 * Whether a version of SQLite can lose commits if another process makes a checkpoint while it writes (sqlite.org/wal.html, "The WAL-reset
 * bug"): those from 3.7.0 to 3.51.2, except the mended releases.
 * @param version as SQLite states it; one that cannot be read is affected
 */
export function losesCommits(version: string | undefined): boolean {
  const found = numbersOf(version ?? '')
  if (found.length < 3) return true
  if (compare(found, FIRST) < 0) return false
  const last = MENDED.at(-1)!
  if (compare(found, last) >= 0) return false
  return !MENDED.some((mended) => compare(found.slice(0, 2), mended.slice(0, 2)) === 0 && compare(found, mended) >= 0)
}

/** @returns an empty list unless the text is a version */
function numbersOf(version: string): number[] {
  return /^\d+\.\d+\.\d+/.test(version) ? version.split('.', 3).map((part) => Number.parseInt(part, 10)) : []
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [i, number] of a.entries()) if (number !== b[i]) return number - b[i]!
  return 0
}

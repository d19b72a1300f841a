import { createHash } from 'node:crypto'

/**
 * The lines of an export without what an import replaces: the ids of bytes are numbered, and the time and the checksum are left out.
 */
export function comparableExport(lines: readonly string[]): string[] {
  const numbers = new Map<string, number>()
  const numbered = (id: string): string => {
    if (!numbers.has(id)) numbers.set(id, numbers.size)
    return `blb #${numbers.get(id)}`
  }
  return lines.slice(1, -1).map((line) => line.replaceAll(/blb_[0-9a-z]{20}/g, numbered))
}

/** Appends the trailer of an export to its lines. */
export function withTrailer(lines: readonly string[]): string[] {
  const hash = createHash('sha256')
  for (const line of lines) hash.update(line).update('\n')
  return [...lines, JSON.stringify({ end: true, lines: lines.length, sha256: hash.digest('hex') })]
}

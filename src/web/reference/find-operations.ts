/** An operation, as a search finds it. */
export interface SearchEntry {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  /** of its parameters and the members of its body, and the codes of its errors */
  readonly names: readonly string[]
}

/** An operation that a search has found. */
export interface SearchHit {
  readonly entry: SearchEntry
  /** the names that it was found by, if its id, request and summary do not match */
  readonly names: readonly string[]
}

/**
 * Finds the operations that have every word of a query: first those with all of them in the id, then those with all of them in the
 * id, the request or the summary. The server and the script of the pages use it.
 */
export function findOperations(entries: readonly SearchEntry[], query: string): SearchHit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const ranked: SearchHit[][] = [[], [], []]
  if (words.length === 0) return []
  for (const entry of entries) {
    const head = [entry.id, entry.method, entry.path, entry.summary].join(' ').toLowerCase()
    const further = words.filter((word) => !head.includes(word))
    const names = entry.names.filter((name) => further.some((word) => name.toLowerCase().includes(word)))
    if (!further.every((word) => names.some((name) => name.toLowerCase().includes(word)))) continue
    const rank = words.every((word) => entry.id.includes(word)) ? 0 : further.length === 0 ? 1 : 2
    ranked[rank]!.push({ entry, names })
  }
  return ranked.flat()
}

/** One error in a policy file: its position, what is wrong, and how to correct it. */
export interface PolicyDiagnostic {
  readonly path: string
  /** starts at 1 */
  readonly line: number
  /** starts at 1, in UTF-16 code units */
  readonly column: number
  /** the number of code units that the carets underline */
  readonly width: number
  /** the text of the line */
  readonly text: string
  readonly message: string
  readonly suggestion?: string | undefined
  /** the id of the rule that contains the error */
  readonly rule?: string | undefined
}

/** Diagnostics that a message shows, and characters of a line that each of them quotes. */
const SHOWN = 100
const QUOTED = 400

/** Policy files that are refused. The message shows the first diagnostics with carets under their positions. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError'
  readonly diagnostics: readonly PolicyDiagnostic[]

  constructor(diagnostics: readonly PolicyDiagnostic[]) {
    const more = diagnostics.length > SHOWN ? [`and ${diagnostics.length - SHOWN} more`] : []
    super([...diagnostics.slice(0, SHOWN).map(formatDiagnostic), ...more].join('\n\n'))
    this.diagnostics = diagnostics
  }
}

function formatDiagnostic({ path, line, column, width, text, message, suggestion, rule }: PolicyDiagnostic): string {
  const gutter = ' '.repeat(String(line).length)
  const start = text.length > QUOTED ? Math.max(0, column - 1 - QUOTED / 2) : 0
  const quoted = text.slice(start, start + QUOTED)
  const before = quoted.slice(0, column - 1 - start)
  return [
    `${path}:${line}:${column}: ${rule === undefined ? '' : `${rule}: `}${message}`,
    ` ${line} | ${quoted}`,
    // Tabs are kept, so that the carets line up whatever the width of a tab.
    ` ${gutter} | ${before.replaceAll(/[^\t]/g, ' ')}${'^'.repeat(Math.max(1, Math.min(width, quoted.length - before.length)))}${suggestion === undefined ? '' : ` ${suggestion}`}`,
  ].join('\n')
}

/**
 * Finds the closest known word to a mistyped one.
 * @returns `did you mean "…"?`, or undefined if no word is close
 */
export function didYouMean(word: string, words: Iterable<string>): string | undefined {
  let closest: string | undefined
  let minimum = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of words) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < minimum) [closest, minimum] = [candidate, distance]
  }
  return closest === undefined ? undefined : `did you mean "${closest}"?`
}

/** The Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}

/** One fault of a policy file: where it stands, what it is, and what to write instead. */
export interface PolicyDiagnostic {
  readonly path: string
  /** counted from 1 */
  readonly line: number
  /** counted from 1 */
  readonly column: number
  /** how many characters the caret underlines */
  readonly width: number
  /** the line itself */
  readonly text: string
  readonly message: string
  readonly hint?: string | undefined
  /** the id of the rule that it stands in */
  readonly rule?: string | undefined
}

/** Policy files that cannot be trusted. Its message shows every fault with a caret under the place. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError'
  readonly diagnostics: readonly PolicyDiagnostic[]

  constructor(problems: readonly PolicyDiagnostic[]) {
    super(problems.map(formatDiagnostic).join('\n\n'))
    this.diagnostics = problems
  }
}

function formatDiagnostic(problem: PolicyDiagnostic): string {
  const { path, line, column, width, text, message, hint, rule } = problem
  const gutter = ' '.repeat(String(line).length)
  return [
    `${path}:${line}:${column}: ${rule === undefined ? '' : `${rule}: `}${message}`,
    ` ${line} | ${text}`,
    // Tabs stay tabs, so that the caret stands under the place however wide they are shown.
    ` ${gutter} | ${text.slice(0, column - 1).replaceAll(/[^\t]/g, ' ')}${'^'.repeat(width)}${hint === undefined ? '' : ` ${hint}`}`,
  ].join('\n')
}

/**
 * The word of a list that a mistyped word was probably meant to be.
 * @returns `did you mean "…"?`, or undefined where none is near
 */
export function didYouMean(word: string, words: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of words) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best === undefined ? undefined : `did you mean "${best}"?`
}

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

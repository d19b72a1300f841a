/** The median of some numbers, and how far they spread around it: half of the distance between the quartiles. */
export interface Spread {
  readonly median: number
  readonly spread: number
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.round(part * (sorted.length - 1))]!
  return { median: at(0.5), spread: (at(0.75) - at(0.25)) / 2 }
}

/** A Markdown table. */
export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_cell, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}

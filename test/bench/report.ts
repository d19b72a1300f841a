/** How much a run measures. `tiny` only shows that everything works: its figures mean nothing. */
export type Effort = 'tiny' | 'quick' | 'default' | 'full'

/** How often something is measured. */
export interface Rounds {
  readonly rounds: number
}

/** How many requests are measured. */
export interface RequestRounds extends Rounds {
  /** requests of each round, of each server */
  readonly requests: number
}

/** Shows what is being measured in the last line of a terminal. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`)
}

/** The result of a table of the benchmark. */
export interface Report {
  /** what its figures are */
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly notes?: readonly string[]
}

/** A table of the benchmark. */
export interface BenchTable {
  readonly name: string
  /** what it compares, for the help */
  readonly summary: string
  /** @param against a commit: the table compares the service with the one of then. Few tables do. */
  measure(effort: Effort, against?: string): Promise<Report>
}

/** A Markdown table. */
export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_cell, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}

/** A report as Markdown. */
export function toMarkdown({ name }: BenchTable, { title, head, rows, notes = [] }: Report): string {
  return [`### ${name}`, title, markdown(head, rows), ...notes].join('\n\n')
}

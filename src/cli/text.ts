import { styleText } from 'node:util'

/** Aligns rows in columns. The first row is the header. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_cell, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}

/** Formats the result of a command for reading: a list as a table, an object as one line per member. */
export function describe(result: unknown): string {
  if (Array.isArray(result)) return result.length === 0 ? 'none' : describeList(result as object[])
  return table(Object.entries(result as object).map(([name, value]) => [name, cell(value)])).join('\n')
}

function describeList(items: readonly object[]): string {
  const header = Object.keys(items[0]!)
  return table([header, ...items.map((item) => Object.values(item).map(cell))]).join('\n')
}

/** Formats a value. Names come from users: control characters are escaped, because they could move the cursor or change colours. */
export function cell(value: unknown): string {
  const text = value === null || value === undefined ? '–' : typeof value === 'object' ? Object.values(value).join(' ') : String(value)
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** A number of things: "1 check", "2 checks". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

type Style = 'green' | 'red' | 'bold' | 'dim'

/** Functions that colour text, if the stream is a terminal and the environment does not forbid it (`NO_COLOR`). */
export function painter(stream: { readonly isTTY?: boolean }): Readonly<Record<Style, (text: string) => string>> {
  const isColoured = stream.isTTY === true && (process.env['NO_COLOR'] ?? '') === ''
  const paint = (style: Style) => (text: string) => (isColoured ? styleText(style, text) : text)
  return { green: paint('green'), red: paint('red'), bold: paint('bold'), dim: paint('dim') }
}

/** Where an annotation is shown. */
export interface AnnotatedPlace {
  readonly path: string
  /** from 1 */
  readonly line: number
  /** from 1 */
  readonly column: number
}

/**
 * Shows an error on the page of a change, if GitHub Actions runs the command. It is a workflow command on stderr, which GitHub reads like
 * stdout, so that the result on stdout stays what its format says.
 * @param at default: it is about the run
 */
export function annotate(title: string, message: string, at?: AnnotatedPlace): void {
  if (process.env['GITHUB_ACTIONS'] !== 'true') return
  const place = at === undefined ? {} : { file: at.path, line: at.line, col: at.column }
  const properties = Object.entries({ ...place, title }).map(([name, value]) => `${name}=${escapeProperty(String(value))}`)
  console.error(`::error ${properties.join(',')}::${escapeData(message)}`)
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

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
  const text = value === null || value === undefined ? '–' : Array.isArray(value) ? value.join(' ') : String(value)
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** A number of things: "1 check", "2 checks". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

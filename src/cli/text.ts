/** Rows as columns that line up, the first row their heads. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_cell, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}

/** What a command answered, for a person: a list as a table, anything else member by member. */
export function describe(result: unknown): string {
  if (Array.isArray(result)) return result.length === 0 ? 'none' : listed(result as object[])
  return table(Object.entries(result as object).map(([name, value]) => [name, cell(value)])).join('\n')
}

function listed(items: readonly object[]): string {
  const heads = Object.keys(items[0]!)
  return table([heads, ...items.map((item) => Object.values(item).map(cell))]).join('\n')
}

// Names are other people's words: what would move the cursor or colour the screen is shown as what it is.
function cell(value: unknown): string {
  const text = value === null || value === undefined ? '–' : Array.isArray(value) ? value.join(' ') : String(value)
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

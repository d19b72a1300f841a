import { didYouMean } from './diagnostic.ts'
import type { Path } from './source.ts'

type Report = (at: Path, message: string, hint?: string, on?: 'key' | 'value') => void
type Decided = { readonly groups: readonly string[] } & ({ readonly id: string } | { readonly name: string })

interface ScopeOrderData {
  readonly ladder: string
  readonly opens: Readonly<Record<string, string>>
  readonly rows: Readonly<Record<string, string>>
}

/** What each row of the scope table opens its pairs to: stated for each, so that the proof can hold the rows to it. */
export function readMinimumScopes(
  data: ScopeOrderData,
  ladder: { readonly values: readonly string[] } | undefined,
  report: Report,
): Map<string, string> {
  for (const row of Object.keys(data.rows))
    if (row.startsWith('S') && !Object.hasOwn(data.opens, row))
      report(['rows', row], `"opens" does not say what row ${row} opens its pairs to`, undefined, 'key')
  for (const [row, value] of Object.entries(data.opens)) {
    if (!row.startsWith('S') || !Object.hasOwn(data.rows, row))
      report(['opens', row], `"${row}" is no row of the scope table`, undefined, 'key')
    if (ladder?.values.includes(value) === false) report(['opens', row], `unknown value "${value}"`, didYouMean(value, ladder.values))
  }
  return new Map(Object.entries(data.opens))
}

/** The fact that the scope table speaks of, and no other table. */
export function readScopeOrder<Fact extends { readonly group: string }>(
  data: Pick<ScopeOrderData, 'ladder'>,
  facts: ReadonlyMap<string, Fact>,
  others: readonly Decided[],
  report: Report,
): Fact | undefined {
  const ladder = facts.get(data.ladder)
  if (ladder === undefined) report(['ladder'], `unknown fact "${data.ladder}"`, didYouMean(data.ladder, facts.keys()))
  for (const { groups, ...other } of others) {
    const name = 'id' in other ? other.id : other.name
    if (ladder !== undefined && groups.includes(ladder.group))
      report(['ladder'], `"${name}" is decided on ${ladder.group} too`, "the token is the scope table's matter alone")
  }
  return ladder
}

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

/** The quotients of numbers that were measured one right after the other, so that both met the same machine. */
export function ratioOf(dividends: readonly number[], divisors: readonly number[]): Spread {
  return spreadOf(dividends.map((dividend, i) => dividend / divisors[i]!))
}

/** The median and the spread as text. */
export function formatSpread({ median, spread }: Spread, digits = 0): string {
  return `${median.toFixed(digits)} ± ${spread.toFixed(digits)}`
}

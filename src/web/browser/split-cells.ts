import type { Cell, Response } from '../policy-report/report-data.ts'

/** Cells with one response: the values that make them, and one of them. */
export interface Part {
  readonly terms: readonly (readonly [name: string, values: readonly string[]])[]
  readonly cell: Cell
  readonly response: Response
}

/**
 * Splits cells by one fact after the other until each part has one response, in as few parts as it can. Values that lead to the same parts
 * are joined.
 * @param names facts that together decide the response
 */
export function splitCells(cells: readonly Cell[], names: readonly string[]): readonly Part[] {
  const first = cells[0]!
  const { response } = first.answer
  if (cells.every(({ answer }) => answer.response === response)) return [{ terms: [], cell: first, response }]
  const all = names.map((name) => splitBy(cells, name, names)).filter((parts) => parts !== undefined)
  return all.reduce((best, parts) => (parts.length < best.length ? parts : best))
}

function splitBy(cells: readonly Cell[], name: string, names: readonly string[]): readonly Part[] | undefined {
  const groups = Map.groupBy(cells, ({ values }) => values[name]!)
  if (groups.size < 2) return undefined
  const joined = new Map<string, { readonly values: string[]; readonly parts: readonly Part[] }>()
  for (const [value, of] of groups) {
    const parts = splitCells(
      of,
      names.filter((other) => other !== name),
    )
    const key = JSON.stringify(parts.map(({ terms, response }) => [terms, response]))
    const same = joined.get(key)
    if (same === undefined) joined.set(key, { values: [value], parts })
    else same.values.push(value)
  }
  const all = [...joined.values()]
  return all.flatMap(({ values, parts }) =>
    parts.map((part) => ({ ...part, terms: all.length > 1 ? [[name, values] as const, ...part.terms] : part.terms })),
  )
}

/** The facts on which the responses of some cells depend: those whose change alone changes one. */
export function decidingFacts(cells: readonly Cell[], names: readonly string[]): string[] {
  return names.filter((name) => {
    const others = names.filter((other) => other !== name)
    const seen = new Map<string, Response>()
    return cells.some(({ values, answer: { response } }) => {
      const key = others.map((other) => values[other]).join('|')
      if (!seen.has(key)) seen.set(key, response)
      return seen.get(key) !== response
    })
  })
}

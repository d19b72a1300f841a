/** What is read of a report of Stryker. It has the schema of mutation-testing-report-schema. */
export interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly { readonly status: string }[] }>>
}

/** How many mutants of a file tests noticed. */
export interface Score {
  readonly path: string
  readonly killed: number
  readonly survived: number
  /** no test reaches them: they count as survivors */
  readonly unreached: number
  /** explained in place, or run only when the module is loaded */
  readonly ignored: number
  /** percent of those that were judged */
  readonly score: number
}

/** The score of each file of a report. A mutant that runs forever is killed, one that does not compile is not counted. */
export function scoresOf({ files }: Report): Score[] {
  return Object.entries(files).map(([path, { mutants }]) => {
    const count = (...statuses: readonly string[]) => mutants.filter(({ status }) => statuses.includes(status)).length
    const [killed, survived, unreached] = [count('Killed', 'Timeout'), count('Survived'), count('NoCoverage')]
    const judged = killed + survived + unreached
    return { path, killed, survived, unreached, ignored: count('Ignored'), score: judged === 0 ? 100 : (100 * killed) / judged }
  })
}

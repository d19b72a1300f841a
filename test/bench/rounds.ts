import { showProgress, type Rounds } from './report.ts'

/** What {@link inTurns} measures. */
export interface Turns extends Rounds {
  /** the rounds before those that count. One of them by default */
  readonly warmUp?: number | undefined
  /** what is measured */
  readonly what: string
}

/**
 * Measures several things in turns, so that whatever else the machine does affects all of them. Rounds that are not counted come first: in
 * them, code is compiled and the caches of the file system are filled. A single round has none of them.
 * @param measure measures one of the things once. Rounds that count have numbers from 1.
 * @returns for each thing, what was measured in each round that counts
 */
export async function inTurns<Name extends string, Sample>(
  names: readonly Name[],
  { rounds, warmUp = 1, what }: Turns,
  measure: (name: Name, round: number) => Promise<Sample>,
): Promise<Record<Name, Sample[]>> {
  const samples = Object.fromEntries(names.map((name) => [name, [] as Sample[]])) as Record<Name, Sample[]>
  for (let round = rounds > 1 ? 1 - warmUp : 1; round <= rounds; round++)
    // In another order in every second round: what the first one leaves to the garbage collector is a cost of the second one.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      showProgress(`${what}, ${name}, round ${round} of ${rounds}`)
      const sample = await measure(name, round)
      if (round > 0) samples[name].push(sample)
    }
  return samples
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Mutant } from './mutants.ts'

/** A mutant that no test can kill, because it does not change what the code does, or not what anyone can observe. */
export interface Explanation {
  readonly file: string
  /** as the run prints it: the changed lines, with white space collapsed */
  readonly before: string
  readonly after: string
  readonly reason: string
}

/** @throws {Error} if an entry is incomplete or a duplicate */
export function readExplanations(root: string): Explanation[] {
  const folder = join(root, 'test/mutation/explained')
  const entries = readdirSync(folder).flatMap((name) => parse(readFileSync(join(folder, name), 'utf8')) as Explanation[])
  const seen = new Set<string>()
  for (const { file, before, after, reason } of entries) {
    const key = JSON.stringify([file, before, after])
    // A removed line leaves nothing after it.
    if ([file, before, after || 'nothing', reason].some((text) => typeof text !== 'string' || text === ''))
      throw new Error(`incomplete: ${key}`)
    if (seen.has(key)) throw new Error(`duplicate: ${key}`)
    seen.add(key)
  }
  return entries
}

export function explanationOf(mutant: Mutant, explanations: readonly Explanation[]): Explanation | undefined {
  return explanations.find(({ file, before, after }) => file === mutant.path && before === mutant.before && after === mutant.after)
}

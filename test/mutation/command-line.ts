import { parseArgs } from 'node:util'
import { parse } from '../lint/syntax.ts'
import { seededRandom } from '../support/random.ts'
import { explanationOf, readExplanations } from './explained.ts'
import type { Verdict } from './judge.ts'
import { judgeAll, type Case, type Judged } from './judging.ts'
import { subjects, type Subject } from './map.ts'
import { mutantsOf, type Mutant } from './mutants.ts'

const USAGE = `npm run mutate -- [options] [files]

Changes the files one place at a time, and runs the suites that must notice (test/mutation/map.ts). Without files: all of the map.

  --list          print the mutants, judge none
  --only LINE     only mutants of this line
  --sample N      N mutants of each file, chosen by the seed
  --seed N        default 1
  --workers N     default 2: each is a process that runs tests
  --all           judge the mutants of test/mutation/explained too: a killed one is an error
  --verbose       print what killed each mutant
`

interface Options {
  readonly list: boolean
  readonly only: number | undefined
  readonly sample: number | undefined
  readonly seed: number
  readonly workers: number
  readonly all: boolean
  readonly verbose: boolean
}

/** @returns the exit code: 1 if a survivor is not explained, an explanation is stale, or the arguments are wrong */
export async function main(args: readonly string[]): Promise<number> {
  const root = process.cwd()
  const parsed = readArguments(args)
  if (typeof parsed === 'string') return (console.error(parsed), 1)
  const { options, chosen } = parsed
  const explanations = readExplanations(root)
  const all = chosen.flatMap((subject) =>
    mutantsOf(parse(subject.path)).map((mutant): Case => ({ subject, mutant, explanation: explanationOf(mutant, explanations) })),
  )
  const stale = explanations.filter(
    (entry) => chosen.some(({ path }) => path === entry.file) && !all.some(({ explanation }) => explanation === entry),
  )
  for (const { file, before } of stale) console.log(`stale explanation, no such mutant: ${file}: ${before}`)
  const selected = chosen.flatMap((subject) =>
    select(
      all.filter((one) => one.subject === subject),
      options,
    ),
  )
  if (options.list) return (selected.forEach(({ mutant }) => print(mutant)), console.log(`${selected.length} mutants`), 0)
  const cases = selected.filter(({ explanation }) => options.all || explanation === undefined)
  const { judged, failures, isInterrupted } = await judgeAll(root, cases, options.workers, (one, count) => {
    const by = options.verbose ? `  ${one.verdict.by}` : ''
    console.log(`${count}/${cases.length} ${one.verdict.outcome}  ${one.mutant.path}:${one.mutant.line}${by}`)
    if (one.verdict.outcome === 'survived') print(one.mutant)
  })
  for (const [path, failure] of failures) console.log(`not judged, because its suites fail without a mutant: ${path}: ${failure}`)
  if (isInterrupted) console.log('interrupted')
  return summarize(judged, selected.length, all.length) && !isInterrupted && stale.length === 0 && failures.size === 0 ? 0 : 1
}

function readArguments(args: readonly string[]): { options: Options; chosen: readonly Subject[] } | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        list: { type: 'boolean', default: false },
        only: { type: 'string' },
        sample: { type: 'string' },
        seed: { type: 'string', default: '1' },
        workers: { type: 'string', default: '2' },
        all: { type: 'boolean', default: false },
        verbose: { type: 'boolean', default: false },
      },
    })
    const unknown = positionals.filter((path) => !subjects.some((subject) => subject.path === path))
    if (unknown.length > 0) return `test/mutation/map.ts does not have: ${unknown.join(' ')}\n\n${USAGE}`
    const number = (text: string | undefined) => (text === undefined ? undefined : Number(text))
    const { only, sample, seed, workers, ...flags } = values
    const options = { ...flags, only: number(only), sample: number(sample), seed: Number(seed), workers: Number(workers) }
    return { options, chosen: positionals.length === 0 ? subjects : subjects.filter(({ path }) => positionals.includes(path)) }
  } catch (error) {
    return `${(error as Error).message}\n\n${USAGE}`
  }
}

/** The mutants of one file that the options choose, in source order. */
function select(cases: readonly Case[], { only, sample, seed }: Options): readonly Case[] {
  const onLine = only === undefined ? cases : cases.filter(({ mutant }) => mutant.line === only)
  if (sample === undefined || sample >= onLine.length) return onLine
  const random = seededRandom(seed)
  const rest = [...onLine]
  const sampled = new Set(Array.from({ length: sample }, () => rest.splice(random(rest.length), 1)[0]!))
  return onLine.filter((one) => sampled.has(one))
}

/** Prints what is left over, and the score. @returns whether every survivor is explained and no explained mutant was killed */
function summarize(judged: readonly Judged[], selected: number, mutants: number): boolean {
  const count = (outcome: Verdict['outcome']) =>
    judged.filter(({ verdict, explanation }) => verdict.outcome === outcome && !explanation).length
  const survivors = judged.filter(({ verdict, explanation }) => verdict.outcome === 'survived' && explanation === undefined)
  const refuted = judged.filter(({ verdict, explanation }) => verdict.outcome !== 'survived' && explanation !== undefined)
  for (const [title, cases] of [
    ['survivors', survivors],
    ['stale explanations, the mutants are killed', refuted],
  ] as const) {
    if (cases.length > 0) console.log(`\n${title}:\n`)
    for (const { mutant } of cases) print(mutant)
  }
  const [killed, late] = [count('killed'), count('timed out')]
  const total = killed + late + survivors.length
  const score = total === 0 ? '' : `, score ${(((killed + late) / total) * 100).toFixed(1)} %`
  console.log(
    `\n${mutants} mutants, ${selected} selected, ${total} judged: ${killed} killed, ${late} timed out, ${survivors.length} survived${score}`,
  )
  return survivors.length === 0 && refuted.length === 0
}

function print({ path, line, before, after }: Mutant): void {
  console.log(`${path}:${line}\n  - ${before}\n  + ${after}`)
}

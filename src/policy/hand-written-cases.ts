import { z } from 'zod'
import { didYouMean } from './diagnostic.ts'
import type { Facts } from './evaluate.ts'
import { checkValue, readShape } from './shape.ts'
import type { Path, Report, Source } from './source.ts'
import type { Fact, Vocabulary } from './vocabulary.ts'

/** What a caller gets: `401` before the permission table is asked, so there the table must only deny. */
export type HandWrittenResponse = 'ok' | 401 | 403 | 404

/** The responses of one kind of permission, written by hand. */
export interface HandWrittenDecision {
  readonly name: string
  /** the groups of the facts that make a difference */
  readonly groups: ReadonlySet<string>
  /** The response for some facts, and the case that states it. */
  lookUp(facts: Facts): HandWrittenCase
}

export interface HandWrittenCase {
  readonly response: HandWrittenResponse
  /** the names of the case on each axis */
  readonly name: string
}

const response = z.union([z.literal('ok'), z.literal(403), z.literal(404)])
const facts = z.record(z.string(), z.union([z.string(), z.array(z.string()).min(1)]))
const shape = z.strictObject({
  version: z.literal(1),
  axes: z.record(z.string(), z.record(z.string(), z.union([facts, z.array(facts).min(1)]))),
  always: z.array(z.strictObject({ facts, response: z.literal(401) })),
  decisions: z.record(
    z.string(),
    z.union([response, z.record(z.string(), z.unknown())], { error: 'a decision is a response, or has the axis "down"' }),
  ),
})
type Data = z.output<typeof shape>
type RawFacts = z.output<typeof facts>
type RawDecision = Data['decisions'][string]

/** The cases of an axis. Each combination of values of its facts belongs to exactly one of them. */
interface Axis {
  readonly facts: readonly Fact[]
  readonly cases: readonly string[]
  /** the {@link valuesOf} the facts → the case */
  readonly caseOf: ReadonlyMap<string, string>
}

/**
 * Reads the hand-written responses. This file and `hand-written-decisions.ts` share nothing with the code that decides.
 * @throws {PolicyError} if a name is unknown, a combination of facts belongs to no case or to two, or a response is missing
 */
export function readCases(source: Source, vocabulary: Vocabulary): ReadonlyMap<string, HandWrittenDecision> {
  return readShape(source, shape, (data, report) => {
    const axes = new Map(Object.entries(data.axes).map(([name, cases]) => [name, readAxis(name, cases, vocabulary, report)]))
    const always = data.always.map((rule, i) => readFacts(rule.facts, ['always', i, 'facts'], vocabulary, report))
    const isAlways = (present: Facts) => always.some((facts) => facts.every(([fact, values]) => values.includes(present[fact]!)))
    return new Map(
      Object.entries(data.decisions).map(([name, raw]) => {
        const { groups, lookUp } = readDecision(name, raw, axes, report)
        return [name, { name, groups, lookUp: (present: Facts) => (isAlways(present) ? ALWAYS : lookUp(present)) }]
      }),
    )
  })
}

const ALWAYS: HandWrittenCase = { response: 401, name: 'always' }
/** The result for a decision that was reported. It is never asked: a file with diagnostics is not loaded. */
const INVALID: Pick<HandWrittenDecision, 'groups' | 'lookUp'> = { groups: new Set(), lookUp: () => ALWAYS }

/** Facts as a list of each fact and its values. */
type FactValues = readonly (readonly [fact: string, values: readonly string[]])[]

function readFacts(raw: RawFacts, at: Path, { facts: known }: Vocabulary, report: Report): FactValues {
  return Object.entries(raw).map(([name, value]) => {
    const fact = known.get(name)
    const values = [value].flat()
    if (fact === undefined) report([...at, name], `unknown fact "${name}"`, didYouMean(name, known.keys()), 'key')
    else for (const one of values) checkValue(one, fact, [...at, name], report)
    return [name, values]
  })
}

function readAxis(axis: string, raw: Data['axes'][string], vocabulary: Vocabulary, report: Report): Axis {
  const alternatives = Object.entries(raw).flatMap(([name, one]) => {
    const at: Path = ['axes', axis, name]
    return [one].flat().map((facts, i) => ({ name, facts: readFacts(facts, Array.isArray(one) ? [...at, i] : at, vocabulary, report) }))
  })
  const names = [...new Set(alternatives.flatMap(({ facts }) => facts.map(([fact]) => fact)))]
  const used = names.flatMap((name) => vocabulary.facts.get(name) ?? [])
  const caseOf = new Map<string, string>()
  for (const values of combinations(used.map((fact) => fact.values))) {
    const present = Object.fromEntries(used.map(({ name }, i) => [name, values[i]!]))
    const matches = alternatives.filter(({ facts }) => facts.every(([fact, accepted]) => accepted.includes(present[fact]!)))
    const cases = [...new Set(matches.map(({ name }) => name))]
    const described = Object.entries(present).map(([name, value]) => `${name} ${value}`)
    if (cases.length === 0) report(['axes', axis], `no case of "${axis}" has ${described.join(', ')}`, 'add it to one of the cases', 'key')
    if (cases.length > 1)
      report(['axes', axis, cases[1]!], `"${cases.join('" and "')}" both have ${described.join(', ')}`, 'each belongs to one case', 'key')
    caseOf.set(valuesOf(used, present), cases[0]!)
  }
  return { facts: used, cases: Object.keys(raw), caseOf }
}

function valuesOf(axis: readonly Fact[], facts: Facts): string {
  return axis.map(({ name }) => facts[name]).join()
}

/** Every list with one member of each list. */
function combinations(lists: readonly (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>((lines, list) => lines.flatMap((line) => list.map((member) => [...line, member])), [[]])
}

function readDecision(
  name: string,
  raw: RawDecision,
  axes: ReadonlyMap<string, Axis>,
  report: Report,
): Pick<HandWrittenDecision, 'groups' | 'lookUp'> {
  if (typeof raw !== 'object') return { groups: new Set(), lookUp: () => ({ response: raw, name: 'every case' }) }
  const { down, across, ...lines } = raw
  const axisOf = (member: 'down' | 'across', axis: unknown): Axis | undefined => {
    const found = axes.get(String(axis))
    if (found === undefined) report(['decisions', name, member], `unknown axis "${String(axis)}"`, didYouMean(String(axis), axes.keys()))
    return found
  }
  const [rows, columns] = [axisOf('down', down), across === undefined ? undefined : axisOf('across', across)]
  if (rows === undefined || (across !== undefined && columns === undefined)) return INVALID
  checkLines(name, lines, rows, columns, report)
  const cases = new Map(
    rows.cases.flatMap((row) =>
      (columns?.cases ?? ['']).map((column, i): [string, HandWrittenCase] => {
        const line = lines[row]
        const at = columns === undefined ? row : `${row}, ${column}`
        return [`${row}\n${column}`, { response: (Array.isArray(line) ? line[i] : line) as HandWrittenResponse, name: at }]
      }),
    ),
  )
  const caseOn = (axis: Axis | undefined, facts: Facts) => (axis === undefined ? '' : axis.caseOf.get(valuesOf(axis.facts, facts))!)
  return {
    groups: new Set([rows, columns].flatMap((axis) => (axis?.facts ?? []).map(({ group }) => group))),
    lookUp: (facts) => cases.get(`${caseOn(rows, facts)}\n${caseOn(columns, facts)}`)!,
  }
}

function checkLines(decision: string, lines: Record<string, unknown>, { cases }: Axis, columns: Axis | undefined, report: Report): void {
  for (const [row, line] of Object.entries(lines)) {
    const at: Path = ['decisions', decision, row]
    if (!cases.includes(row)) report(at, `unknown case "${row}"`, didYouMean(row, cases), 'key')
    const count = Array.isArray(line) ? line.length : undefined
    if (count !== columns?.cases.length)
      report(
        at,
        columns === undefined ? 'one response is wanted' : `${columns.cases.length} responses are wanted: one for each case across`,
      )
    for (const [i, one] of [line].flat().entries())
      if (!response.safeParse(one).success)
        report(Array.isArray(line) ? [...at, i] : at, `"${String(one)}" is not a response`, 'ok, 403 or 404')
  }
  for (const row of cases) if (!Object.hasOwn(lines, row)) report(['decisions', decision], `no response for "${row}"`, undefined, 'key')
}

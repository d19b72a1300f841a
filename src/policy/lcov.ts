import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, type Pair } from 'yaml'
import type { Coverage } from './coverage.ts'
import type { SourceFile } from './source.ts'

/** A member of a YAML map, with the lines that it takes. */
interface Member {
  readonly key: string
  readonly value: unknown
  readonly first: number
  readonly last: number
}

/**
 * Coverage in the format of LCOV: the lines of a rule are hit as often as it decided, and each value of a condition is a branch of its line.
 * @param tables the files of the two tables
 */
export function renderLcov(tables: readonly SourceFile[], coverage: Coverage): string {
  const rules = coverage.ruleCounts()
  const branches = coverage.conditionCounts()
  return tables.map((table) => renderTable(table, rules, branches)).join('')
}

function renderTable(table: SourceFile, rules: ReadonlyMap<string, number>, conditions: ReturnType<Coverage['conditionCounts']>): string {
  const functions: string[] = []
  const branches: string[] = []
  const lines: string[] = []
  let hitRules = 0
  let hitBranches = 0
  let hitLines = 0
  for (const members of rulesIn(table.text)) {
    const id = String(members.find(({ key }) => key === 'id')!.value)
    const count = rules.get(id) ?? 0
    functions.push(`FN:${members[0]!.first},${id}`, `FNDA:${count},${id}`)
    if (count > 0) hitRules++
    for (const { first, last } of members)
      for (let line = first; line <= last; line++) {
        lines.push(`DA:${line},${count}`)
        if (count > 0) hitLines++
      }
    const { value, first } = members.find(({ key }) => key === 'conditions')!
    const lineOf = value as ReadonlyMap<string, number>
    for (const [i, branch] of conditions.filter(({ rule }) => rule === id).entries()) {
      branches.push(`BRDA:${lineOf.get(branch.name) ?? first},0,${i},${count === 0 && branch.count === 0 ? '-' : branch.count}`)
      if (branch.count > 0) hitBranches++
    }
  }
  const totals = [`FNF:${functions.length / 2}`, `FNH:${hitRules}`]
  const rest = [`BRF:${branches.length}`, `BRH:${hitBranches}`, ...lines, `LF:${lines.length}`, `LH:${hitLines}`]
  return [`TN:`, `SF:${table.path}`, ...functions, ...totals, ...branches, ...rest, 'end_of_record', ''].join('\n')
}

/** The members of each rule with their lines. The value of `conditions` is the line of each condition. */
function rulesIn(text: string): Member[][] {
  const counter = new LineCounter()
  const { contents } = parseDocument(text, { lineCounter: counter })
  const lineOf = (offset: number) => counter.linePos(offset).line
  const rules = isMap(contents) ? contents.get('rules') : undefined
  return (isSeq(rules) ? rules.items : []).flatMap((rule) => (isMap(rule) ? [rule.items.map((pair) => memberOf(pair, lineOf))] : []))
}

function memberOf(pair: Pair, lineOf: (offset: number) => number): Member {
  const [start] = (pair.key as { range: [number, number] }).range
  const value = pair.value as { range: [number, number]; value?: unknown }
  const keyOf = (one: unknown) => (isPair(one) && isScalar(one.key) ? one.key : undefined)
  const conditions = isMap(pair.value)
    ? new Map(pair.value.items.flatMap((one) => [[String(keyOf(one)?.value), lineOf(keyOf(one)?.range?.[0] ?? start)] as const]))
    : value.value
  // The end of a value in several lines is after its last line break.
  const last = lineOf(Math.max(start, value.range[1] - 1))
  return { key: String(keyOf(pair)?.value), value: conditions, first: lineOf(start), last }
}

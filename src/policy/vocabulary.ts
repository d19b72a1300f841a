import { z } from 'zod'
import { didYouMean, PolicyError, type PolicyDiagnostic } from './diagnostic.ts'
import { readScopeOrder, readMinimumScopes } from './scope-order.ts'
import { readShape, sentence } from './shape.ts'
import type { Path, Source } from './source.ts'

/** A fact that code states about a request: one of a few values. */
export interface Fact {
  /** `group.fact` */
  readonly name: string
  readonly group: string
  readonly values: readonly string[]
  readonly means: string
}

/** A fact that D rules derive from facts; true or false. */
export interface Definition {
  /** `group.fact` */
  readonly name: string
  /** the groups of facts that it is decided on */
  readonly groups: readonly string[]
  readonly means: string
}

/** One (action, subject) pair that may be asked. */
export interface Permission {
  /** `action Subject` */
  readonly id: string
  readonly action: string
  readonly subject: string
  /** the groups of facts that it is decided on */
  readonly groups: readonly string[]
  /** the definitions without which the answer is `not_found` */
  readonly notFoundUnless: readonly string[]
  /** the subject's fields where the pair is decided field by field, else undefined */
  readonly fields: readonly string[] | undefined
}

/** The closed list of words in which policy tables speak. */
export interface Vocabulary {
  readonly facts: ReadonlyMap<string, Fact>
  readonly groups: ReadonlyMap<string, readonly Fact[]>
  /** the fact of the scope table, its values from least to greatest */
  readonly scopeOrder: Fact
  /** in the order in which they are evaluated */
  readonly definitions: ReadonlyMap<string, Definition>
  readonly permissions: ReadonlyMap<string, Permission>
  readonly subjects: ReadonlySet<string>
  readonly actions: ReadonlySet<string>
  /** row of the scope table → the least value of the ladder that it opens its pairs to */
  readonly minimumScopes: ReadonlyMap<string, string>
  /** row of the specification → its words */
  readonly rows: ReadonlyMap<string, string>
}

const word = z.string().regex(/^[a-z][a-z_]*$/, 'a word is lower-case letters and "_"')
const name = z.string().regex(/^[A-Z][A-Za-z]*$/, 'a subject is letters, the first a capital')
const dotted = z.string().regex(/^[a-z][a-z_]*\.[a-z][a-z_]*$/, 'a fact is written group.fact')
const values = z.array(z.string().min(1)).min(2, 'a fact has at least two values')
const shape = z.strictObject({
  version: z.literal(1),
  facts: z.record(word, z.record(word, z.strictObject({ values, means: sentence }))),
  ladder: dotted,
  opens: z.record(z.string(), z.string()).default({}),
  definitions: z.record(dotted, z.strictObject({ of: z.array(word).min(1), means: sentence })),
  subjects: z.record(name, z.strictObject({ fields: z.array(word).min(1).optional() })),
  asks: z.array(
    z.strictObject({
      of: z.array(word).min(1),
      not_found_unless: z.array(dotted).min(1).optional(),
      by_field: z.literal(true).optional(),
      pairs: z.record(word, z.array(name).min(1)),
    }),
  ),
  rows: z.record(z.string().regex(/^[SDPX][1-9][0-9]?$/, 'a row is S, D, P or X and a number'), sentence),
})
const KEYS = 'version facts ladder opens definitions subjects asks rows values means of fields not_found_unless by_field pairs'.split(' ')

/** The action of D rules. No pair of the vocabulary may use it. */
export const DEFINE = 'define'
// CASL gives both a meaning of their own: every action, every subject.
const MAGIC = new Set(['manage', 'all', DEFINE])

type Data = z.output<typeof shape>
type Report = (at: Path, message: string, hint?: string, on?: 'key' | 'value') => void

/**
 * Reads the vocabulary.
 * @throws {PolicyError} where a word is unknown, said twice, or magic to CASL
 */
export function readVocabulary(source: Source): Vocabulary {
  const data = readShape(source, shape, KEYS)
  const problems: PolicyDiagnostic[] = []
  const report: Report = (at, message, hint, on) => void problems.push(source.diagnostic(at, message, { hint, on }))

  const facts = readFacts(data, report)
  const groups = new Map(Object.keys(data.facts).map((name) => [name, [...facts.values()].filter(({ group }) => group === name)]))
  const definitions = readDefinitions(data, facts, groups, report)
  const asks = readPermissions(data, groups, definitions, report)
  const ladder = readScopeOrder(data, facts, [...definitions.values(), ...asks.values()], report)
  const opens = readMinimumScopes(data, ladder, report)
  if (problems.length > 0) throw new PolicyError(problems)
  return {
    facts,
    minimumScopes: opens,
    groups,
    scopeOrder: ladder!,
    definitions,
    permissions: asks,
    subjects: new Set(Object.keys(data.subjects)),
    actions: new Set([...asks.values()].map((ask) => ask.action)),
    rows: new Map(Object.entries(data.rows)),
  }
}

function readFacts(data: Data, report: Report): Map<string, Fact> {
  const facts = new Map<string, Fact>()
  for (const [group, members] of Object.entries(data.facts)) {
    for (const [key, { values: all, means }] of Object.entries(members)) {
      if (new Set(all).size < all.length) report(['facts', group, key, 'values'], 'a value stands twice')
      facts.set(`${group}.${key}`, { name: `${group}.${key}`, group, values: all, means })
    }
  }
  return facts
}

type Groups = ReadonlyMap<string, readonly Fact[]>

function checkGroups(of: readonly string[], groups: Groups, at: Path, report: Report): void {
  for (const [i, group] of of.entries()) {
    if (!groups.has(group)) report([...at, 'of', i], `unknown group "${group}"`, didYouMean(group, groups.keys()))
  }
}

function readDefinitions(data: Data, facts: ReadonlyMap<string, Fact>, groups: Groups, report: Report): Map<string, Definition> {
  const definitions = new Map<string, Definition>()
  for (const [key, { of, means }] of Object.entries(data.definitions)) {
    if (facts.has(key)) report(['definitions', key], `"${key}" is a fact already`, undefined, 'key')
    checkGroups(of, groups, ['definitions', key], report)
    definitions.set(key, { name: key, groups: of, means })
  }
  return definitions
}

function readPermissions(
  data: Data,
  groups: Groups,
  definitions: ReadonlyMap<string, Definition>,
  report: Report,
): Map<string, Permission> {
  const asks = new Map<string, Permission>()
  for (const [i, entry] of data.asks.entries()) {
    checkGroups(entry.of, groups, ['asks', i], report)
    for (const [j, name] of (entry.not_found_unless ?? []).entries()) {
      const known = definitions.get(name)
      const at: Path = ['asks', i, 'not_found_unless', j]
      if (known === undefined) report(at, `unknown definition "${name}"`, didYouMean(name, definitions.keys()))
      else if (!known.groups.every((group) => entry.of.includes(group)))
        report(at, `"${name}" is decided on groups that this question does not have`, `add ${known.groups.join(', ')} to "of"`)
    }
    for (const [action, subjects] of Object.entries(entry.pairs)) {
      if (MAGIC.has(action))
        report(['asks', i, 'pairs', action], `action "${action}" has a meaning of its own`, 'choose another verb', 'key')
      for (const [j, subject] of subjects.entries())
        readPermission(asks, data, entry, action, subject, ['asks', i, 'pairs', action, j], report)
    }
  }
  return asks
}

function readPermission(
  asks: Map<string, Permission>,
  data: Data,
  entry: Data['asks'][number],
  action: string,
  subject: string,
  at: Path,
  report: Report,
): void {
  const pair = `${action} ${subject}`
  if (!Object.hasOwn(data.subjects, subject)) report(at, `unknown subject "${subject}"`, didYouMean(subject, Object.keys(data.subjects)))
  if (asks.has(pair)) report(at, `"${pair}" is asked already`)
  const fields = entry.by_field ? data.subjects[subject]?.fields : undefined
  if (entry.by_field && fields === undefined) report(at, `"${subject}" has no fields`, 'list them under "subjects"')
  asks.set(pair, { id: pair, action, subject, groups: entry.of, notFoundUnless: entry.not_found_unless ?? [], fields })
}

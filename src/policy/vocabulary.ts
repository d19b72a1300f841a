import { z } from 'zod'
import { didYouMean } from './diagnostic.ts'
import { readShape, singleLine } from './shape.ts'
import type { Path, Report, Source } from './source.ts'
import { readSpecification, type Row, type SpecificationCheck } from './specification.ts'

/** A fact that code states: one of a few values. */
export interface Fact {
  /** `group.fact` */
  readonly name: string
  readonly group: string
  readonly values: readonly string[]
  readonly means: string
  /** no user can change it, such as who wrote a comment */
  readonly fixed?: true | undefined
}

/** A fact that D rules derive from other facts: true or false. */
export interface Definition {
  /** `group.fact` */
  readonly name: string
  /** the groups of facts that its rules can use */
  readonly groups: readonly string[]
  /** the facts of its groups */
  readonly facts: readonly Fact[]
  readonly means: string
}

/** One (action, subject) that the tables decide. */
export interface Permission {
  /** `action Subject` */
  readonly id: string
  readonly action: string
  readonly subject: string
  /** the groups of facts that its rules can use */
  readonly groups: readonly string[]
  /** the facts of its groups */
  readonly facts: readonly Fact[]
  /** the definitions that must hold, or the outcome is `not_found` */
  readonly notFoundUnless: readonly string[]
  /** further definitions that must hold, or the outcome is `forbidden` */
  readonly forbiddenUnless: readonly string[]
  /** the fields of the subject if the permission is decided field by field, else undefined */
  readonly fields: readonly string[] | undefined
  /**
   * `web_app`: only the web app asks for it, about a person who is signed in. No rule of the scope table allows it, so no token ever can.
   */
  readonly surface?: typeof WEB_APP | undefined
}

/** The surface of permissions that no token can ever have. In a point of the decision space it is the value of the scope order. */
export const WEB_APP = 'web_app'

/** The closed vocabulary of the policy tables. */
export interface Vocabulary {
  readonly facts: ReadonlyMap<string, Fact>
  readonly groups: ReadonlyMap<string, readonly Fact[]>
  /** the only fact of the scope table; its values from least to greatest */
  readonly scopeOrder: Fact
  /** in the order of evaluation */
  readonly definitions: ReadonlyMap<string, Definition>
  readonly permissions: ReadonlyMap<string, Permission>
  readonly subjects: ReadonlySet<string>
  readonly actions: ReadonlySet<string>
  /** the rows of the specification */
  readonly rows: ReadonlyMap<string, Row>
  /** the name of the domain; undefined: the service's own domain */
  readonly domain: string | undefined
}

const word = z.string().regex(/^[a-z][a-z_]*$/, 'a name consists of lower-case letters and "_"')
const subject = z.string().regex(/^[A-Z][A-Za-z]*$/, 'a subject consists of letters and starts with a capital letter')
const dotted = z.string().regex(/^[a-z][a-z_]*\.[a-z][a-z_]*$/, 'a fact is written group.fact')
const values = z.array(z.string().min(1)).min(2, 'a fact has at least two values')
const shape = z.strictObject({
  version: z.literal(1),
  facts: z.record(word, z.record(word, z.strictObject({ values, means: singleLine, fixed: z.literal(true).optional() }))),
  scope_order: dotted,
  definitions: z.record(dotted, z.strictObject({ groups: z.array(word).min(1), means: singleLine })),
  subjects: z.record(subject, z.strictObject({ fields: z.array(word).min(1).optional() })),
  permissions: z.array(
    z.strictObject({
      groups: z.array(word).min(1),
      not_found_unless: z.array(dotted).min(1).optional(),
      forbidden_unless: z.array(dotted).min(1).optional(),
      by_field: z.literal(true).optional(),
      surface: z.literal(WEB_APP).optional(),
      actions: z.record(word, z.array(subject).min(1)),
    }),
  ),
})
/** The action of D rules. No permission can use it. */
export const DEFINE = 'define'
// In CASL, `manage` means every action and `all` every subject.
const RESERVED = new Set(['manage', 'all', DEFINE])

type Data = z.output<typeof shape>
type Groups = Vocabulary['groups']

/**
 * Reads the vocabulary and the rows of the specification.
 * @param check see {@link readSpecification}
 * @throws {PolicyError} if a name is unknown, duplicate or reserved
 */
export function readVocabulary(source: Source, specification: Source, check?: SpecificationCheck): Vocabulary {
  const terms = readShape(source, shape, readTerms)
  return { ...terms, ...readSpecification(specification, terms.scopeOrder, check) }
}

function readTerms(data: Data, report: Report): Omit<Vocabulary, 'rows' | 'domain'> {
  const facts = readFacts(data, report)
  const groups = new Map(Object.keys(data.facts).map((name) => [name, [...facts.values()].filter(({ group }) => group === name)]))
  const definitions = readDefinitions(data, facts, groups, report)
  const permissions = readPermissions(data, groups, definitions, report)
  const scopeOrder = facts.get(data.scope_order)!
  if (scopeOrder === undefined) report(['scope_order'], `unknown fact "${data.scope_order}"`, didYouMean(data.scope_order, facts.keys()))
  else checkScopeGroup(scopeOrder, definitions, permissions, report)
  const subjects = new Set(Object.keys(data.subjects))
  const actions = new Set([...permissions.values()].map(({ action }) => action))
  return { facts, groups, scopeOrder, definitions, permissions, subjects, actions }
}

function readFacts(data: Data, report: Report): Map<string, Fact> {
  const facts = new Map<string, Fact>()
  for (const [group, members] of Object.entries(data.facts)) {
    for (const [key, fact] of Object.entries(members)) {
      if (new Set(fact.values).size < fact.values.length) report(['facts', group, key, 'values'], 'duplicate value')
      facts.set(`${group}.${key}`, { name: `${group}.${key}`, group, ...fact })
    }
  }
  return facts
}

function readDefinitions(data: Data, facts: ReadonlyMap<string, Fact>, groups: Groups, report: Report): Map<string, Definition> {
  const definitions = new Map<string, Definition>()
  for (const [name, definition] of Object.entries(data.definitions)) {
    if (facts.has(name)) report(['definitions', name], `"${name}" is already a fact`, undefined, 'key')
    definitions.set(name, { name, ...definition, facts: factsOf(definition.groups, groups, ['definitions', name], report) })
  }
  return definitions
}

function factsOf(names: readonly string[], groups: Groups, at: Path, report: Report): readonly Fact[] {
  for (const [i, name] of names.entries())
    if (!groups.has(name)) report([...at, 'groups', i], `unknown group "${name}"`, didYouMean(name, groups.keys()))
  return names.flatMap((name) => groups.get(name) ?? [])
}

function readPermissions(
  data: Data,
  groups: Groups,
  definitions: ReadonlyMap<string, Definition>,
  report: Report,
): Map<string, Permission> {
  const permissions = new Map<string, Permission>()
  for (const [i, entry] of data.permissions.entries()) {
    const at: Path = ['permissions', i]
    const facts = factsOf(entry.groups, groups, at, report)
    for (const member of ['not_found_unless', 'forbidden_unless'] as const) checkUnless(entry, member, definitions, at, report)
    for (const [action, subjects] of Object.entries(entry.actions)) {
      if (RESERVED.has(action)) report([...at, 'actions', action], `action "${action}" is reserved`, 'choose another name', 'key')
      for (const [j, name] of subjects.entries()) {
        const subjectAt = [...at, 'actions', action, j]
        const permission = { ...readPermission(data, entry, action, name, subjectAt, report), facts }
        if (permissions.has(permission.id)) report(subjectAt, `duplicate permission "${permission.id}"`)
        permissions.set(permission.id, permission)
      }
    }
  }
  return permissions
}

type PermissionEntry = Data['permissions'][number]

function checkUnless(
  entry: PermissionEntry,
  member: 'not_found_unless' | 'forbidden_unless',
  definitions: ReadonlyMap<string, Definition>,
  entryAt: Path,
  report: Report,
): void {
  for (const [i, name] of (entry[member] ?? []).entries()) {
    const definition = definitions.get(name)
    const at: Path = [...entryAt, member, i]
    if (definition === undefined) report(at, `unknown definition "${name}"`, didYouMean(name, definitions.keys()))
    else if (!definition.groups.every((group) => entry.groups.includes(group)))
      report(at, `"${name}" depends on groups that are not listed here`, `add ${definition.groups.join(', ')} to "groups"`)
  }
}

function readPermission(
  data: Data,
  entry: PermissionEntry,
  action: string,
  name: string,
  at: Path,
  report: Report,
): Omit<Permission, 'facts'> {
  if (!Object.hasOwn(data.subjects, name)) report(at, `unknown subject "${name}"`, didYouMean(name, Object.keys(data.subjects)))
  const fields = entry.by_field ? data.subjects[name]?.fields : undefined
  if (entry.by_field && fields === undefined) report(at, `"${name}" has no fields`, 'list them under "subjects"')
  return {
    id: `${action} ${name}`,
    action,
    subject: name,
    groups: entry.groups,
    notFoundUnless: entry.not_found_unless ?? [],
    forbiddenUnless: entry.forbidden_unless ?? [],
    fields,
    ...(entry.surface !== undefined && { surface: entry.surface }),
  }
}

/** Only the scope table uses the group of the scope order. */
function checkScopeGroup(
  { group }: Fact,
  definitions: Vocabulary['definitions'],
  permissions: Vocabulary['permissions'],
  report: Report,
): void {
  for (const [name, { groups }] of [...definitions, ...permissions])
    if (groups.includes(group)) report(['scope_order'], `"${name}" uses group "${group}" too`, 'only the scope table can use this group')
}

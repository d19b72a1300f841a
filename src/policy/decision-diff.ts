import { isDeepStrictEqual } from 'node:util'
import { describeSet, holds, type Conjunction, type Terms } from './conjunctions.ts'
import type { Engine } from './engine.ts'
import { answersOf, dimensionsOf, type Answer } from './enumerate.ts'
import { operationsOf, type PolicyOperation } from './operations.ts'
import { isKnown, pointsOf, sizeOf, type Dimension, type Point } from './points.ts'
import { diffTexts, type TextChange } from './text-diff.ts'
import { DEFINE } from './vocabulary.ts'
import type { Widening } from './widenings.ts'

/**
 * How an answer has changed:
 * - `widening`: it is allowed now, or `forbidden` instead of `not_found`, which tells that something exists;
 * - `narrowing`: the opposite;
 * - `response`: it is denied as before, with another response.
 */
export type ChangeKind = 'widening' | 'narrowing' | 'response'

/** Points at which a permission gets another answer. */
export interface PolicyChange {
  readonly kind: ChangeKind
  /** `action Subject` */
  readonly permission: string
  /** of the specification, or of an extension of it */
  readonly row: string
  readonly before: Answer
  readonly after: Answer
  /** what the points have in common: facts, definitions that both policies define alike, the scope and the field */
  readonly when: Conjunction
  /** the scope is any that the permission requires: `when` states it, and a reader need not be told */
  readonly isUsualScope: boolean
  /** the number of points of the decision space */
  readonly cells: number
  /** one of them, and an operation that needs the permission */
  readonly example: { readonly point: Point; readonly operation: Pick<PolicyOperation, 'id' | 'method' | 'path'> }
  /** why the new policy widens it, if it declares that */
  readonly declared: string | undefined
}

/** When a definition has another value. */
export interface DefinitionChange {
  readonly name: string
  /** the value that it has now. `true` is a widening: lists and cascades ask for definitions, too. */
  readonly now: boolean
  readonly when: Conjunction
  /** why it is true in more cells, if the new policy declares that for all of them */
  readonly declared: string | undefined
}

/** The difference between two policies. */
export interface PolicyDiff {
  readonly from: string
  readonly to: string
  /** definitions with other values, which explain many of the changes */
  readonly definitions: readonly DefinitionChange[]
  readonly changes: readonly PolicyChange[]
  /** what was edited, with or without an effect on decisions */
  readonly edits: readonly TextChange[]
  /** declarations of the new policy that declare nothing */
  readonly unused: readonly Widening[]
  /** declarations about the old policy that it had itself: they do not count */
  readonly declaredBefore: readonly Widening[]
  /** the other policies that it has declarations for: the beginnings of their hashes */
  readonly declaredForOthers: readonly string[]
}

/** The points of one permission. With more, a comparison would take minutes. */
const MAX_POINTS = 200_000

/** The vocabularies of two policies differ too much to compare them. Change one after the other. */
class TooDifferent extends Error {
  override readonly name = 'TooDifferent'
}

/**
 * Compares the answers of two policies in every point. If their vocabularies differ, the points are all combinations of the values
 * of both: a fact that a policy does not use makes no difference to it, and with a permission or a value that it does not know it
 * denies.
 * @param widenings what the new policy declares
 * @param earlier what the old one declares: a declaration counts only in the change that adds it
 * @throws {TooDifferent} if their vocabularies have too many facts that the other one does not have
 */
export function diffPolicies(
  before: Engine,
  after: Engine,
  widenings: readonly Widening[] = [],
  earlier: readonly Widening[] = [],
): PolicyDiff {
  const about = widenings.filter(({ from }) => before.hash.startsWith(from))
  const others = widenings.filter((one) => !about.includes(one)).map(({ from }) => from)
  const declarations = about.filter((one) => !earlier.some((other) => isDeepStrictEqual(other, one)))
  const used = new Set<Widening>()
  const ids = new Set([...before.vocabulary.permissions.keys(), ...after.vocabulary.permissions.keys()])
  // All sizes are checked first: a comparison of those that are small enough can take long, and would be lost.
  const dimensions = [...ids].map((id) => [id, dimensionsOfBoth(before, after, id)] as const)
  const changes = dimensions.flatMap(([id, ofId]) => changesOf(before, after, id, ofId, declarations, used))
  const order: readonly ChangeKind[] = ['widening', 'narrowing', 'response']
  return {
    from: before.hash,
    to: after.hash,
    definitions: definitionChanges(before, after, declarations, used),
    changes: changes.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind)),
    edits: diffTexts(before, after),
    unused: declarations.filter((widening) => !used.has(widening)),
    declaredBefore: about.filter((widening) => !declarations.includes(widening)),
    declaredForOthers: [...new Set(others)],
  }
}

/** The widenings that the new policy does not declare. */
export function undeclared({ changes, definitions }: PolicyDiff): (PolicyChange | DefinitionChange)[] {
  return [
    ...definitions.filter(({ now, declared }) => now && declared === undefined),
    ...changes.filter(({ kind, declared }) => kind === 'widening' && declared === undefined),
  ]
}

function changesOf(
  before: Engine,
  after: Engine,
  id: string,
  dimensions: readonly Dimension[],
  declarations: readonly Widening[],
  used: Set<Widening>,
): PolicyChange[] {
  const [answerBefore, answerAfter] = [answersOf(before, id), answersOf(after, id)]
  const pairs = [...pointsOf(dimensions)].map((point) => ({
    point,
    pair: [answerBefore(point), answerAfter(point)] as const,
  }))
  const kinds = new Set(pairs.filter(({ pair: [a, b] }) => kindOf(a, b) !== undefined).map(({ pair }) => pair.join(' ')))
  // Stryker disable next-line ConditionalExpression: only saves the work below, which finds nothing without a kind
  if (kinds.size === 0) return []
  const terms = { dimensions, definitions: sharedDefinitions(before, after, id) }
  const answers = new Map(pairs.map(({ point, pair }) => [{ ...point, ...valuesOf(after, terms, point) }, pair.join(' ')]))
  const points = [...answers.keys()]
  return [...kinds].flatMap((pair) => {
    const [a, b] = pair.split(' ') as [Answer, Answer]
    const byDeclaration = new Map<Widening | undefined, Point[]>()
    for (const [point, ofPoint] of answers) {
      if (ofPoint !== pair) continue
      const declaration = kindOf(a, b) === 'widening' ? declarations.find((one) => declares(one, id, point)) : undefined
      if (declaration !== undefined) used.add(declaration)
      byDeclaration.set(declaration, [...(byDeclaration.get(declaration) ?? []), point])
    }
    return [...byDeclaration].flatMap(([declaration, ofDeclaration]) => {
      const members = new Set(ofDeclaration)
      return describeSet(points, (point) => members.has(point), terms).map((when) =>
        describeChange({ permission: id, before: a, after: b, when, declared: declaration?.reason }, ofDeclaration, [before, after], terms),
      )
    })
  })
}

function describeChange(
  change: Pick<PolicyChange, 'permission' | 'before' | 'after' | 'when' | 'declared'>,
  members: readonly Point[],
  engines: readonly [before: Engine, after: Engine],
  { dimensions }: Terms,
): PolicyChange {
  const inSet = members.filter((point) => holds(change.when, point))
  const operations = [...operationsOf(engines[1]), ...operationsOf(engines[0])]
  const { id, method, path } = operations.find((one) => one.permission === change.permission)!
  const point = Object.fromEntries(dimensions.map(({ name }) => [name, inSet[0]![name]!]))
  return {
    kind: kindOf(change.before, change.after)!,
    row: engines.map(({ decisions }) => decisions.permissions.get(change.permission)?.row).findLast((row) => row !== undefined)!,
    ...change,
    isUsualScope: isUsualScope(change, engines),
    cells: inSet.length,
    example: { point, operation: { id, method, path } },
  }
}

/** Whether the points have exactly the scopes that the policy that allows more allows the permission for. */
function isUsualScope(
  { permission, after, when }: Pick<PolicyChange, 'permission' | 'after' | 'when'>,
  engines: readonly [Engine, Engine],
): boolean {
  const { vocabulary, checkScope } = engines[after === 'allowed' || after === 'forbidden' ? 1 : 0]
  const { name, values } = vocabulary.scopeOrder
  const { surface } = vocabulary.permissions.get(permission)!
  const sufficient = surface === undefined ? values.filter((value) => checkScope(permission, { [name]: value }).allowed) : [surface]
  return when.get(name)?.join() === sufficient.join()
}

/**
 * When definitions that both policies have are true now, or no longer. A value of a fact that only one of them knows makes its definition
 * false in the other.
 */
function definitionChanges(before: Engine, after: Engine, declarations: readonly Widening[], used: Set<Widening>): DefinitionChange[] {
  return [...after.vocabulary.definitions.keys()].flatMap((name) => {
    if (!before.vocabulary.definitions.has(name)) return []
    const dimensions = joinDimensions([after, before].flatMap(({ vocabulary }) => vocabulary.definitions.get(name)!.facts))
    const points = [...pointsOf(dimensions)]
    return [true, false].flatMap((now) => {
      const hasChanged = (point: Point) => isTrue(after, name, point) === now && isTrue(before, name, point) !== now
      return describeSet(points, hasChanged, { dimensions, definitions: [] }).map((when) => {
        const members = points.filter((point) => hasChanged(point) && holds(when, point))
        const declaration = now
          ? declarations.find((one) => members.every((point) => declares(one, `${DEFINE} ${name}`, point)))
          : undefined
        if (declaration !== undefined) used.add(declaration)
        return { name, now, when, declared: declaration?.reason }
      })
    })
  })
}

/** Whether a definition is true. With a value that the policy does not know, it is not. */
function isTrue({ vocabulary, holds: evaluate }: Engine, name: string, point: Point): boolean {
  return isKnown(vocabulary.definitions.get(name)!.facts, point) && evaluate(name, point)
}

function kindOf(before: Answer, after: Answer): ChangeKind | undefined {
  if (before === after) return undefined
  if (after === 'allowed') return 'widening'
  if (before === 'allowed') return 'narrowing'
  if (before === 'absent' || after === 'absent') return undefined
  if (before === 'not_found' && after === 'forbidden') return 'widening'
  return before === 'forbidden' && after === 'not_found' ? 'narrowing' : 'response'
}

/** Each of these dimensions once, with all values that it has in any of them. */
function joinDimensions(all: readonly Dimension[]): Dimension[] {
  const joined = new Map<string, readonly string[]>()
  for (const { name, values } of all) joined.set(name, [...new Set([...(joined.get(name) ?? []), ...values])])
  return [...joined].map(([name, values]) => ({ name, values }))
}

/** @throws {TooDifferent} */
function dimensionsOfBoth(before: Engine, after: Engine, id: string): Dimension[] {
  const joined = joinDimensions([after, before].flatMap(({ vocabulary }) => dimensionsOf(vocabulary, id)))
  const size = sizeOf(joined)
  if (size > MAX_POINTS) throw new TooDifferent(`the policies cannot be compared: "${id}" has ${size} points with the facts of both`)
  return joined
}

/** The definitions that both policies evaluate for a permission and that have the same rules in both, with all that they depend on. */
function sharedDefinitions(before: Engine, after: Engine, id: string): string[] {
  const textOf = ({ vocabulary, permissionRules }: Engine, name: string): string => {
    const rules = permissionRules.filter(({ subject }) => subject.includes(name))
    const needed = rules.flatMap(({ conditions }) => Object.keys(conditions)).filter((term) => vocabulary.definitions.has(term))
    const groups = vocabulary.definitions.get(name)!.groups.map((group) => [group, vocabulary.groups.get(group)])
    const conditions = rules.map((rule) => JSON.stringify(Object.entries(rule.conditions).toSorted())).toSorted()
    return JSON.stringify([
      conditions,
      groups,
      [...new Set(needed)].toSorted().map((term) => textOf({ vocabulary, permissionRules } as Engine, term)),
    ])
  }
  const names = (engine: Engine) => {
    const permission = engine.vocabulary.permissions.get(id)
    const groups = new Set(permission?.groups)
    return [...engine.vocabulary.definitions.values()]
      .filter((one) => one.groups.every((group) => groups.has(group)))
      .map(({ name }) => name)
  }
  const inBoth = names(after).filter((name) => names(before).includes(name))
  return inBoth.filter((name) => textOf(before, name) === textOf(after, name))
}

function valuesOf({ vocabulary, holds: isTrue }: Engine, { definitions }: Terms, point: Point): Point {
  const textOf = (name: string) => (isKnown(vocabulary.definitions.get(name)!.facts, point) ? String(isTrue(name, point)) : 'unknown')
  return Object.fromEntries(definitions.map((name) => [name, textOf(name)]))
}

function declares({ permission, when }: Widening, id: string, point: Point): boolean {
  return permission === id && [...when].every(([name, values]) => values.includes(point[name] ?? ''))
}

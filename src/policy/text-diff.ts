import type { Engine } from './engine.ts'

/** A difference between the texts of two policies. */
export interface TextChange {
  readonly kind: 'added' | 'removed' | 'changed'
  /** such as `rule P5` or `fact board.caller` */
  readonly what: string
  /** the members that differ, if it was changed */
  readonly members: readonly string[]
}

/** What was edited between two policies: rules, rows, facts, definitions, permissions and operations. Comments and order are left out. */
export function diffTexts(before: Engine, after: Engine): TextChange[] {
  const [old, present] = [itemsOf(before), itemsOf(after)]
  return [...new Set([...present.keys(), ...old.keys()])].flatMap((what): TextChange[] => {
    const [a, b] = [old.get(what), present.get(what)]
    if (a === undefined) return [{ kind: 'added', what, members: [] }]
    if (b === undefined) return [{ kind: 'removed', what, members: [] }]
    const members = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => canonical(a[name]) !== canonical(b[name]))
    return members.length === 0 ? [] : [{ kind: 'changed', what, members }]
  })
}

type Item = Readonly<Record<string, unknown>>

function itemsOf({ vocabulary, scopeRules, permissionRules, decisions }: Engine): ReadonlyMap<string, Item> {
  const { facts, definitions, permissions, rows } = vocabulary
  // They have the facts of their groups.
  const named = (kind: string, items: Iterable<readonly [string, object]>) =>
    [...items].map(([name, item]): [string, Item] => [`${kind} ${name}`, { ...item, facts: undefined }])
  return new Map([
    ...named('row', rows),
    ...named('fact', facts),
    ...named('definition', definitions),
    ...named('permission', permissions),
    ...named(
      'rule',
      [...scopeRules, ...permissionRules].map((rule) => [rule.id, rule]),
    ),
    ...named('operation', decisions.operations),
  ])
}

/** A text that is the same for the same content. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted())
      : member,
  )
}

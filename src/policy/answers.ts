import type { Engine } from './engine.ts'
import type { Facts } from './evaluate.ts'
import { WEB_APP, type Vocabulary } from './vocabulary.ts'

/** What both tables together answer. `absent`: the policy does not know the permission, or a value of a fact. */
export type Answer = 'allowed' | 'insufficient_scope' | 'forbidden' | 'not_found' | 'absent'

/** The key of the field in a point. A fact has a dot in its name. */
export const FIELD = 'field'

/** A point of the decision space of a permission: a value of the scope order, of each fact, and a field if there are any. */
export type Point = Readonly<Record<string, string>>

/**
 * The facts, the scope and the field on which one policy decides a permission, with their values. Where only the web app asks, the scope has
 * the one value `web_app`: of two policies, one of which gives the permission to tokens, each is `absent` where the other one decides.
 */
export function dimensionsOf({ permissions, groups, scopeOrder }: Vocabulary, id: string): ReadonlyMap<string, readonly string[]> {
  const permission = permissions.get(id)
  if (permission === undefined) return new Map()
  const scopes = permission.surface === undefined ? scopeOrder : { name: scopeOrder.name, values: [WEB_APP] }
  const facts = [scopes, ...permission.groups.flatMap((group) => groups.get(group)!)]
  const dimensions = facts.map(({ name, values }) => [name, values] as const)
  return new Map<string, readonly string[]>(permission.fields === undefined ? dimensions : [...dimensions, [FIELD, permission.fields]])
}

/** Every combination of values. */
export function* pointsOf(dimensions: ReadonlyMap<string, readonly string[]>): Generator<Point> {
  const entries = [...dimensions]
  const size = entries.reduce((product, [, values]) => product * values.length, 1)
  for (let index = 0; index < size; index++) {
    let rest = index
    const point: Record<string, string> = {}
    for (const [name, values] of entries) {
      point[name] = values[rest % values.length]!
      rest = Math.floor(rest / values.length)
    }
    yield point
  }
}

/**
 * Returns a function that answers in a point of a permission. A fact on which the policy does not decide makes no difference; with a
 * value that it does not know, the answer is `absent`.
 */
export function answersOf(engine: Engine, id: string): (point: Point) => Answer {
  const dimensions = [...dimensionsOf(engine.vocabulary, id)]
  if (dimensions.length === 0) return () => 'absent'
  const { scopeOrder } = engine.vocabulary
  const { fields, surface } = engine.vocabulary.permissions.get(id)!
  const byField = fields !== undefined
  return (point) => {
    if (dimensions.some(([name, values]) => !values.includes(point[name]!))) return 'absent'
    const facts: Facts = point
    if (surface === undefined && !engine.checkScope(id, { [scopeOrder.name]: point[scopeOrder.name]! }).allowed) return 'insufficient_scope'
    return engine.decide(id, facts, byField ? [point[FIELD]!] : undefined).outcome
  }
}

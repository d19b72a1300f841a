import type { Engine } from './engine.ts'
import type { Facts } from './evaluate.ts'
import { isKnown, pointsOf, type Dimension } from './points.ts'
import { WEB_APP, type Permission, type Vocabulary } from './vocabulary.ts'

/** One point of the decision space of the permission table. */
export interface Cell {
  readonly permission: Permission
  readonly facts: Facts
  /** if the permission is decided by field */
  readonly field: string | undefined
  /** the field, as the engine takes it */
  readonly fields: readonly string[] | undefined
}

/**
 * The whole decision space. It is derived from the vocabulary only. If it were derived from the rules, a dropped
 * condition would remove its own dimension, and the proof could not detect the change.
 */
export function* cells(vocabulary: Vocabulary): Generator<Cell> {
  for (const permission of vocabulary.permissions.values())
    for (const facts of pointsOf(permission.facts))
      for (const field of permission.fields ?? [undefined])
        yield { permission, facts, field, fields: field === undefined ? undefined : [field] }
}

/** What both tables together answer. `absent`: the policy does not know the permission, or a value of a fact. */
export type Answer = 'allowed' | 'insufficient_scope' | 'forbidden' | 'not_found' | 'absent'

/**
 * What the tables answer. The scope table is asked if the facts have the scope.
 * @throws {TypeError} if the permission, a fact, a value or a field is missing or not in the vocabulary
 */
export function answerTo(engine: Engine, id: string, facts: Facts, fields?: readonly string[]): Exclude<Answer, 'absent'> {
  if (Object.hasOwn(facts, engine.vocabulary.scopeOrder.name) && !engine.checkScope(id, facts).allowed) return 'insufficient_scope'
  return engine.decide(id, facts, fields).outcome
}

/** The name of the field in a point of both tables. A fact has a dot in its name. */
export const FIELD = 'field'

/**
 * The facts, the scope and the field that both tables decide a permission by. Where only the web app asks, the scope has
 * the one value `web_app`: if only one of two policies gives the permission to tokens, each is `absent` where the other one decides.
 */
export function dimensionsOf({ permissions, scopeOrder }: Vocabulary, id: string): readonly Dimension[] {
  const permission = permissions.get(id)
  if (permission === undefined) return []
  const { surface, facts, fields } = permission
  const scope = surface === undefined ? scopeOrder : { name: scopeOrder.name, values: [WEB_APP] }
  return [scope, ...facts, ...(fields === undefined ? [] : [{ name: FIELD, values: fields }])]
}

/**
 * Returns a function that answers in a point of both tables. A fact that the policy does not use makes no difference; with a
 * value that it does not know, the answer is `absent`.
 */
export function answersOf(engine: Engine, id: string): (point: Facts) => Answer {
  const dimensions = dimensionsOf(engine.vocabulary, id)
  const { fields, surface } = engine.vocabulary.permissions.get(id) ?? {}
  return (point) => {
    if (dimensions.length === 0 || !isKnown(dimensions, point)) return 'absent'
    const asked = fields && [point[FIELD]!]
    return surface === undefined ? answerTo(engine, id, point, asked) : engine.decide(id, point, asked).outcome
  }
}

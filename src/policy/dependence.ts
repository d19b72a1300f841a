import { describeSet } from './conjunctions.ts'
import type { Engine } from './engine.ts'
import { answerTo, type Answer } from './enumerate.ts'
import { refuse, type Facts } from './evaluate.ts'
import { pointsOf } from './points.ts'
import type { Fact } from './vocabulary.ts'

/** A fact that has one of these values. */
export interface Term {
  readonly fact: string
  readonly values: readonly string[]
}

/** An answer, and all cases that give it: in each, all terms hold. One case without terms: always. */
export interface Dependence {
  readonly answer: Exclude<Answer, 'absent'>
  readonly cases: readonly (readonly Term[])[]
}

/**
 * The facts of a permission, with the one of the scope order first if the scope table is to be asked.
 * @throws {TypeError} if the permission is not in the vocabulary
 */
export function factsOf({ vocabulary }: Engine, id: string, withScope: boolean): readonly Fact[] {
  const { facts } = vocabulary.permissions.get(id) ?? refuse(`"${id}" is not a permission of the vocabulary`)
  return withScope ? [vocabulary.scopeOrder, ...facts] : facts
}

const ORDER = ['allowed', 'insufficient_scope', 'forbidden', 'not_found'] as const

/**
 * How an answer depends on facts that are not known.
 * @param known facts of the permission; the scope table is asked if they have the fact of the scope order
 * @returns one entry for each answer that is possible
 */
export function dependence(engine: Engine, id: string, known: Facts, fields?: readonly string[]): Dependence[] {
  const withScope = Object.hasOwn(known, engine.vocabulary.scopeOrder.name)
  const dimensions = factsOf(engine, id, withScope).filter(({ name }) => !Object.hasOwn(known, name))
  const answers = new Map([...pointsOf(dimensions)].map((point) => [point, answerTo(engine, id, { ...known, ...point }, fields)]))
  return ORDER.filter((answer) => [...answers.values()].includes(answer)).map((answer) => {
    const conjunctions = describeSet([...answers.keys()], (point) => answers.get(point) === answer, { dimensions, definitions: [] })
    return { answer, cases: conjunctions.map((conjunction) => [...conjunction].map(([fact, values]) => ({ fact, values }))) }
  })
}

import { z } from 'zod'
import { didYouMean } from './diagnostic.ts'
import { FIELD } from './enumerate.ts'
import type { Conjunction } from './conjunctions.ts'
import { checkValue, readShape, singleLine } from './shape.ts'
import type { Source } from './source.ts'
import { DEFINE, type Vocabulary } from './vocabulary.ts'

/** The file of a policy that declares how it allows more than the policy before it. It may be missing. */
export const WIDENINGS = 'widenings.yaml'

/** A declaration that a policy allows more than another one on purpose. */
export interface Widening {
  /** the beginning of the hash of the policy that it widens. For any other policy, it declares nothing. */
  readonly from: string
  /** `action Subject`; of a definition that is true in more cells, `define NAME` */
  readonly permission: string
  /** the points that it is about */
  readonly when: Conjunction
  readonly reason: string
}

const values = z.union([z.string(), z.boolean(), z.array(z.string()).min(1)])
const shape = z.strictObject({
  version: z.literal(1),
  widenings: z.array(
    z.strictObject({
      from: z.string().regex(/^[0-9a-f]{12,64}$/, 'must be 12 or more digits of the hash of a policy'),
      permission: z.string(),
      when: z.record(z.string(), values),
      reason: z.string('must say why it is wanted').pipe(singleLine),
    }),
  ),
})

/**
 * Reads the widenings that a policy declares.
 * @throws {PolicyError} if a name or a value is unknown
 */
export function readWidenings(source: Source, vocabulary: Vocabulary): readonly Widening[] {
  const { permissions, facts, definitions } = vocabulary
  return readShape(source, shape, (data, report) =>
    data.widenings.map(({ when, ...rest }, i) => {
      const at = ['widenings', i] as const
      if (!permissions.has(rest.permission) && !definitions.has(rest.permission.replace(`${DEFINE} `, '')))
        report([...at, 'permission'], `unknown permission "${rest.permission}"`, didYouMean(rest.permission, permissions.keys()))
      const valuesOf = (name: string) => {
        if (definitions.has(name)) return ['true', 'false']
        return name === FIELD ? permissions.get(rest.permission)?.fields : facts.get(name)?.values
      }
      const terms = Object.entries(when).map(([name, value]) => {
        const accepted = [value].flat().map(String)
        const known = valuesOf(name)
        if (known === undefined)
          report([...at, 'when', name], `unknown fact "${name}"`, didYouMean(name, [...facts.keys(), ...definitions.keys()]), 'key')
        else for (const one of accepted) checkValue(one, { name, values: known }, [...at, 'when', name], report)
        return [name, accepted] as const
      })
      return { ...rest, when: new Map(terms) }
    }),
  )
}

import { z } from 'zod'

/** Where a new thing goes among its like: at most one of both, else last. */
export const placeAt = { before: z.string().optional(), after: z.string().optional() }

/** Where a thing is moved to: exactly one. */
export const moveTo = { ...placeAt, to: z.enum(['first', 'last']).optional() }

/** Where something goes: next to another, or to an end. */
export interface Placement {
  readonly before?: string | undefined
  readonly after?: string | undefined
  readonly to?: 'first' | 'last' | undefined
}

const ANCHORS = ['before', 'after', 'to'] as const

/** Refuses two places at once, and none where one is required. */
export function oneAnchor<Shape extends z.ZodType<Placement, Placement>>(shape: Shape, required?: 'required') {
  return shape.check((context) => {
    const given = ANCHORS.filter((anchor) => (context.value as Placement)[anchor] !== undefined)
    if (given.length > 1)
      context.issues.push({ code: 'custom', input: context.value, path: [given[1]!], message: `cannot stand together with "${given[0]}"` })
    if (given.length === 0 && required)
      context.issues.push({ code: 'custom', input: context.value, path: [], message: 'must have one of before, after, to' })
  })
}

import type { z } from 'zod'

/** The body of a PATCH: any of the members, and at least one. `{}` changes nothing, so it is a mistake. */
export function atLeastOne<Shape extends z.ZodObject>(shape: Shape) {
  return shape.refine((body) => Object.keys(body as object).length > 0, `must have at least one of ${Object.keys(shape.shape).join(', ')}`)
}

import { z } from 'zod'
import { documented } from '../model/fields.ts'
import { limits } from '../model/limits.ts'

/**
 * The parameter of a long poll.
 * @param what it waits for, with its article
 */
export function waitParameter(what: string) {
  const schema = z
    .string()
    .regex(/^[0-9]{1,2}$/, `must be a whole number from 0 to ${limits.longPoll}`)
    .transform(Number)
    .pipe(z.number().max(limits.longPoll))
    .default(0)
  return documented(schema, {
    description: `The number of seconds to wait for ${what} if there is none. The response comes as soon as there is one. It must be 0 with \`order=desc\`.`,
    parameter: { type: 'integer', format: 'int32', minimum: 0, maximum: limits.longPoll, default: 0 },
  })
}

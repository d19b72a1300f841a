import { z } from 'zod'
import { auditOutcomes } from '../model/audit.ts'
import { anyIdPattern } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { line } from '../model/text.ts'
import { at, byId, entry, id, type Kind } from './record-fields.ts'

const anyId = z.string().regex(new RegExp(anyIdPattern), 'must be an id')

/** The audit trail, in a workspace or global. */
export const audit: Kind = {
  shape: z.strictObject({
    id: id('audit'),
    at,
    users: z.array(id('user')),
    entries: z
      .array(
        z.strictObject({
          at,
          user_id: id('user').nullable(),
          token_id: id('token').nullable(),
          token_name: line(limits.tokenName).nullable(),
          operation: entry,
          ids: z.array(anyId).max(200),
          rows: z.array(z.string().max(3)).max(20),
          outcome: z.enum(auditOutcomes),
          status: z.int(),
          code: entry.nullable(),
          request_id: entry,
          address: entry.nullable(),
          agent: entry.nullable(),
          subject_id: id('user').optional(),
          count: z.int().min(2).optional(),
        }),
      )
      .max(1000),
  }),
  key: byId,
}

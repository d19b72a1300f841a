import { z } from 'zod'
import { documented, idField } from '../../model/fields.ts'
import { errors, type ErrorCode } from '../../model/errors.ts'
import { claim } from '../../model/claim.ts'
import { limits } from '../../model/limits.ts'
import { scopes } from '../../model/token.ts'
import { work } from '../../model/work.ts'

function text(description: string, maxLength: number): z.ZodString {
  return documented(z.string(), { description, maxLength })
}

/** The further members of each error (spec §7 states the others). */
function furtherMembers(): Partial<Record<ErrorCode, z.core.$ZodShape>> {
  const row = documented(z.string(), {
    description: 'The row of the specification that decides it.',
    pattern: '^[A-Z][0-9]+$',
    maxLength: 4,
  })
  const scope = (description: string) => documented(z.enum(scopes), { description })
  const count = (description: string) =>
    documented(z.number().int(), { description, format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

  const wipLimit = documented(z.literal('wip_limit'), { description: 'The WIP limit of the column.' })
  const limit = documented(z.union([count('The number.'), wipLimit]), { description: 'The limit that was reached, if one was.' })
  const index = count('In a batch: the number of the operation that failed, from 0.').optional()

  const issue = z.strictObject({
    in: documented(z.enum(['query', 'body']), { description: 'Where the member is.' }),
    path: text('The name of the member, with dots between levels; empty for the whole.', 600_000),
    message: text('What is wrong.', 1000),
  })

  // Without its name: that belongs to the schema of a success.
  const shownClaim = z.strictObject(claim.shape)
  const shownWork = z.strictObject(work.shape)

  return {
    insufficient_scope: {
      required_scope: scope('The least scope that the operation requires.'),
      granted_scopes: documented(z.array(z.enum(scopes)), {
        description: 'The scopes of the token, with those that they include.',
        maxItems: scopes.length,
      }),
      row,
    },
    forbidden: { row, reason: text('The rule that is not met.', 1000), index },
    not_found: {
      parameter: documented(z.string(), {
        description:
          'What names the resource: a member of the body or the query, or the second parameter of the path; `label_id`, `user_id` or `blocker_id` if it is an item of `label_ids`, `assignee_ids` or `blocker_ids`. Absent if it is the path itself.',
        maxLength: 64,
      }).optional(),
      index,
    },
    conflict: {
      limit: limit.optional(),
      card_id: idField('card', 'The card that has the `external_ref` of the request.').optional(),
      claim: documented(shownClaim.optional(), { description: 'The claim of the card, if another token holds it.' }),
      work: documented(shownWork.optional(), { description: 'The work on the card, if it is stuck or waits for an answer.' }),
      index,
    },
    precondition_failed: {
      current_etag: text('The current ETag, if there is one.', 100).optional(),
      current_claim: documented(shownClaim.nullable().optional(), {
        description: 'The claim of the card, if the If-Claim of the request does not hold; null if nobody holds the card.',
      }),
      index,
    },
    precondition_required: { index },
    payload_too_large: { limit_bytes: count('The maximum size in bytes.') },
    validation_failed: {
      issues: documented(z.array(issue), { description: `What is not valid: the first ${limits.issues} issues.`, maxItems: limits.issues }),
      index,
    },
    insufficient_storage: {
      used_bytes: count('The bytes that the files of the workspace have.').optional(),
      limit_bytes: count('The bytes that they may have. Absent: the disk is nearly full.').optional(),
    },
    contention: { outcome: documented(z.literal('not_done'), { description: 'Nothing was changed.' }) },
    unavailable: {
      outcome: documented(z.enum(['not_done', 'unknown']), {
        description: '`not_done`: nothing was changed. `unknown`: it is not known whether the change was made. Read before you retry.',
      }),
    },
  }
}

/** The name of the component of a response with any error. */
export const FAILURE = 'FailureResponse'

/** The schema of the member `error` for each of these codes, and of a response with any error. */
export function createErrorSchemas(codes: ReadonlySet<ErrorCode>): ReadonlyMap<z.ZodType, string> {
  const members = furtherMembers()
  const known = (Object.keys(errors) as ErrorCode[]).filter((code) => codes.has(code))
  return new Map([
    ...known.map((code): [z.ZodType, string] => [
      errorSchema(documented(z.literal(code), { description: CODE }), errors[code].message, members[code]),
      errorName(code),
    ]),
    [failureSchema(), FAILURE],
  ])
}

const CODE = 'The machine-readable code.'

/** Errors of later versions may have other members. */
function failureSchema(): z.ZodType {
  const error = z.looseObject(membersOf(text(CODE, 64)))
  return documented(z.strictObject({ error: documented(error, { description: 'What has failed, and why.' }) }), {
    description: 'The response of failure.',
  })
}

function errorSchema(code: z.ZodType, description: string, further: z.core.$ZodShape = {}): z.ZodType {
  return documented(z.strictObject({ ...membersOf(code), ...further }), { description })
}

function membersOf(code: z.ZodType) {
  return {
    code,
    message: text('What happened, for people.', 600_000),
    request_id: documented(z.string(), {
      description: 'The id of the request, also in the header X-Request-Id. The log of the service names it.',
      format: 'uuid',
      maxLength: 36,
    }),
  }
}

/** The name of the component of an error. */
export function errorName(code: ErrorCode): string {
  return `${pascalCase(code)}Error`
}

export function pascalCase(text: string): string {
  return text
    .split(/[._]/)
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')
}

/** The schema of `page` in the response with a list. */
export function createPageSchema(): z.ZodType {
  const cursor = documented(z.string(), {
    description: 'The `cursor` of the next page; null on the last page.',
    pattern: '^[A-Za-z0-9_-]+$',
    maxLength: 400,
  })
  return documented(z.strictObject({ next_cursor: cursor.nullable() }), { description: 'The place of a page in its list.' })
}

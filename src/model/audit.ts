import { z } from 'zod'
import { idOfAnything, timestamp, idOf, shortText } from './fields.ts'
import { limits } from './limits.ts'
import { line } from './text.ts'

/** The outcome of a request. `unknown`: storage did not answer, so it may be done. */
const auditOutcome = z.enum(['done', 'denied', 'unknown'])
export type AuditOutcome = z.infer<typeof auditOutcome>

/**
 * One line of the audit trail: a change that was made, or a denial. It has ids, and nothing that a person has written but the name of a
 * token.
 */
const auditEntry = z.strictObject({
  at: timestamp,
  /** who did it; null: an operator, or it is not known, as with the finder of a leaked token */
  user_id: idOf('user').nullable(),
  /** the token that did it; null: it was done in the web app */
  token_id: idOf('token').nullable(),
  token_name: line(limits.tokenName).nullable(),
  /**
   * the id of an operation of the API, or of an action of the web app, which begins with `web.`, or of a command of an operator:
   * `operator.`
   */
  operation: shortText,
  /** the resources that it was about, and the one that it created */
  ids: z.array(idOfAnything()).max(200).readonly(),
  /** the rows of the specification that decided */
  rows: z.array(z.string().max(3)).max(20).readonly(),
  outcome: auditOutcome,
  /** of the response */
  status: z.int(),
  /** the error code of the response */
  code: shortText.nullable(),
  request_id: shortText,
  /** of the client */
  address: shortText.nullable(),
  /** the beginning of its User-Agent */
  agent: shortText.nullable(),
  /** whom it concerns, if that is another person: the holder of a token that was revoked */
  subject_id: idOf('user').optional(),
  /** where it was asked for, if not below /v1 */
  surface: z.enum(['web_app', 'operator', 'webhook']).optional(),
  /** how often the same was denied within the time of one batch, if more than once */
  count: z.int().min(2).optional(),
})
export type AuditEntry = Readonly<z.infer<typeof auditEntry>>

/** Entries that were written in one commit, in the order in which they were added. */
export const auditBatch = z.strictObject({
  id: idOf('audit'),
  at: timestamp,
  /** the people whom the entries concern */
  users: z.array(idOf('user')).readonly(),
  entries: z.array(auditEntry).max(1000).readonly(),
})
export type AuditBatch = Readonly<z.infer<typeof auditBatch>>

const CONTROL = /[^\x20-\x7e]+/g
const AGENT_LENGTH = 120

/** The beginning of a User-Agent, in printable ASCII. */
export function shortAgent(header: string | null): string | null {
  const text = header?.slice(0, AGENT_LENGTH).replaceAll(CONTROL, ' ').trim()
  return text === undefined || text === '' ? null : text
}

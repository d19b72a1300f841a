/** What came of something that was asked for. `unknown`: storage did not answer, so it may be done. */
export const auditOutcomes = ['done', 'denied', 'unknown'] as const
export type AuditOutcome = (typeof auditOutcomes)[number]

/** One line of the audit trail: a change that was made, or a denial. It has ids, and nothing that a person has written but the name of a token. */
export interface AuditEntry {
  readonly at: string
  /** who did it; null: an operator, or it is not known, as with the finder of a leaked token */
  readonly user_id: string | null
  /** the token with which it was done; null: in the web app */
  readonly token_id: string | null
  readonly token_name: string | null
  /** the id of an operation of the API, or of an action of the web app, which begins with `web.`, or of a command of an operator: `operator.` */
  readonly operation: string
  /** the resources that it was about, and the one that it created */
  readonly ids: readonly string[]
  /** the rows of the specification that decided */
  readonly rows: readonly string[]
  readonly outcome: AuditOutcome
  /** of the response */
  readonly status: number
  /** the error code of the response */
  readonly code: string | null
  readonly request_id: string
  /** of the client */
  readonly address: string | null
  /** the beginning of its User-Agent */
  readonly agent: string | null
  /** whom it concerns, if that is another person: the holder of a token that was revoked */
  readonly subject_id?: string | undefined
  /** how often the same was denied within the time of one batch, if more than once */
  readonly count?: number | undefined
}

/** Entries that were written in one commit, in the order in which they were added. */
export interface AuditBatch {
  readonly id: string
  readonly at: string
  /** the people whom the entries concern */
  readonly users: readonly string[]
  readonly entries: readonly AuditEntry[]
}

const CONTROL = /[^\x20-\x7e]+/g
const AGENT_LENGTH = 120

/** The beginning of a User-Agent, in printable ASCII. */
export function shortAgent(header: string | null): string | null {
  const text = header?.slice(0, AGENT_LENGTH).replaceAll(CONTROL, ' ').trim()
  return text === undefined || text === '' ? null : text
}

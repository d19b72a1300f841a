import type { AuditOutcome } from '../../model/audit.ts'

/** What a page states about what it did, if that does not follow from its address. */
export interface PageAudit {
  /** begins with `web.` */
  readonly operation?: string
  /** the workspace that it belongs to; undefined: none */
  readonly workspaceId?: string | undefined
  readonly ids?: readonly string[]
  readonly rows?: readonly string[]
  /** who did it, if there is no session */
  readonly userId?: string | undefined
  readonly subjectId?: string | undefined
  readonly outcome?: AuditOutcome
}

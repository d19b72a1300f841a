import { readTrail, type TrailEntry } from '../audit/trail.ts'
import { isId } from '../model/ids.ts'
import { readRelativeTime, RELATIVE_TIMES } from '../model/time.ts'
import type { Deps } from '../store/transact.ts'
import { GLOBAL } from '../store/keys.ts'
import { AdminError } from './deps.ts'
import { requireWorkspace } from './workspaces.ts'

/** What an operator asks of the audit trail. */
export interface AuditQuestion {
  /** undefined: what belongs to no workspace, such as sign-ins */
  readonly workspace?: string | undefined
  readonly user?: string | undefined
  readonly token?: string | undefined
  /** a date, a time, or a relative time, with or without a minus sign: `2026-11-20`, `2026-11-20T12:00Z`, `-7d`, `12h` */
  readonly since?: string | undefined
  readonly denials?: boolean | undefined
  readonly limit: number
}

/**
 * Lists entries of the audit trail, newest first.
 * @throws {AdminError} `not_found`, `invalid`
 */
export async function listAudit(deps: Deps, { workspace, user, token, since, denials, limit }: AuditQuestion): Promise<TrailEntry[]> {
  if (workspace !== undefined) await requireWorkspace(deps, workspace)
  if (user !== undefined && !isId('user', user)) throw new AdminError('invalid', `"${user}" is not the id of a user`)
  if (token !== undefined && !isId('token', token)) throw new AdminError('invalid', `"${token}" is not the id of a token`)
  const begin = since === undefined ? '' : readSince(since, deps.clock())
  const found: TrailEntry[] = []
  let before: string | undefined
  do {
    const page = await readTrail(deps, {
      sources: [{ partition: workspace ?? GLOBAL, userId: user }],
      matches: (entry) =>
        entry.at >= begin &&
        (token === undefined || entry.token_id === token || entry.ids.includes(token)) &&
        (denials !== true || entry.outcome === 'denied'),
      limit: limit - found.length,
      before,
      since: begin,
    })
    found.push(...page.entries)
    before = page.next
  } while (before !== undefined && found.length < limit)
  return found.slice(0, limit)
}

function readSince(text: string, now: number): string {
  // Without a sign, it is a time ago.
  const relative = readRelativeTime(text, now) ?? readRelativeTime(`-${text}`, now)
  const time = relative ?? (/^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : NaN)
  if (Number.isNaN(time))
    throw new AdminError('invalid', `since: "${text}" is no date, no time such as 2026-11-20T12:00Z, and not one of ${RELATIVE_TIMES}`)
  return new Date(time).toISOString()
}

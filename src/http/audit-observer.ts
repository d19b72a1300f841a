import type { AuditRecorder, NewEntry } from '../audit/recorder.ts'
import type { UsageRecorder } from '../auth/tokens/usage.ts'
import type { DecisionRecord, Sink } from './decision-record.ts'

/** The statuses of responses that refuse access. */
export const DENIED: ReadonlySet<number> = new Set([401, 403, 404])
/** The resources of a batch that an entry names. */
const MAX_IDS = 100

/** Whether a request was refused to a token, and changed nothing. */
function isDenied({ effect, status, operation }: DecisionRecord): boolean {
  return effect === undefined && DENIED.has(status) && (operation !== undefined || status === 401)
}

/** Records the use of each token. */
export function usageObserver(usage: UsageRecorder): Sink {
  return (record, { presented, headers, address }) => {
    if (presented === undefined) return
    const use = { address, agent: headers.get('user-agent'), isDenied: isDenied(record) }
    usage.record(presented.partition, presented.token.hash, use)
  }
}

/**
 * Adds an entry to the audit trail for each change and each denial of a token that exists, or has existed, or of an operator who acts as a
 * member.
 */
export function auditObserver(audit: AuditRecorder): Sink {
  return (record, { presented, headers, address }) => {
    const { userId = null, workspaceId } = record
    const partition = presented?.partition ?? workspaceId
    if (partition === undefined || (record.effect === undefined && !isDenied(record))) return
    const token = presented?.token
    const entry: NewEntry = {
      user_id: token?.user_id ?? userId,
      token_id: token?.id ?? null,
      token_name: token?.name ?? null,
      operation: record.operation ?? 'authenticate',
      ids: idsOf(record),
      rows: rowsOf(record),
      outcome: record.effect ?? 'denied',
      status: record.status,
      code: record.code ?? null,
      request_id: record.requestId,
      address,
      agent: headers.get('user-agent'),
    }
    audit.add(partition, record.surface === undefined ? entry : { ...entry, surface: record.surface })
  }
}

function idsOf({ resource, related, created, batch }: DecisionRecord): string[] {
  const ids: string[] = []
  for (const id of [resource, related, created]) if (id !== undefined && !ids.includes(id)) ids.push(id)
  if (batch === undefined) return ids
  const ofItems = batch.flatMap((item) => [item.resource, item.related].filter((id) => id !== undefined))
  return [...new Set([...ids, ...ofItems])].slice(0, MAX_IDS)
}

/** The rows of the rules that decided: of the scope table, then of the permission table. */
function rowsOf(record: DecisionRecord): string[] {
  const rows: string[] = []
  for (const part of record.batch === undefined ? [record] : [record, ...record.batch]) {
    for (const row of [part.scope?.row, part.decision?.row]) if (row !== undefined && !rows.includes(row)) rows.push(row)
    for (const { row } of part.further ?? []) if (!rows.includes(row)) rows.push(row)
  }
  return rows.slice(0, 20)
}

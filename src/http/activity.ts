import type { ServerRequest } from 'srvx'
import type { AuditRecorder } from '../audit/recorder.ts'
import type { UsageRecorder } from '../auth/tokens/usage.ts'
import { shortAgent, type AuditEntry } from '../model/audit.ts'
import { timestamp, type Clock } from '../model/time.ts'
import type { TokenRecord } from '../model/token.ts'
import { clientAddress } from './client-address.ts'
import type { DecisionRecord } from './decision-record.ts'

/** What {@link Activity} is made of. */
export interface ActivityOptions {
  /** undefined: there is no audit trail */
  readonly audit: AuditRecorder | undefined
  readonly usage: UsageRecorder
  readonly clock: Clock
  /** see {@link clientAddress} */
  readonly proxies: number
}

/** A token that a request presents, and its workspace. */
export interface PresentedToken {
  readonly partition: string
  readonly token: TokenRecord
}

const DENIED = new Set([401, 403, 404])
/** The resources of a batch that an entry names. */
const MAX_IDS = 100

/** Records what was done with tokens, after the response: the use of each token, and an entry of the audit trail for each change and each denial. */
export class Activity {
  readonly #options: ActivityOptions

  constructor(options: ActivityOptions) {
    this.#options = options
  }

  /** The client of a request, as an entry names it. */
  clientOf(request: ServerRequest): Pick<AuditEntry, 'address' | 'agent'> {
    return {
      address: clientAddress(request, this.#options.proxies) ?? null,
      agent: shortAgent(request.headers.get('user-agent')),
    }
  }

  /** Records one request below /v1 with a token that exists, or has existed. */
  observe(record: DecisionRecord, request: ServerRequest, { partition, token }: PresentedToken): void {
    const { effect, status } = record
    const { audit, usage, clock, proxies } = this.#options
    const isDenied = effect === undefined && DENIED.has(status) && (record.operation !== undefined || status === 401)
    const address = clientAddress(request, proxies) ?? null
    const agent = request.headers.get('user-agent')
    usage.record(partition, token.hash, { address, agent, isDenied })
    if (audit === undefined || (effect === undefined && !isDenied)) return
    audit.add(partition, {
      at: timestamp(clock),
      user_id: token.user_id,
      token_id: token.id,
      token_name: token.name,
      operation: record.operation ?? 'authenticate',
      ids: idsOf(record),
      rows: rowsOf(record),
      outcome: effect ?? 'denied',
      status,
      code: record.code ?? null,
      request_id: record.requestId,
      address,
      agent: shortAgent(agent),
    } satisfies AuditEntry)
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

import type { Logger } from 'pino'
import type { DecisionRecord } from './decision-record.ts'

/**
 * Writes one line for each answered request below /v1. It has no path, query or body: an operation and ids are enough to
 * find a request, and nothing that a user wrote gets into the log.
 */
export function createAccessLog(log: Logger): (record: DecisionRecord) => void {
  return ({ requestId, method, operation, status, code, tokenId, workspaceId, attempts, arrivedAt }) =>
    log.info(
      {
        event: 'request',
        request_id: requestId,
        method,
        operation: operation ?? null,
        status,
        code,
        ms: Math.round((performance.now() - arrivedAt) * 10) / 10,
        token_id: tokenId ?? null,
        workspace_id: workspaceId ?? null,
        attempts,
      },
      'request',
    )
}

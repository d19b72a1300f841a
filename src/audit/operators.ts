import { randomUUID } from 'node:crypto'
import type { AuditBatch } from '../model/audit.ts'
import { newId } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import type { Deps } from '../store/transact.ts'
import { keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { auditTombstone } from './retention.ts'

/** What an operator has done. */
interface Operation {
  /** begins with `operator.` */
  readonly operation: string
  readonly ids: readonly string[]
  /** whom it concerns */
  readonly subject: string
}

/** Adds what an operator does to the audit trail of the transaction's partition, in the commit that does it. */
export async function recordOperation(tx: Transaction, { clock, random }: Deps, { operation, ids, subject }: Operation): Promise<void> {
  const at = timestamp(clock)
  const who = { user_id: null, token_id: null, token_name: null, address: null, agent: null, subject_id: subject }
  const entry = { at, ...who, operation, ids, rows: [], outcome: 'done', status: 200, code: null, request_id: randomUUID() } as const
  const batch: AuditBatch = { id: newId('audit', random), at, users: [subject], entries: [entry] }
  const tombstone = auditTombstone(clock())
  const [scheduled] = await tx.read([keys.tombstone(tombstone.id)])
  tx.create(keys.audit(batch.id), batch)
  if (scheduled === undefined) tx.put(keys.tombstone(tombstone.id), tombstone)
}

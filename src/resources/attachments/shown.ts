import type { Attachment, AttachmentRecord, FileRecord } from '../../model/file.ts'
import type { PendingRemovals } from '../../model/pending-removal.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { shownFile } from '../pending-removals.ts'

/**
 * An attachment as the API returns it: with what is read from its file.
 * @param file as it counts (see `shownFile`)
 */
export function toAttachment({ id, card_id, file_id, ...rest }: AttachmentRecord, { owner_id, visibility }: FileRecord): Attachment {
  return { id, card_id, file_id, owner_id, visibility, ...rest }
}

/** Attachments as the API returns them. Their files are read in one step. */
export async function withFiles(tx: Transaction, attachments: readonly AttachmentRecord[]): Promise<Attachment[]> {
  if (attachments.length === 0) return []
  const records = await tx.read([keys.removals(), ...attachments.map(({ file_id }) => keys.file(file_id))])
  const [removals, ...files] = records as unknown as [PendingRemovals | undefined, ...FileRecord[]]
  return attachments.map((attachment, i) => toAttachment(attachment, shownFile(files[i]!, removals)))
}

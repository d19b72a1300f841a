import { z } from 'zod'
import { type Attachment, type AttachmentRecord, type FileRecord, fileVisibilities } from '../../model/file.ts'
import type { PendingRemovals } from '../../model/pending-removal.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { shownFile } from '../pending-removals.ts'
import { documented, givenIdField } from '../../model/fields.ts'

/**
 * An attachment as the API returns it, with the members that are read from its file.
 * @param file as it counts (see `shownFile`)
 */
export function toAttachment(
  { id, card_id, file_id, ...rest }: AttachmentRecord,
  { owner_id, visibility, picture = null }: FileRecord,
): Attachment {
  const { name, content_type, size, ...others } = rest
  return { id, card_id, file_id, owner_id, visibility, name, content_type, size, picture, ...others }
}

/** Attachments as the API returns them. Their files are read in one step. */
export async function withFiles(tx: Transaction, attachments: readonly AttachmentRecord[]): Promise<Attachment[]> {
  if (attachments.length === 0) return []
  const records = await tx.read([keys.removals(), ...attachments.map(({ file_id }) => keys.file(file_id))])
  const [removals, ...files] = records as unknown as [PendingRemovals | undefined, ...FileRecord[]]
  return attachments.map((attachment, i) => toAttachment(attachment, shownFile(files[i]!, removals)))
}

/** Attaches a file of the workspace by its id. */
export const attachById = z.strictObject({
  file_id: givenIdField('file', 'A file that you have access to. It must not be attached to this card already.'),
})

/** The form that uploads a file. The pipeline streams it, and `http/upload.ts` checks it. */
export const uploadForm = z.strictObject({
  file: documented(z.file(), { description: 'The file, with its name and its media type.' }),
  visibility: documented(z.enum(fileVisibilities), {
    description:
      'Who has access to the file in addition to you. `workspace`: every member of the workspace. `board`: everyone with access to this board. `private`: only you.',
  }).default('board'),
})

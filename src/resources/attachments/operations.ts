import { z } from 'zod'
import { listPage, pageQuery } from '../../listing/pages.ts'
import { conflict } from '../../model/errors.ts'
import { attachment, type FileRecord } from '../../model/file.ts'
import { newId } from '../../model/ids.ts'
import { timestamp } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { RangeOptions } from '../../store/reads.ts'
import type { Transaction } from '../../store/transaction.ts'
import { cancelFileRemoval, fileRemoval, removeFileIfUnattached } from '../cascades.ts'
import { deleted, operation, type OperationRequest } from '../operation.ts'
import { attachmentTarget, idOf, parentCard, requireFound } from '../targets.ts'
import { capacityMessage, createResource, removeResource, requireCapacity, saveResource } from '../writes.ts'
import { attachById } from './schema.ts'

const ATTACHED = 'The file is attached to this card already.'
export const UPLOAD_EXPIRED = 'The upload took too long, so its bytes were removed. Send it again.'

const entity = (params: Readonly<Record<string, string>>) => keys.attachment(params['attachment_id']!)

/** Files on cards (spec §5: rows P2, P15). */
export const attachmentOperations = [
  operation({
    id: 'attachments.list',
    method: 'GET',
    path: '/cards/{card_id}/attachments',
    summary: 'Lists the attachments of a card, oldest first.',
    needs: ['read', 'Attachment'],
    row: 'P2',
    query: z.strictObject(pageQuery('attachments.list')),
    data: z.array(attachment),
    target: parentCard,
    run: ({ tx, query }, { card }) => listPage(tx, 'attachments.list', indexes.attachments(card.id), query),
  }),

  operation({
    id: 'attachments.read',
    method: 'GET',
    path: '/attachments/{attachment_id}',
    summary: 'Returns an attachment.',
    needs: ['read', 'Attachment'],
    row: 'P2',
    data: attachment,
    entity,
    target: attachmentTarget,
    run: async (_request, loaded) => ({ data: loaded.attachment }),
  }),

  operation({
    id: 'attachments.download',
    method: 'GET',
    path: '/attachments/{attachment_id}/content',
    summary: 'Downloads the bytes of an attachment, or a range of them.',
    needs: ['read', 'Attachment'],
    row: 'P2',
    data: z.undefined(),
    target: attachmentTarget,
    run: async (_request, loaded) => ({ data: undefined, download: loaded.file }),
  }),

  operation({
    id: 'attachments.attach',
    method: 'POST',
    path: '/cards/{card_id}/attachments',
    summary: 'Attaches a file by its id, or uploads a file (multipart/form-data: file, visibility) and attaches it.',
    needs: ['attach', 'Attachment'],
    row: 'P15',
    body: attachById,
    data: attachment,
    status: 201,
    takesUpload: true,
    entity: (params) => keys.card(params['card_id']!),
    conflicts: [capacityMessage('attachmentsPerCard'), ATTACHED, UPLOAD_EXPIRED],
    example: { body: { file_id: '{file_id}' } },
    target: parentCard,
    counts: ({ card_id }) => [indexes.attachments(card_id!)],
    async related(request): Promise<{ file: FileRecord | Pick<FileRecord, 'owner_id' | 'visibility'> }> {
      if (request.receive === undefined) {
        const fileId = idOf('file', request.body.file_id, 'file_id')
        await prefetchAttaching(request.tx, fileId, request.params['card_id']!)
        return { file: requireFound(await request.tx.get(keys.file(fileId)), 'file_id') }
      }
      // The uploader owns the file. Its visibility is not known before its bytes are read, so the strictest one counts.
      return { file: { owner_id: request.caller.userId, visibility: 'private' } }
    },
    async run(request, { card, file: named }) {
      const { tx, caller } = request
      await requireCapacity(tx, indexes.attachments(card.id), 'attachmentsPerCard')
      const file = 'id' in named ? named : await createFile(request)
      const { entries } = await tx.range(indexes.fileAttachments(file.id), onCard(card.id))
      if (entries.length > 0) throw conflict(ATTACHED)
      await cancelFileRemoval(tx, file.id)
      return createResource(request, 'attachment', keys.attachment, {
        card_id: card.id,
        file_id: file.id,
        name: file.name,
        content_type: file.content_type,
        size: file.size,
        attached_by_id: caller.userId,
      })
    },
  }),

  operation({
    id: 'attachments.detach',
    method: 'DELETE',
    path: '/attachments/{attachment_id}',
    summary: 'Removes an attachment from its card. If it was the cover, the card has none afterwards.',
    needs: ['detach', 'Attachment'],
    row: 'P15',
    data: deleted,
    entity,
    target: attachmentTarget,
    related: async ({ tx }, { card: { id } }) => ({ card: requireFound(await tx.get(keys.card(id))) }),
    async run(request, { attachment: removed, card, file }) {
      if (card.cover_attachment_id === removed.id) saveResource(request, keys.card, card, { cover_attachment_id: null })
      await removeFileIfUnattached(request, file.id, removed.id)
      return removeResource(request.tx, keys.attachment, removed)
    },
  }),
]

/** Reads a file together with what decides whether it can be attached to a card. */
async function prefetchAttaching(tx: Transaction, fileId: string, cardId: string): Promise<void> {
  const ranges = [{ index: indexes.fileAttachments(fileId), options: onCard(cardId) }]
  await tx.prefetch({ records: [keys.file(fileId), fileRemoval(fileId)], ranges })
}

/** The range of a card in the attachments of a file. */
function onCard(cardId: string): RangeOptions {
  return { after: `${cardId} `, before: `${cardId}!`, limit: 1, entriesOnly: true }
}

/** Creates the file of an upload. Its commit removes the tombstone of the bytes, unless they are being removed already. */
async function createFile({ tx, caller, clock, random, receive }: OperationRequest<unknown, unknown>): Promise<FileRecord> {
  const { blobId, tombstoneId, name, contentType, size, sha256, visibility } = await receive!()
  const now = timestamp(clock)
  const file: FileRecord = {
    id: newId('file', random),
    owner_id: caller.userId,
    visibility,
    name,
    content_type: contentType,
    size,
    created_at: now,
    updated_at: now,
    blob_id: blobId,
    sha256,
  }
  const [tombstone] = await tx.read([keys.tombstone(tombstoneId), keys.file(file.id)])
  if (tombstone === undefined || tombstone.claimed) throw conflict(UPLOAD_EXPIRED)
  tx.remove(keys.tombstone(tombstoneId))
  tx.put(keys.file(file.id), file)
  return file
}

import { z } from 'zod'
import type { BoardAccess } from '../../authz/context.ts'
import { listPage } from '../../listing/pages.ts'
import { conflict } from '../../model/errors.ts'
import { attachment, type AttachmentRecord, type FileRecord } from '../../model/file.ts'
import { newId } from '../../model/ids.ts'
import { timestamp } from '../../model/time.ts'
import { entriesOfWord, indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { RangeOptions } from '../../store/reads.ts'
import { fileTombstone, markFileIfUnattached, unmarkFile } from '../cascades.ts'
import { itemList } from '../included.ts'
import { deleted, operation, type OperationRequest } from '../operation.ts'
import { attachmentTarget, fileReads, idOf, parentCard, requireFound, toFile, type FileRecords } from '../targets.ts'
import { createResource, removeResource, saveResource } from '../writes.ts'
import { requireRoom } from './room.ts'
import { attachById, toAttachment, uploadForm, withFiles } from './attachment.ts'

const ATTACHED = 'The file is attached to this card already.'
export const UPLOAD_EXPIRED = 'The upload took too long, so its bytes were removed. Send it again.'

/** Files on cards (spec §5: rows P2, P15). */
export const attachmentOperations = [
  operation({
    id: 'attachments.list',
    method: 'GET',
    path: '/cards/{card_id}/attachments',
    summary: 'Lists the attachments of a card, oldest first.',
    needs: ['read', 'Attachment'],
    row: 'P2',
    ...itemList('attachments.list', attachment),
    target: parentCard,
    async run({ tx, query }, { card }) {
      const { data, ...page } = await listPage(tx, 'attachments.list', indexes.attachments(card.id), query)
      return { ...page, data: await withFiles(tx, data) }
    },
  }),

  operation({
    id: 'attachments.read',
    method: 'GET',
    path: '/attachments/{attachment_id}',
    summary: 'Returns an attachment.',
    needs: ['read', 'Attachment'],
    row: 'P2',
    data: attachment,
    target: attachmentTarget,
    run: (_request, loaded) => ({ data: toAttachment(loaded.attachment, loaded.file) }),
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
    run: (_request, loaded) => ({ data: undefined, download: loaded.file }),
  }),

  operation({
    id: 'attachments.attach',
    method: 'POST',
    path: '/cards/{card_id}/attachments',
    summary: 'Attaches a stored file by its id.',
    needs: ['attach', 'Attachment'],
    row: 'P15',
    body: attachById,
    data: attachment,
    status: 201,
    capacity: ['attachmentsPerCard', indexes.attachments],
    conflicts: [ATTACHED],
    example: { body: { file_id: '{file_id}' } },
    target: parentCard,
    related: (request) => loadFile(request, idOf('file', request.body.file_id, 'file_id')),
    async run(request, { card, file }) {
      const { tx } = request
      const { entries } = await tx.range(indexes.fileAttachments(file.id), onCard(card.id))
      if (entries.length > 0) throw conflict(ATTACHED)
      await unmarkFile(tx, file.id)
      return attach(request, card.id, file)
    },
  }),

  operation({
    id: 'attachments.upload',
    method: 'POST',
    path: '/cards/{card_id}/files',
    summary: 'Uploads a file, and attaches it.',
    needs: ['upload', 'Attachment'],
    row: 'P15',
    body: uploadForm,
    data: attachment,
    status: 201,
    takesUpload: true,
    capacity: ['attachmentsPerCard', indexes.attachments],
    conflicts: [UPLOAD_EXPIRED],
    codes: ['insufficient_storage'],
    target: parentCard,
    run: async (request, { board, card }) => attach(request, card.id, await createFile(request, board)),
  }),

  operation({
    id: 'attachments.detach',
    method: 'DELETE',
    path: '/attachments/{attachment_id}',
    summary: 'Removes an attachment from its card. If it was the cover, the card then has no cover.',
    needs: ['detach', 'Attachment'],
    row: 'P15',
    data: deleted,
    target: attachmentTarget,
    related: async ({ tx }, { card: { id } }) => ({ card: requireFound(await tx.get(keys.card(id))) }),
    async run(request, { attachment: removed, card, file }) {
      if (card.cover_attachment_id === removed.id) saveResource(request, keys.card, card, { cover_attachment_id: null })
      await markFileIfUnattached(request, file.id, removed.id)
      return removeResource(request.tx, keys.attachment, removed)
    },
  }),
]

/** Puts a file on a card. */
function attach(request: OperationRequest<unknown, unknown>, cardId: string, file: FileRecord) {
  const created = createResource<AttachmentRecord>(request, 'attachment', keys.attachment, {
    card_id: cardId,
    file_id: file.id,
    name: file.name,
    content_type: file.content_type,
    size: file.size,
    attached_by_id: request.caller.userId,
  })
  return { ...created, data: toAttachment(created.data, file) }
}

/**
 * Loads a file together with the facts that decide whether it can be attached to a card.
 * @throws {ApiError} `not_found`
 */
async function loadFile({ tx, caller, params }: OperationRequest<unknown, unknown>, fileId: string) {
  const ranges = [{ index: indexes.fileAttachments(fileId), options: onCard(params['card_id']!) }]
  const reads = fileReads(keys.file(fileId), caller.userId)
  const records = await tx.prefetch({ records: [...reads, fileTombstone(fileId)], ranges })
  return toFile(records as unknown as FileRecords, 'file_id')
}

/** The range of a card in the attachments of a file. */
function onCard(cardId: string): RangeOptions {
  return { ...entriesOfWord(cardId), limit: 1, entriesOnly: true }
}

/**
 * Creates the file of an upload. Its commit removes the tombstone of the bytes, unless they are being removed already.
 * @param home the board of the card that it is uploaded to
 */
async function createFile(request: OperationRequest<unknown, unknown>, home: BoardAccess): Promise<FileRecord> {
  const { tx, caller, clock, random, receive } = request
  const { blobId, tombstoneId, name, contentType, size, sha256, visibility, picture, workspaceBytes } = await receive!()
  const now = timestamp(clock)
  const file: FileRecord = {
    id: newId('file', random),
    owner_id: caller.userId,
    visibility,
    board_id: home.id,
    name,
    content_type: contentType,
    size,
    picture,
    created_at: now,
    updated_at: now,
    blob_id: blobId,
    sha256,
  }
  const [tombstone, , used] = await tx.read([keys.tombstone(tombstoneId), keys.file(file.id), keys.fileBytes()])
  if (tombstone === undefined || tombstone.claimed) throw conflict(UPLOAD_EXPIRED)
  requireRoom(used?.bytes ?? 0, size, workspaceBytes)
  tx.remove(keys.tombstone(tombstoneId))
  tx.put(keys.file(file.id), file)
  return file
}

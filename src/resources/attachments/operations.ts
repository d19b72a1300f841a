import { attachById } from './schema.ts'
import { z } from 'zod'
import { conflict } from '../../model/errors.ts'
import { attachment, type Attachment, type FileRecord } from '../../model/file.ts'
import { newId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { timestamp } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { cardEntity, loadTheCard, saveCard } from '../cards/writing.ts'
import { buryUnusedFile, exhumeFile } from '../cascades.ts'
import { loadAttachment, loadFile } from '../targets.ts'
import { deleted, operation, type Addressed, type OperationRequest } from '../operation.ts'
import { listPage, pageQuery } from '../../listing/pages.ts'
import { requireCapacity } from '../../listing/capacity.ts'

const entity = (params: Readonly<Record<string, string>>) => keys.attachment(params['attachment_id']!)
const load = ({ tx, caller, params }: Addressed) => loadAttachment(tx, caller, params['attachment_id']!)
const FULL = `A card has at most ${limits.attachmentsPerCard} attachments.`
const TWICE = 'The file is attached to this card already.'

/** Makes what came along a file of the workspace. */
async function keepUpload({ tx, caller, clock, random, receive }: OperationRequest<unknown, unknown>): Promise<FileRecord> {
  const { blobId, tombstoneId: tombstoneId, name, contentType, size, sha256, visibility } = await receive!()
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
  const [note] = await tx.read([keys.tombstone(tombstoneId), keys.file(file.id)])
  if (note === undefined || note.claimed) throw conflict('The upload took so long that its bytes were given up. Send it again.')
  tx.remove(keys.tombstone(tombstoneId))
  tx.put(keys.file(file.id), file)
  return file
}

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
    load: loadTheCard,
    run: ({ tx, query }, { card }) => listPage(tx, 'attachments.list', indexes.attachments(card.id), query),
  }),

  operation({
    id: 'attachments.read',
    method: 'GET',
    path: '/attachments/{attachment_id}',
    summary: 'Reads an attachment.',
    needs: ['read', 'Attachment'],
    row: 'P2',
    data: attachment,
    entity,
    load,
    run: async (_request, loaded) => ({ data: loaded.attachment }),
  }),

  operation({
    id: 'attachments.download',
    method: 'GET',
    path: '/attachments/{attachment_id}/content',
    summary: 'Downloads the bytes of an attachment, or a range of them.',
    needs: ['read', 'Attachment'],
    row: 'P2',
    data: z.never(),
    load,
    run: async (_request, loaded) => ({ data: undefined, download: loaded.file }),
  }),

  operation({
    id: 'attachments.attach',
    method: 'POST',
    path: '/cards/{card_id}/attachments',
    summary: 'Attaches a file that is there by its id, or uploads one (multipart/form-data: file, visibility) and attaches it.',
    needs: ['attach', 'Attachment'],
    row: 'P15',
    body: attachById,
    data: attachment,
    status: 201,
    takesUpload: true,
    entity: cardEntity,
    conflicts: [FULL, TWICE],
    async load(request) {
      const loaded = request.see(await loadTheCard(request))
      // What comes along is its sender's, and what nobody has read yet is open to nobody else.
      if (request.receive !== undefined) return { ...loaded, file: { owner_id: request.caller.userId, visibility: 'private' as const } }
      return { ...loaded, ...(await loadFile(request.tx, request.body.file_id)) }
    },
    async run(request, { card, file: named }) {
      const { tx, caller, clock, random } = request
      await requireCapacity(tx, indexes.attachments(card.id), limits.attachmentsPerCard, FULL)
      const file = 'id' in named ? named : await keepUpload(request)
      const { entries } = await tx.range(indexes.fileAttachments(file.id), { after: `${card.id} `, before: `${card.id}!`, limit: 1 })
      if (entries.length > 0) throw conflict(TWICE)
      await exhumeFile(tx, file.id)
      const now = timestamp(clock)
      const created: Attachment = {
        id: newId('attachment', random),
        card_id: card.id,
        file_id: file.id,
        name: file.name,
        content_type: file.content_type,
        size: file.size,
        attached_by_id: caller.userId,
        created_at: now,
        updated_at: now,
      }
      const key = keys.attachment(created.id)
      await tx.create(key, created)
      return { data: created, location: `/attachments/${created.id}`, entity: key }
    },
  }),

  operation({
    id: 'attachments.detach',
    method: 'DELETE',
    path: '/attachments/{attachment_id}',
    summary: 'Takes a file off a card. Where it was the cover, the card has none then.',
    needs: ['detach', 'Attachment'],
    row: 'P15',
    data: deleted,
    entity,
    load,
    async run(request, { attachment: gone, card, file }) {
      request.tx.remove(keys.attachment(gone.id))
      if (card.cover_attachment_id === gone.id) saveCard(request, { ...card, cover_attachment_id: null })
      await buryUnusedFile(request, file.id, gone.id)
      return { data: { id: gone.id, deleted: true } }
    },
  }),
]

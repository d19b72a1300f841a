import { cardCover } from './schema.ts'
import { z } from 'zod'
import { card } from '../../model/card.ts'
import { conflict, notFound } from '../../model/errors.ts'
import { keys } from '../../store/keys.ts'
import { cardEntity, loadTheCard, saveCard } from './writing.ts'
import { requireId } from '../targets.ts'
import { deleted, operation } from '../operation.ts'

const NO_IMAGE = 'A cover is an image; this attachment is none.'

/** The cover of a card (spec §5: row P15). */
export const coverOperations = [
  operation({
    id: 'cards.set_cover',
    method: 'PUT',
    path: '/cards/{card_id}/cover',
    summary: 'Makes an image that is attached to a card its cover.',
    needs: ['set_cover', 'Card'],
    row: 'P15',
    body: cardCover,
    data: card,
    entity: cardEntity,
    conflicts: [NO_IMAGE],
    async load(request) {
      const loaded = request.see(await loadTheCard(request))
      requireId('attachment', request.body.attachment_id)
      const [attachment, file] = await request.tx.read([keys.attachment(request.body.attachment_id), keys.file('{0.file_id}')])
      if (attachment === undefined || file === undefined || attachment.card_id !== loaded.card.id) throw notFound()
      return { ...loaded, attachment, file }
    },
    async run(request, { card: covered, attachment }) {
      if (!attachment.content_type.startsWith('image/')) throw conflict(NO_IMAGE)
      if (covered.cover_attachment_id === attachment.id) return { data: covered }
      return saveCard(request, { ...covered, cover_attachment_id: attachment.id })
    },
  }),

  operation({
    id: 'cards.clear_cover',
    method: 'DELETE',
    path: '/cards/{card_id}/cover',
    summary: 'Takes the cover off a card, and tells the attachment that it was. Where there is none nothing changes.',
    needs: ['clear_cover', 'Card'],
    row: 'P15',
    data: deleted.extend({ id: z.string().nullable() }),
    entity: cardEntity,
    async load(request) {
      const loaded = request.see(await loadTheCard(request))
      const { cover_attachment_id } = loaded.card
      if (cover_attachment_id === null) return { ...loaded, cover: null }
      const [, file] = await request.tx.read([keys.attachment(cover_attachment_id), keys.file('{0.file_id}')])
      return { ...loaded, cover: file ?? null }
    },
    async run(request, { card: covered }) {
      const id = covered.cover_attachment_id
      if (id !== null) saveCard(request, { ...covered, cover_attachment_id: null })
      return { data: { id, deleted: true } }
    },
  }),
]

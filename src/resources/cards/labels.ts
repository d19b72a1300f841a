import { card } from '../../model/card.ts'
import { conflict, notFound } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { keys } from '../../store/keys.ts'
import { cardEntity, loadTheCard, saveCard } from './writing.ts'
import { requireId } from '../targets.ts'
import { deleted, operation } from '../operation.ts'

const FULL = `A card bears at most ${limits.labelsPerCard} labels.`

/** Which labels a card bears (spec §5: row P12). */
export const cardLabelOperations = [
  operation({
    id: 'cards.apply_label',
    method: 'PUT',
    path: '/cards/{card_id}/labels/{label_id}',
    summary: "Applies one of the board's labels. Doing it again changes nothing.",
    needs: ['apply_label', 'Card'],
    row: 'P12',
    data: card,
    entity: cardEntity,
    conflicts: [FULL],
    async load(request) {
      const loaded = request.see(await loadTheCard(request))
      requireId('label', request.params['label_id']!)
      const label = await request.tx.get(keys.label(request.params['label_id']!))
      if (label === undefined) throw notFound()
      return { ...loaded, label }
    },
    async run(request, { card: labelled, label }) {
      if (labelled.label_ids.includes(label.id)) return { data: labelled }
      if (labelled.label_ids.length >= limits.labelsPerCard) throw conflict(FULL, { limit: limits.labelsPerCard })
      return saveCard(request, { ...labelled, label_ids: [...labelled.label_ids, label.id] })
    },
  }),

  operation({
    id: 'cards.remove_label',
    method: 'DELETE',
    path: '/cards/{card_id}/labels/{label_id}',
    summary: 'Takes a label off a card.',
    needs: ['remove_label', 'Card'],
    row: 'P12',
    data: deleted,
    entity: cardEntity,
    async load(request) {
      const loaded = await loadTheCard(request)
      if (!loaded.card.label_ids.includes(request.params['label_id']!)) throw notFound()
      return loaded
    },
    async run(request, loaded) {
      const gone = request.params['label_id']!
      saveCard(request, { ...loaded.card, label_ids: loaded.card.label_ids.filter((id) => id !== gone) })
      return { data: { id: gone, deleted: true } }
    },
  }),
]

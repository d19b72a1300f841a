import { card } from '../../model/card.ts'
import { conflict, notFound } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { keys } from '../../store/keys.ts'
import { cardEntity, loadTheCard, saveCard } from './writing.ts'
import { loadCard, requireId } from '../targets.ts'
import { deleted, operation } from '../operation.ts'

const FULL = `A card has at most ${limits.assigneesPerCard} assignees.`

/** Who works on a card (spec §5: row P12). */
export const assigneeOperations = [
  operation({
    id: 'cards.assign',
    method: 'PUT',
    path: '/cards/{card_id}/assignees/{user_id}',
    summary: 'Assigns someone who has access to the board. Doing it again changes nothing.',
    needs: ['assign', 'Card'],
    row: 'P12',
    data: card,
    entity: cardEntity,
    conflicts: [FULL],
    async load({ tx, caller, params, see }) {
      const loaded = see(await loadCard(tx, caller, params['card_id']!))
      const userId = params['user_id']!
      requireId('user', userId)
      const [membership, boardMember] = await tx.read([keys.membership(userId), keys.boardMember(loaded.board.id, userId)])
      if (membership === undefined) throw notFound()
      return { ...loaded, user: { membership, boardMember } }
    },
    async run(request, { card: assigned, user }) {
      const { user_id } = user.membership
      if (assigned.assignee_ids.includes(user_id)) return { data: assigned }
      if (assigned.assignee_ids.length >= limits.assigneesPerCard) throw conflict(FULL, { limit: limits.assigneesPerCard })
      return saveCard(request, { ...assigned, assignee_ids: [...assigned.assignee_ids, user_id] })
    },
  }),

  operation({
    id: 'cards.unassign',
    method: 'DELETE',
    path: '/cards/{card_id}/assignees/{user_id}',
    summary: 'Takes someone off a card, whatever that person may do by now.',
    needs: ['unassign', 'Card'],
    row: 'P12',
    data: deleted,
    entity: cardEntity,
    async load(request) {
      const loaded = await loadTheCard(request)
      if (!loaded.card.assignee_ids.includes(request.params['user_id']!)) throw notFound()
      return loaded
    },
    async run(request, loaded) {
      const gone = request.params['user_id']!
      saveCard(request, { ...loaded.card, assignee_ids: loaded.card.assignee_ids.filter((id) => id !== gone) })
      return { data: { id: gone, deleted: true } }
    },
  }),
]

import { z } from 'zod'
import { card } from '../../model/card.ts'
import { limits } from '../../model/limits.ts'
import { time } from '../../model/text.ts'
import { cardCounts, countAll, withCounts } from '../counts.ts'
import { cardsByPlace } from './by-place.ts'
import { cardsByUpdate } from './by-update.ts'
import { flag } from '../../listing/filters.ts'
import { loadBoard } from '../targets.ts'
import { operation, type OperationResult } from '../operation.ts'
import { choosePage, listAnswer, type PageQuery } from '../../listing/pages.ts'

const LIST = 'cards.list'
// Another order, so a cursor of the one leads nowhere in the other.
const BY_UPDATE = 'cards.list by update'
const listOf = ({ updated_since }: { updated_since?: string | undefined }) => (updated_since === undefined ? LIST : BY_UPDATE)

// All that is given must hold.
const filter = {
  column_id: z.string().optional(),
  assignee_id: z.string().optional(),
  label_id: z.string().optional(),
  completed: flag.optional(),
  archived: flag.default(false),
  q: z.string().trim().min(1, 'must not be blank').max(limits.searchText).optional(),
  updated_since: time.optional(),
}

/** Cards of a board (spec §5: row P2). */
export const cardListOperations = [
  operation({
    id: LIST,
    method: 'GET',
    path: '/boards/{board_id}/cards',
    summary:
      'Lists the cards of a board, column by column in their order; with ?updated_since= by when they were updated. ?archived=true lists those put away, by themselves or with their column; ?q= searches title and description.',
    needs: ['read', 'Card'],
    row: 'P2',
    query: choosePage([LIST, BY_UPDATE], { ...filter, ...withCounts.query }, listOf),
    data: z.array(card.extend(cardCounts.shape)),
    load: ({ tx, caller, params }) => loadBoard(tx, caller, params['board_id']!),
    async run({ tx, query }, { board }): Promise<OperationResult> {
      const page: PageQuery = query
      const find = query.updated_since === undefined ? cardsByPlace : cardsByUpdate
      const { cards, position, more } = await find(tx, board.id, query, page)
      if (query.include === undefined) return listAnswer(listOf(query), cards, position, more)
      const counts = await countAll(tx, cards.map(cardCounts.of))
      return listAnswer(
        listOf(query),
        cards.map((found, i) => ({ ...found, counts: counts[i] })),
        position,
        more,
      )
    },
  }),
]

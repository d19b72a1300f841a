import { z } from 'zod'
import { pageQuery, toPage } from '../../listing/pages.ts'
import type { BoardMember } from '../../model/board.ts'
import { conflict, notFound } from '../../model/errors.ts'
import { timestamp } from '../../model/time.ts'
import { isActive, type Membership } from '../../model/workspace.ts'
import { indexes, lastWord } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { unassignWithoutAccess } from '../cascades.ts'
import { deleted, operation } from '../operation.ts'
import { boardTarget, idOf, relatedUser } from '../targets.ts'
import { capacityMessage, deletedResult, requireCapacity } from '../writes.ts'
import { boardMemberEntry, type BoardMemberEntry } from './schema.ts'

// Sorts before every entry of the index: the creator is listed first and has no entry.
const CREATOR_POSITION = '0'
const CREATOR_STAYS = 'The creator of a board cannot be removed from it.'

const entity = (params: Readonly<Record<string, string>>) => keys.board(params['board_id']!)

/** The members of a board: its creator and its explicit members (spec §5: rows P2, P6). */
export const boardMemberOperations = [
  operation({
    id: 'board_members.list',
    method: 'GET',
    path: '/boards/{board_id}/members',
    summary: 'Lists the creator of a board and its explicit members, in the order in which they were added.',
    needs: ['read', 'BoardMember'],
    row: 'P2',
    query: z.strictObject(pageQuery('board_members.list')),
    data: z.array(boardMemberEntry),
    target: boardTarget,
    async run({ tx, query: { limit, cursor } }, { board }) {
      const { records, ranges } = await tx.load({
        records: [keys.membership(board.creator_id)],
        ranges: [{ index: indexes.boardMembers(board.id), options: { after: cursor, limit: limit + 1 } }],
      })
      const [{ entries, values }] = ranges
      const rows = entries.map((position, i) => ({ position, userId: lastWord(position), addedAt: values[i]!.added_at, creator: false }))
      // A creator whose membership has ended is not on the board until it is active again.
      const creatorIsActive = cursor === undefined && isActive(records[0])
      if (creatorIsActive) rows.unshift({ position: CREATOR_POSITION, userId: board.creator_id, addedAt: board.created_at, creator: true })
      const page = rows.slice(0, limit)
      const memberships = await tx.read(page.map(({ userId }) => keys.membership(userId)))
      // Board memberships of former members count for nothing, and are removed in batches.
      const items = page.flatMap(({ addedAt, creator }, i) => (isActive(memberships[i]) ? [toEntry(memberships[i], creator, addedAt)] : []))
      return toPage('board_members.list', items, page.at(-1)?.position, rows.length > limit)
    },
  }),

  operation({
    id: 'board_members.add',
    method: 'PUT',
    path: '/boards/{board_id}/members/{user_id}',
    summary: 'Makes a member of the workspace an explicit member of a board. Repeating it changes nothing.',
    needs: ['add', 'BoardMember'],
    row: 'P6',
    data: boardMemberEntry,
    entity,
    conflicts: [capacityMessage('membersPerBoard')],
    target: boardTarget,
    related: relatedUser,
    async run({ tx, clock }, { board, user: { membership, boardMember } }) {
      if (membership.user_id === board.creator_id) return { data: toEntry(membership, true, board.created_at) }
      if (boardMember !== undefined) return { data: toEntry(membership, false, boardMember.added_at) }
      await requireCapacity(tx, indexes.boardMembers(board.id), 'membersPerBoard')
      const added: BoardMember = {
        board_id: board.id,
        user_id: membership.user_id,
        board_created_at: board.created_at,
        added_at: timestamp(clock),
      }
      tx.put(keys.boardMember(board.id, membership.user_id), added)
      return { data: toEntry(membership, false, added.added_at) }
    },
  }),

  operation({
    id: 'board_members.remove',
    method: 'DELETE',
    path: '/boards/{board_id}/members/{user_id}',
    summary: 'Removes an explicit member from a board.',
    needs: ['remove', 'BoardMember'],
    row: 'P6',
    data: deleted,
    entity,
    conflicts: [CREATOR_STAYS],
    target: boardTarget,
    async related({ tx, params }, { board }) {
      const userId = idOf('user', params['user_id'])
      const [boardMember, membership] = await tx.read([keys.boardMember(board.id, userId), keys.membership(userId)])
      if ((boardMember === undefined || !isActive(membership)) && userId !== board.creator_id) throw notFound()
      return {}
    },
    async run(request, { board }) {
      const userId = request.params['user_id']!
      if (userId === board.creator_id) throw conflict(CREATOR_STAYS)
      request.tx.remove(keys.boardMember(board.id, userId))
      await unassignWithoutAccess(request, board, [userId])
      return deletedResult(userId)
    },
  }),
]

function toEntry({ user_id, display_name, avatar_url }: Membership, creator: boolean, addedAt: string): BoardMemberEntry {
  return { user_id, display_name, avatar_url, creator, added_at: addedAt }
}

import { boardMemberEntry } from './schema.ts'
import { z } from 'zod'
import { type BoardMember } from '../../model/board.ts'
import { conflict, notFound } from '../../model/errors.ts'
import { isId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { timestamp } from '../../model/time.ts'
import { isActive, type Membership } from '../../model/workspace.ts'
import { indexes, lastWord } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { unassignWithoutAccess } from '../cascades.ts'
import { loadBoard } from '../targets.ts'
import { deleted, operation } from '../operation.ts'
import { listAnswer, pageQuery } from '../../listing/pages.ts'
import { requireCapacity } from '../../listing/capacity.ts'

const FULL = `A board has at most ${limits.membersPerBoard} explicit members.`
// Before every entry: the creator comes first, and has none.
const CREATOR_POSITION = '0'

const entity = (params: Readonly<Record<string, string>>) => keys.board(params['board_id']!)

function toEntry({ user_id, display_name, avatar_url }: Membership, creator: boolean, addedAt: string) {
  return { user_id, display_name, avatar_url, creator, added_at: addedAt }
}

/** Who is on a board: its creator and its explicit members (spec §5: rows P2, P6). */
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
    load: ({ tx, caller, params }) => loadBoard(tx, caller, params['board_id']!),
    async run({ tx, query: { limit, cursor } }, { board }) {
      const { records, ranges } = await tx.load({
        records: [keys.membership(board.creator_id)],
        ranges: [{ index: indexes.boardMembers(board.id), options: { after: cursor, limit: limit + 1 } }],
      })
      const [{ entries, values }] = ranges
      const rows = entries.map((position, i) => ({ position, userId: lastWord(position), addedAt: values[i]!.added_at, creator: false }))
      // A creator who has left is not on his board, until he comes back.
      const creatorIsHere = cursor === undefined && isActive(records[0])
      if (creatorIsHere) rows.unshift({ position: CREATOR_POSITION, userId: board.creator_id, addedAt: board.created_at, creator: true })
      const page = rows.slice(0, limit)
      const people = await tx.read(page.map(({ userId }) => keys.membership(userId)))
      const items = page.map(({ addedAt, creator }, i) => toEntry(people[i]!, creator, addedAt))
      return listAnswer('board_members.list', items, page.at(-1)?.position, rows.length > limit)
    },
  }),

  operation({
    id: 'board_members.add',
    method: 'PUT',
    path: '/boards/{board_id}/members/{user_id}',
    summary: 'Makes a member of the workspace an explicit member of a board. Doing it again changes nothing.',
    needs: ['add', 'BoardMember'],
    row: 'P6',
    data: boardMemberEntry,
    entity,
    conflicts: [FULL],
    async load({ tx, caller, params, see }) {
      const userId = params['user_id']!
      const loaded = see(await loadBoard(tx, caller, params['board_id']!))
      if (!isId('user', userId)) throw notFound()
      const [membership, entry] = await tx.read([keys.membership(userId), keys.boardMember(loaded.board.id, userId)])
      if (membership === undefined) throw notFound()
      return { ...loaded, user: { membership, boardMember: entry } }
    },
    async run({ tx, clock }, { board, user }) {
      const { membership } = user
      if (membership.user_id === board.creator_id) return { data: toEntry(membership, true, board.created_at) }
      const entry: BoardMember = user.boardMember ?? {
        board_id: board.id,
        user_id: membership.user_id,
        board_created_at: board.created_at,
        added_at: timestamp(clock),
      }
      if (user.boardMember === undefined) await requireCapacity(tx, indexes.boardMembers(board.id), limits.membersPerBoard, FULL)
      if (user.boardMember === undefined) tx.put(keys.boardMember(board.id, membership.user_id), entry)
      return { data: toEntry(membership, false, entry.added_at) }
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
    conflicts: ['The creator of a board cannot be removed from it.'],
    async load({ tx, caller, params, see }) {
      const userId = params['user_id']!
      const loaded = see(await loadBoard(tx, caller, params['board_id']!))
      if (!isId('user', userId)) throw notFound()
      const entry = await tx.get(keys.boardMember(loaded.board.id, userId))
      if (entry === undefined && userId !== loaded.board.creator_id) throw notFound()
      return { ...loaded, removed: userId }
    },
    async run(request, { board, removed }) {
      if (removed === board.creator_id) throw conflict('The creator of a board cannot be removed from it.')
      request.tx.remove(keys.boardMember(board.id, removed))
      await unassignWithoutAccess(request, board)
      return { data: { id: removed, deleted: true } }
    },
  }),
]

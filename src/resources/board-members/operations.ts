import { z } from 'zod'
import { pageQuery, toPage } from '../../listing/pages.ts'
import type { Board, BoardMember } from '../../model/board.ts'
import { conflict, notFound } from '../../model/errors.ts'
import { timestamp } from '../../model/time.ts'
import { isActive, type Membership } from '../../model/workspace.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { unassignWithoutAccess } from '../cascades.ts'
import { toDirectoryEntry } from '../members/operations.ts'
import { directoryEntry } from '../members/schema.ts'
import { deleted, operation } from '../operation.ts'
import { boardTarget, idOf, relatedUser } from '../targets.ts'
import { capacityMessage, requireCapacity } from '../capacity.ts'
import { deletedResult } from '../writes.ts'
import { peopleOfBoard, peopleOfWorkspace, type PeoplePage, boardMemberEntry, type BoardMemberEntry } from './people.ts'

const CREATOR_STAYS = 'The creator of a board cannot be removed from it.'

/** The members of a board: its creator and its explicit members (spec §5: rows P2, P6). */
export const boardMemberOperations = [
  operation({
    id: 'board_members.list',
    method: 'GET',
    path: '/boards/{board_id}/members',
    summary: 'Lists the creator of a board and its explicit members, in the order they were added.',
    needs: ['read', 'BoardMember'],
    row: 'P2',
    query: z.strictObject(pageQuery('board_members.list')),
    data: z.array(boardMemberEntry),
    target: boardTarget,
    async run({ tx, query }, { board }) {
      const { people, position, more } = await peopleOfBoard(tx, board, query)
      return toPage('board_members.list', toEntries(people, board), position, more)
    },
  }),

  operation({
    id: 'boards.assignable',
    method: 'GET',
    path: '/boards/{board_id}/assignable',
    summary: 'Lists the people who can be assigned to the cards of a board: everyone with access to it.',
    needs: ['read', 'BoardMember'],
    row: 'P2',
    query: z.strictObject(pageQuery('boards.assignable')),
    data: z.array(directoryEntry),
    target: boardTarget,
    async run({ tx, query, holds }, { board }) {
      const readPeople = board.visibility === 'private' ? peopleOfBoard : peopleOfWorkspace
      const { people, position, more } = await readPeople(tx, board, query)
      const items = people.filter((user) => holds('user.belongs', { board, user })).map(({ membership }) => toDirectoryEntry(membership))
      return toPage('boards.assignable', items, position, more)
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
    conflicts: [CREATOR_STAYS],
    target: boardTarget,
    async related({ tx, params }, { board }) {
      const userId = idOf('user', params['user_id'], 'user_id')
      const [boardMember, membership] = await tx.read([keys.boardMember(board.id, userId), keys.membership(userId)])
      if ((boardMember === undefined || !isActive(membership)) && userId !== board.creator_id) throw notFound('user_id')
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

/** A member of a board, as the API returns it. */
export function toEntry({ user_id, display_name, avatar_url }: Membership, creator: boolean, addedAt: string): BoardMemberEntry {
  return { user_id, display_name, avatar_url, creator, added_at: addedAt }
}

/** The members of a board, as the API lists them. */
export function toEntries(people: PeoplePage['people'], board: Pick<Board, 'creator_id'>): BoardMemberEntry[] {
  return people.map(({ membership, addedAt }) => toEntry(membership, membership.user_id === board.creator_id, addedAt))
}

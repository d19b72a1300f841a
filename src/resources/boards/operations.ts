import { boardCreate, boardUpdate, boardVisibility } from './schema.ts'
import { z } from 'zod'
import { board, type Board } from '../../model/board.ts'
import { newId } from '../../model/ids.ts'
import { timestamp } from '../../model/time.ts'
import { indexes, lastWord } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { createTombstone, unassignWithoutAccess } from '../cascades.ts'
import { boardCounts, withCounts } from '../counts.ts'
import { loadBoard } from '../targets.ts'
import { deleted, filteredList, operation } from '../operation.ts'
import { pageQuery } from '../../listing/pages.ts'
import { atLeastOne } from '../patch.ts'

const entity = (params: Readonly<Record<string, string>>) => keys.board(params['board_id']!)

/** Boards (spec §5: rows P2–P5, P7). */
export const boardOperations = [
  filteredList({
    id: 'boards.list',
    method: 'GET',
    path: '/boards',
    summary: 'Lists the boards that the caller has access to, oldest first.',
    needs: ['read', 'Board'],
    row: 'P2',
    query: z.strictObject(pageQuery('boards.list')),
    data: z.array(board),
    async candidates({ tx, caller }, after, limit) {
      // Two orders of one kind, merged: so the cost is that of the page, however many boards others hide.
      const options = { after, limit }
      const { ranges } = await tx.load({
        ranges: [
          { index: indexes.workspaceBoards(), options },
          { index: indexes.boardsOf(caller.userId), options },
        ],
      })
      const merged = new Map(ranges.flatMap(({ entries, values }) => entries.map((entry, i) => [entry, values[i]] as const)))
      const next = [...merged].toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, limit)
      const own = await tx.read(next.map(([entry]) => keys.boardMember(lastWord(entry), caller.userId)))
      return next.map(([position, value], i) => ({
        position,
        found: value && { situation: { board: value, boardMember: own[i] }, data: value },
      }))
    },
  }),

  operation({
    id: 'boards.create',
    method: 'POST',
    path: '/boards',
    summary: 'Creates a board that every member of the workspace can find.',
    needs: ['create_board', 'Workspace'],
    row: 'P3',
    body: boardCreate,
    data: board,
    status: 201,
    load: async () => ({}),
    async run({ tx, caller, body, clock, random }) {
      const now = timestamp(clock)
      const created: Board = {
        id: newId('board', random),
        ...body,
        visibility: 'workspace',
        creator_id: caller.userId,
        created_at: now,
        updated_at: now,
      }
      const key = keys.board(created.id)
      await tx.create(key, created)
      return { data: created, location: `/boards/${created.id}`, entity: key }
    },
  }),

  operation({
    id: 'boards.read',
    method: 'GET',
    path: '/boards/{board_id}',
    summary: 'Reads a board; ?include=counts tells how many columns, cards and labels it has.',
    needs: ['read', 'Board'],
    row: 'P2',
    query: z.strictObject(withCounts.query),
    data: board.extend(boardCounts.shape),
    entity,
    load: ({ tx, caller, params }) => loadBoard(tx, caller, params['board_id']!),
    run: ({ tx, query }, loaded) => withCounts.answer(tx, query, loaded.board, boardCounts.of(loaded.board)),
  }),

  operation({
    id: 'boards.update',
    method: 'PATCH',
    path: '/boards/{board_id}',
    summary: 'Changes the name, description or cover color of a board.',
    needs: ['update', 'Board'],
    row: 'P4',
    body: atLeastOne(boardUpdate),
    data: board,
    entity,
    fields: (body) => Object.keys(body),
    load: ({ tx, caller, params }) => loadBoard(tx, caller, params['board_id']!),
    async run({ tx, body, clock }, loaded) {
      const changed = { ...loaded.board, ...body, updated_at: timestamp(clock) } as Board
      tx.put(keys.board(changed.id), changed)
      return { data: changed }
    },
  }),

  operation({
    id: 'boards.set_visibility',
    method: 'PUT',
    path: '/boards/{board_id}/visibility',
    summary: 'Opens a board to the workspace, or makes it private to its creator and explicit members.',
    needs: ['set_visibility', 'Board'],
    row: 'P5',
    body: boardVisibility,
    data: board,
    entity,
    load: ({ tx, caller, params }) => loadBoard(tx, caller, params['board_id']!),
    async run(request, loaded) {
      const { tx, body, clock } = request
      if (loaded.board.visibility === body.visibility) return { data: loaded.board }
      const changed: Board = { ...loaded.board, visibility: body.visibility, updated_at: timestamp(clock) }
      tx.put(keys.board(changed.id), changed)
      await unassignWithoutAccess(request, changed)
      return { data: changed }
    },
  }),

  operation({
    id: 'boards.delete',
    method: 'DELETE',
    path: '/boards/{board_id}',
    summary: 'Deletes a board for good, with all that is on it.',
    needs: ['delete', 'Board'],
    row: 'P7',
    data: deleted,
    entity,
    load: ({ tx, caller, params }) => loadBoard(tx, caller, params['board_id']!),
    async run(request, loaded) {
      request.tx.remove(keys.board(loaded.board.id))
      await createTombstone(request, 'board', loaded.board.id)
      return { data: { id: loaded.board.id, deleted: true } }
    },
  }),
]

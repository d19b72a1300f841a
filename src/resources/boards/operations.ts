import { board } from '../../model/board.ts'
import { keys } from '../../store/keys.ts'
import { createTombstone, unassignWithoutAccess } from '../cascades.ts'
import { itemList } from '../included.ts'
import { atLeastOne, deleted, filteredList, operation } from '../operation.ts'
import { boardTarget } from '../targets.ts'
import { createResource, removeResource, saveResource } from '../writes.ts'
import { boardCandidates } from './queries.ts'
import { boardCreate, boardQuery, boardSnapshot, boardUpdate, boardVisibility } from './schema.ts'
import { readParts } from './snapshot.ts'

/** Boards (spec §5: rows P2–P5, P7). */
export const boardOperations = [
  filteredList({
    id: 'boards.list',
    method: 'GET',
    path: '/boards',
    summary: 'Lists the boards that you have access to, oldest first.',
    needs: ['read', 'Board'],
    row: 'P2',
    ...itemList('boards.list', board),
    candidates: boardCandidates,
  }),

  operation({
    id: 'boards.create',
    method: 'POST',
    path: '/boards',
    summary: 'Creates a board that every member of the workspace has access to.',
    needs: ['create_board', 'Workspace'],
    row: 'P3',
    body: boardCreate,
    data: board,
    status: 201,
    // A repetition after the end of the access to the board.
    codes: ['not_found'],
    example: { body: { name: 'Spring release' } },
    run: (request) =>
      createResource(request, 'board', keys.board, { ...request.body, visibility: 'workspace', creator_id: request.caller.userId }),
  }),

  operation({
    id: 'boards.read',
    method: 'GET',
    path: '/boards/{board_id}',
    summary: 'Returns a board. With ?include=columns,cards,labels,members,counts it includes the contents, all from the same moment.',
    needs: ['read', 'Board'],
    row: 'P2',
    query: boardQuery,
    data: boardSnapshot,
    target: boardTarget,
    run(request, { board }) {
      const { include } = request.query
      if (include === undefined) return { data: board }
      return readParts(request, board, include).then((parts) => ({ data: { ...board, ...parts }, entity: null }))
    },
  }),

  operation({
    id: 'boards.update',
    method: 'PATCH',
    path: '/boards/{board_id}',
    summary: 'Changes the name, the description or the cover color of a board.',
    needs: ['update', 'Board'],
    row: 'P4',
    body: atLeastOne(boardUpdate),
    data: board,
    fields: (body) => Object.keys(body),
    example: { body: { name: 'Summer release' } },
    target: boardTarget,
    run: (request, loaded) => saveResource(request, keys.board, loaded.board, request.body),
  }),

  operation({
    id: 'boards.set_visibility',
    method: 'PUT',
    path: '/boards/{board_id}/visibility',
    summary: 'Gives every member of the workspace access to a board, or only its creator and explicit members.',
    needs: ['set_visibility', 'Board'],
    row: 'P5',
    body: boardVisibility,
    data: board,
    example: { body: { visibility: 'private' } },
    target: boardTarget,
    async run(request, { board: current }) {
      const { visibility } = request.body
      if (current.visibility === visibility) return { data: current }
      const saved = saveResource(request, keys.board, current, { visibility })
      await unassignWithoutAccess(request, saved.data)
      return saved
    },
  }),

  operation({
    id: 'boards.delete',
    method: 'DELETE',
    path: '/boards/{board_id}',
    summary: 'Deletes a board permanently, with everything on it.',
    needs: ['delete', 'Board'],
    row: 'P7',
    data: deleted,
    target: boardTarget,
    async run(request, loaded) {
      await createTombstone(request, 'board', loaded.board.id)
      return removeResource(request.tx, keys.board, loaded.board)
    },
  }),
]

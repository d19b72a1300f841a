import { reposition } from './model.ts'
import { absentColumn, exists, failIf, first, type Planner } from './selection.ts'

/** Requests to boards, their members, columns and labels. */
export const boardRequests: Readonly<Record<string, Planner>> = {
  'create board': ({ person }, _step, { model }) =>
    model.boards.length > 3
      ? undefined
      : {
          method: 'POST',
          path: '/boards',
          body: { name: 'B' },
          expected: 'ok',
          apply: ({ id }) => model.boards.push({ id, creator: person.id, private: false, members: [], labels: [], columns: [] }),
        },
  'set visibility of board': ({ board, ofCreator }, { c }, { model }) => ({
    method: 'PUT',
    path: `/boards/${board.id}/visibility`,
    body: { visibility: c % 2 ? 'private' : 'workspace' },
    expected: ofCreator,
    apply: () => ((board.private = c % 2 === 1), model.removeInvisibleAssignees(board)),
  }),
  'add board member': ({ board, otherPerson, onBoard, ofCreator }, _step, { model }) => ({
    method: 'PUT',
    path: `/boards/${board.id}/members/${otherPerson.id}`,
    expected: first(onBoard, failIf(!model.people.has(otherPerson.id), 404), ofCreator),
    apply: () => void (board.creator !== otherPerson.id && !board.members.includes(otherPerson.id) && board.members.push(otherPerson.id)),
  }),
  'remove board member': ({ board, otherPerson, onBoard, ofCreator }, _step, { model }) => ({
    method: 'DELETE',
    path: `/boards/${board.id}/members/${otherPerson.id}`,
    expected: first(
      onBoard,
      failIf(!board.members.includes(otherPerson.id) && board.creator !== otherPerson.id, 404),
      ofCreator,
      failIf(board.creator === otherPerson.id, 409),
    ),
    apply: () => ((board.members = board.members.filter((id) => id !== otherPerson.id)), model.removeInvisibleAssignees(board)),
  }),
  // Rarely, so that boards live long enough to be used.
  'delete board': ({ board, ofCreator }, { c }, { model }) =>
    c % 4
      ? undefined
      : {
          method: 'DELETE',
          path: `/boards/${board.id}`,
          expected: ofCreator,
          apply: () => void model.boards.splice(model.boards.indexOf(board), 1),
        },

  'create column': ({ board, otherColumn, onBoard }, { c }) => {
    const destination = otherColumn !== absentColumn && c % 3 === 0 ? { before: otherColumn.id } : {}
    return {
      method: 'POST',
      path: `/boards/${board.id}/columns`,
      body: { name: 'C', ...destination },
      expected: onBoard,
      apply: ({ id }) => reposition(board.columns, { id, archived: false, cards: [] }, destination),
    }
  },
  'move column': ({ board, column, otherColumn, onBoard }) => ({
    method: 'POST',
    path: `/columns/${column.id}/move`,
    body: { after: otherColumn.id },
    expected: first(failIf(column.id === otherColumn.id, 422), exists(column), onBoard, exists(otherColumn)),
    apply: () => reposition(board.columns, column, { after: otherColumn.id }),
  }),
  'archive or restore column': ({ column, onBoard }, { c }) => ({
    method: 'POST',
    path: `/columns/${column.id}/${c % 3 ? 'restore' : 'archive'}`,
    expected: first(exists(column), onBoard),
    apply: () => (column.archived = c % 3 === 0),
  }),

  'create label': ({ board, onBoard }) => ({
    method: 'POST',
    path: `/boards/${board.id}/labels`,
    body: { name: 'L', color: '#000000' },
    expected: onBoard,
    apply: ({ id }) => void board.labels.push(id),
  }),
  'delete label': ({ board, label, onBoard }) => ({
    method: 'DELETE',
    path: `/labels/${label}`,
    expected: first(exists(label), onBoard),
    apply: () => {
      board.labels = board.labels.filter((id) => id !== label)
      for (const { cards } of board.columns) for (const card of cards) card.labels = card.labels.filter((id) => id !== label)
    },
  }),
}

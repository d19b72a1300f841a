import { reposition } from './model.ts'
import { absentColumn, exists, failIf, first, type Planner } from './selection.ts'

/** Requests to boards, their members, columns and labels. */
export const boardRequests: Readonly<Record<string, Planner>> = {
  'create board': ({ model }, { person }) =>
    model.boards.length > 3
      ? undefined
      : {
          method: 'POST',
          path: '/boards',
          body: { name: 'B' },
          expected: 'ok',
          apply: ({ id }) => model.boards.push({ id, creator: person.id, private: false, members: [], labels: [], columns: [] }),
        },
  'set visibility of board': ({ model }, { person, board }, { c }) => ({
    method: 'PUT',
    path: `/boards/${board.id}/visibility`,
    body: { visibility: c % 2 ? 'private' : 'workspace' },
    expected: model.creatorOnly(person.id, board),
    apply: () => ((board.private = c % 2 === 1), model.removeInvisibleAssignees(board)),
  }),
  'add board member': ({ model }, { person, board, otherPerson }) => ({
    method: 'PUT',
    path: `/boards/${board.id}/members/${otherPerson.id}`,
    expected: first(model.access(person.id, board), failIf(!model.people.has(otherPerson.id), 404), model.creatorOnly(person.id, board)),
    apply: () => void (board.creator !== otherPerson.id && !board.members.includes(otherPerson.id) && board.members.push(otherPerson.id)),
  }),
  'remove board member': ({ model }, { person, board, otherPerson }) => ({
    method: 'DELETE',
    path: `/boards/${board.id}/members/${otherPerson.id}`,
    expected: first(
      model.access(person.id, board),
      failIf(!board.members.includes(otherPerson.id) && board.creator !== otherPerson.id, 404),
      model.creatorOnly(person.id, board),
      failIf(board.creator === otherPerson.id, 409),
    ),
    apply: () => ((board.members = board.members.filter((id) => id !== otherPerson.id)), model.removeInvisibleAssignees(board)),
  }),
  // Rarely, so that boards live long enough to be used.
  'delete board': ({ model }, { person, board }, { c }) =>
    c % 4
      ? undefined
      : {
          method: 'DELETE',
          path: `/boards/${board.id}`,
          expected: model.creatorOnly(person.id, board),
          apply: () => void model.boards.splice(model.boards.indexOf(board), 1),
        },

  'create column': ({ model }, { person, board, otherColumn }, { c }) => {
    const destination = otherColumn !== absentColumn && c % 3 === 0 ? { before: otherColumn.id } : {}
    return {
      method: 'POST',
      path: `/boards/${board.id}/columns`,
      body: { name: 'C', ...destination },
      expected: model.access(person.id, board),
      apply: ({ id }) => reposition(board.columns, { id, archived: false, cards: [] }, destination),
    }
  },
  'move column': ({ model }, { person, board, column, otherColumn }) => ({
    method: 'POST',
    path: `/columns/${column.id}/move`,
    body: { after: otherColumn.id },
    expected: first(failIf(column.id === otherColumn.id, 422), exists(column), model.access(person.id, board), exists(otherColumn)),
    apply: () => reposition(board.columns, column, { after: otherColumn.id }),
  }),
  'archive or restore column': ({ model }, { person, board, column }, { c }) => ({
    method: 'POST',
    path: `/columns/${column.id}/${c % 3 ? 'restore' : 'archive'}`,
    expected: first(exists(column), model.access(person.id, board)),
    apply: () => (column.archived = c % 3 === 0),
  }),

  'create label': ({ model }, { person, board }) => ({
    method: 'POST',
    path: `/boards/${board.id}/labels`,
    body: { name: 'L', color: '#000000' },
    expected: model.access(person.id, board),
    apply: ({ id }) => void board.labels.push(id),
  }),
  'delete label': ({ model }, { person, board, label }) => ({
    method: 'DELETE',
    path: `/labels/${label}`,
    expected: first(exists(label), model.access(person.id, board)),
    apply: () => {
      board.labels = board.labels.filter((id) => id !== label)
      for (const { cards } of board.columns) for (const card of cards) card.labels = card.labels.filter((id) => id !== label)
    },
  }),
}

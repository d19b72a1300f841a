import { reposition, type ModelCard, type ModelColumn } from './model.ts'
import { absentCard, exists, failIf, first, pick, type Planner } from './selection.ts'

/** Requests to cards, their assignees, labels, subtasks and comments. */
export const cardRequests: Readonly<Record<string, Planner>> = {
  'create card': ({ model }, { person, board, otherColumn }, { c }) => ({
    method: 'POST',
    path: `/boards/${board.id}/cards`,
    body: { column_id: otherColumn.id, title: `${c}` },
    expected: first(model.access(person.id, board), exists(otherColumn), failIf(otherColumn.archived, 409)),
    apply: ({ id }) => otherColumn.cards.push({ ...structuredClone(absentCard), id, title: `${c}` }),
  }),
  'create card with a label and an assignee': ({ model }, { person, board, otherColumn, label, otherPerson }, { c }) => ({
    method: 'POST',
    path: `/boards/${board.id}/cards`,
    body: { column_id: otherColumn.id, title: `${c}`, label_ids: [label], assignee_ids: [otherPerson.id] },
    expected: first(
      model.access(person.id, board),
      exists(otherColumn),
      exists(label),
      failIf(!model.canSee(otherPerson.id, board), 404),
      failIf(otherColumn.archived, 409),
    ),
    apply: ({ id }) =>
      otherColumn.cards.push({ ...structuredClone(absentCard), id, title: `${c}`, labels: [label], assignees: [otherPerson.id] }),
  }),
  'move card to a column': ({ model }, { person, board, column, card, otherColumn }, { c }) => ({
    method: 'POST',
    path: `/cards/${card.id}/move`,
    body: { column_id: otherColumn.id, to: c % 2 ? 'first' : 'last' },
    expected: first(exists(card), model.access(person.id, board), exists(otherColumn), failIf(otherColumn.archived, 409)),
    apply: () => moveCard(column, otherColumn, card, { to: c % 2 ? 'first' : 'last' }),
  }),
  'move card before a card': ({ model }, { person, board, column, card, otherCard }) => {
    const target = board.columns.find(({ cards }) => cards.includes(otherCard))
    return {
      method: 'POST',
      path: `/cards/${card.id}/move`,
      body: { before: otherCard.id },
      expected: first(
        failIf(card.id === otherCard.id, 422),
        exists(card),
        model.access(person.id, board),
        exists(otherCard),
        failIf(otherCard.archived || target?.archived === true, 409),
      ),
      apply: () => moveCard(column, target!, card, { before: otherCard.id }),
    }
  },
  'rename card': ({ model }, { person, board, card }, { c }) => ({
    method: 'PATCH',
    path: `/cards/${card.id}`,
    body: { title: `t${c}` },
    expected: first(exists(card), model.access(person.id, board)),
    apply: () => (card.title = `t${c}`),
  }),
  'set completion of card': ({ model }, { person, board, card }, { c }) => ({
    method: 'PUT',
    path: `/cards/${card.id}/completion`,
    body: { completed: c % 2 === 0 },
    expected: first(exists(card), model.access(person.id, board)),
    apply: () => (card.done = c % 2 === 0),
  }),
  'archive or restore card': ({ model }, { person, board, card }, { c }) => ({
    method: 'POST',
    path: `/cards/${card.id}/${c % 2 ? 'archive' : 'restore'}`,
    expected: first(exists(card), model.access(person.id, board)),
    apply: () => (card.archived = c % 2 === 1),
  }),
  // Rarely, so that cards live long enough to be used.
  'delete card': ({ model }, { person, board, column, card }, { c }) =>
    c % 3
      ? undefined
      : {
          method: 'DELETE',
          path: `/cards/${card.id}`,
          expected: first(exists(card), model.access(person.id, board)),
          apply: () => void column.cards.splice(column.cards.indexOf(card), 1),
        },

  'assign card': ({ model }, { person, board, card, otherPerson }) => ({
    method: 'PUT',
    path: `/cards/${card.id}/assignees/${otherPerson.id}`,
    expected: first(exists(card), model.access(person.id, board), failIf(!model.canSee(otherPerson.id, board), 404)),
    apply: () => void (card.assignees.includes(otherPerson.id) || card.assignees.push(otherPerson.id)),
  }),
  'unassign card': ({ model }, { person, board, card, otherPerson }) => ({
    method: 'DELETE',
    path: `/cards/${card.id}/assignees/${otherPerson.id}`,
    expected: first(exists(card), model.access(person.id, board), failIf(!card.assignees.includes(otherPerson.id), 404)),
    apply: () => (card.assignees = card.assignees.filter((id) => id !== otherPerson.id)),
  }),
  'apply label': ({ model }, { person, board, card, label }) => ({
    method: 'PUT',
    path: `/cards/${card.id}/labels/${label}`,
    expected: first(exists(card), model.access(person.id, board), exists(label)),
    apply: () => void (card.labels.includes(label) || card.labels.push(label)),
  }),
  'remove label': ({ model }, { person, board, card, label }) => ({
    method: 'DELETE',
    path: `/cards/${card.id}/labels/${label}`,
    expected: first(exists(card), model.access(person.id, board), failIf(!card.labels.includes(label), 404)),
    apply: () => (card.labels = card.labels.filter((id) => id !== label)),
  }),

  'create subtask': ({ model }, { person, board, card }, { c }) => {
    const destination = card.subtasks.length > 0 && c % 2 ? { after: card.subtasks[0]!.id } : {}
    return {
      method: 'POST',
      path: `/cards/${card.id}/subtasks`,
      body: { title: `s${c}`, ...destination },
      expected: first(exists(card), model.access(person.id, board)),
      apply: ({ id }) => reposition(card.subtasks, { id, title: `s${c}` }, destination),
    }
  },
  'delete subtask': ({ model }, { person, board, card }, { c }) => {
    const subtask = pick(card.subtasks, c, undefined as never)
    return (
      subtask && {
        method: 'DELETE',
        path: `/subtasks/${subtask.id}`,
        expected: model.access(person.id, board),
        apply: () => void card.subtasks.splice(card.subtasks.indexOf(subtask), 1),
      }
    )
  },
  'create comment': ({ model }, { person, board, card }, { c }) => ({
    method: 'POST',
    path: `/cards/${card.id}/comments`,
    body: { body: `c${c}` },
    expected: first(exists(card), model.access(person.id, board)),
    apply: ({ id }) => void card.comments.push({ id, author: person.id, body: `c${c}` }),
  }),
  'edit or delete comment': ({ model }, { person, board, card }, { c }) => {
    const comment = pick(card.comments, c, undefined as never)
    return (
      comment && {
        method: c % 2 ? 'DELETE' : 'PATCH',
        path: `/comments/${comment.id}`,
        body: c % 2 ? undefined : { body: `e${c}` },
        expected: first(model.access(person.id, board), failIf(comment.author !== person.id, 403)),
        apply: () => void (c % 2 ? card.comments.splice(card.comments.indexOf(comment), 1) : (comment.body = `e${c}`)),
      }
    )
  },
}

function moveCard(from: ModelColumn, to: ModelColumn, card: ModelCard, destination: { before?: string; to?: string }): void {
  if (from !== to) from.cards.splice(from.cards.indexOf(card), 1)
  reposition(to.cards, card, destination)
}

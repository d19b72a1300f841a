import { reposition, type ModelCard, type ModelColumn } from './model.ts'
import { absentCard, exists, failIf, first, pick, type Planner } from './selection.ts'

/** Requests to cards, their assignees, labels, subtasks and comments. */
export const cardRequests: Readonly<Record<string, Planner>> = {
  'create card': ({ board, otherColumn, onBoard }, { c }) => ({
    method: 'POST',
    path: `/boards/${board.id}/cards`,
    body: { column_id: otherColumn.id, title: `${c}` },
    expected: first(onBoard, exists(otherColumn), failIf(otherColumn.archived, 409)),
    apply: ({ id }) => otherColumn.cards.push({ ...structuredClone(absentCard), id, title: `${c}` }),
  }),
  'create card with a label and an assignee': ({ board, otherColumn, label, otherPerson, onBoard }, { c }, { model }) => ({
    method: 'POST',
    path: `/boards/${board.id}/cards`,
    body: { column_id: otherColumn.id, title: `${c}`, label_ids: [label], assignee_ids: [otherPerson.id] },
    expected: first(
      onBoard,
      exists(otherColumn),
      exists(label),
      failIf(!model.canSee(otherPerson.id, board), 404),
      failIf(otherColumn.archived, 409),
    ),
    apply: ({ id }) =>
      otherColumn.cards.push({ ...structuredClone(absentCard), id, title: `${c}`, labels: [label], assignees: [otherPerson.id] }),
  }),
  'move card to a column': ({ column, card, otherColumn, onCard }, { c }) => {
    const to = c % 2 ? 'first' : 'last'
    return {
      method: 'POST',
      path: `/cards/${card.id}/move`,
      body: { column_id: otherColumn.id, to },
      expected: first(onCard, exists(otherColumn), failIf(otherColumn.archived, 409)),
      apply: () => moveCard(column, otherColumn, card, { to }),
    }
  },
  'move card before a card': ({ board, column, card, otherCard, onCard }) => {
    const target = board.columns.find(({ cards }) => cards.includes(otherCard))
    return {
      method: 'POST',
      path: `/cards/${card.id}/move`,
      body: { before: otherCard.id },
      expected: first(
        failIf(card.id === otherCard.id, 422),
        onCard,
        exists(otherCard),
        failIf(otherCard.archived || target?.archived === true, 409),
      ),
      apply: () => moveCard(column, target!, card, { before: otherCard.id }),
    }
  },
  'rename card': ({ card, onCard }, { c }) => ({
    method: 'PATCH',
    path: `/cards/${card.id}`,
    body: { title: `t${c}` },
    expected: onCard,
    apply: () => (card.title = `t${c}`),
  }),
  'set completion of card': ({ card, onCard }, { c }) => ({
    method: 'PUT',
    path: `/cards/${card.id}/completion`,
    body: { completed: c % 2 === 0 },
    expected: onCard,
    apply: () => (card.done = c % 2 === 0),
  }),
  'archive or restore card': ({ card, onCard }, { c }) => ({
    method: 'POST',
    path: `/cards/${card.id}/${c % 2 ? 'archive' : 'restore'}`,
    expected: onCard,
    apply: () => (card.archived = c % 2 === 1),
  }),
  // Rarely, so that cards live long enough to be used.
  'delete card': ({ column, card, onCard }, { c }) =>
    c % 3
      ? undefined
      : {
          method: 'DELETE',
          path: `/cards/${card.id}`,
          expected: onCard,
          apply: () => void column.cards.splice(column.cards.indexOf(card), 1),
        },

  'assign card': ({ board, card, otherPerson, onCard }, _step, { model }) => ({
    method: 'PUT',
    path: `/cards/${card.id}/assignees/${otherPerson.id}`,
    expected: first(onCard, failIf(!model.canSee(otherPerson.id, board), 404)),
    apply: () => (card.assignees = [...new Set([...card.assignees, otherPerson.id])]),
  }),
  'unassign card': ({ card, otherPerson, onCard }) => ({
    method: 'DELETE',
    path: `/cards/${card.id}/assignees/${otherPerson.id}`,
    expected: first(onCard, failIf(!card.assignees.includes(otherPerson.id), 404)),
    apply: () => (card.assignees = card.assignees.filter((id) => id !== otherPerson.id)),
  }),
  'apply label': ({ card, label, onCard }) => ({
    method: 'PUT',
    path: `/cards/${card.id}/labels/${label}`,
    expected: first(onCard, exists(label)),
    apply: () => (card.labels = [...new Set([...card.labels, label])]),
  }),
  'remove label': ({ card, label, onCard }) => ({
    method: 'DELETE',
    path: `/cards/${card.id}/labels/${label}`,
    expected: first(onCard, exists(label), failIf(!card.labels.includes(label), 404)),
    apply: () => (card.labels = card.labels.filter((id) => id !== label)),
  }),

  'create subtask': ({ card, onCard }, { c }) => {
    const destination = card.subtasks.length > 0 && c % 2 ? { after: card.subtasks[0]!.id } : {}
    return {
      method: 'POST',
      path: `/cards/${card.id}/subtasks`,
      body: { title: `s${c}`, ...destination },
      expected: onCard,
      apply: ({ id }) => reposition(card.subtasks, { id, title: `s${c}` }, destination),
    }
  },
  'delete subtask': ({ card, onBoard }, { c }) => {
    const subtask = pick(card.subtasks, c, undefined)
    return (
      subtask && {
        method: 'DELETE',
        path: `/subtasks/${subtask.id}`,
        expected: onBoard,
        apply: () => void card.subtasks.splice(card.subtasks.indexOf(subtask), 1),
      }
    )
  },
  'create comment': ({ person, card, onCard }, { c }) => ({
    method: 'POST',
    path: `/cards/${card.id}/comments`,
    body: { body: `c${c}` },
    expected: onCard,
    apply: ({ id }) => void card.comments.push({ id, author: person.id, body: `c${c}` }),
  }),
  'edit or delete comment': ({ person, card, onBoard }, { c }) => {
    const comment = pick(card.comments, c, undefined)
    return (
      comment && {
        method: c % 2 ? 'DELETE' : 'PATCH',
        path: `/comments/${comment.id}`,
        body: c % 2 ? undefined : { body: `e${c}` },
        expected: first(onBoard, failIf(comment.author !== person.id, 403)),
        apply: () => void (c % 2 ? card.comments.splice(card.comments.indexOf(comment), 1) : (comment.body = `e${c}`)),
      }
    )
  },
}

function moveCard(from: ModelColumn, to: ModelColumn, card: ModelCard, destination: { before?: string; to?: string }): void {
  if (from !== to) from.cards.splice(from.cards.indexOf(card), 1)
  reposition(to.cards, card, destination)
}

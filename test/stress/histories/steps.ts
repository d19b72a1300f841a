import { endMembership } from '../../../src/admin/memberships.ts'
import type { Person, Reply, Service } from '../../support/service.ts'
import { reposition, type Model, type ModelBoard, type ModelCard, type ModelColumn, type Outcome } from './model.ts'

/** One step of a history: who does what; numbers choose among what is there. */
export interface Step {
  readonly kind: number
  readonly actor: number
  readonly a: number
  readonly b: number
  readonly c: number
}

/** The ground on which a history happens. */
export interface Ground {
  readonly service: Service
  readonly people: readonly Person[]
  readonly model: Model
}

/** A request, and what the model says to it. `apply` is called where it was answered well. */
interface Move {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly form?: FormData
  readonly expected: Outcome
  readonly apply: (data: any) => void
}

interface Chosen {
  readonly person: Person
  readonly other: Person
  readonly board: ModelBoard
  readonly column: ModelColumn
  readonly card: ModelCard
  readonly second: ModelCard
  readonly target: ModelColumn
  readonly label: string
}

const NOTHING = {
  card: 'crd_00000000000000000000',
  column: 'col_00000000000000000000',
  board: 'brd_00000000000000000000',
  label: 'lbl_00000000000000000000',
}
const noCard: ModelCard = {
  id: NOTHING.card,
  title: '',
  archived: false,
  done: false,
  assignees: [],
  labels: [],
  subtasks: [],
  comments: [],
  attachments: [],
  cover: null,
}
const noColumn: ModelColumn = { id: NOTHING.column, archived: false, cards: [] }
const noBoard: ModelBoard = { id: NOTHING.board, creator: '', private: true, members: [], labels: [], columns: [] }
const pick = <T>(list: readonly T[], n: number, otherwise: T): T => (list.length === 0 ? otherwise : list[n % list.length]!)

function choose({ people, model }: Ground, { actor, a, b, c }: Step): Chosen {
  const board = pick(model.boards, a, noBoard)
  const all = board.columns.flatMap(({ cards }) => cards)
  const card = pick(all, b, noCard)
  const column = board.columns.find(({ cards }) => cards.includes(card)) ?? pick(board.columns, b, noColumn)
  return {
    person: people[actor % people.length]!,
    other: people[c % people.length]!,
    board,
    column,
    card,
    second: pick(all, c, noCard),
    target: pick(board.columns, c, noColumn),
    label: pick(board.labels, c, NOTHING.label),
  }
}

/** The first of several answers that is not ok. */
const first = (...outcomes: Outcome[]): Outcome => outcomes.find((outcome) => outcome !== 'ok') ?? 'ok'
const there = (thing: unknown): Outcome =>
  thing === undefined || thing === noCard || thing === noColumn || thing === noBoard || thing === NOTHING.label ? 404 : 'ok'
const unless = (wrong: boolean, outcome: Outcome): Outcome => (wrong ? outcome : 'ok')

/** Every kind of step. */
const kinds: readonly ((ground: Ground, chosen: Chosen, step: Step) => Move | undefined)[] = [
  ({ model }, { person }) =>
    model.boards.length > 3
      ? undefined
      : {
          method: 'POST',
          path: '/boards',
          body: { name: 'B' },
          expected: 'ok',
          apply: ({ id }) => model.boards.push({ id, creator: person.id, private: false, members: [], labels: [], columns: [] }),
        },
  ({ model }, { person, board }, { c }) => ({
    method: 'PUT',
    path: `/boards/${board.id}/visibility`,
    body: { visibility: c % 2 ? 'private' : 'workspace' },
    expected: model.creatorOnly(person.id, board),
    apply: () => ((board.private = c % 2 === 1), model.unassign(board)),
  }),
  ({ model }, { person, board, other }) => ({
    method: 'PUT',
    path: `/boards/${board.id}/members/${other.id}`,
    expected: first(model.access(person.id, board), unless(!model.people.has(other.id), 404), model.creatorOnly(person.id, board)),
    apply: () => void (board.creator !== other.id && !board.members.includes(other.id) && board.members.push(other.id)),
  }),
  ({ model }, { person, board, other }) => ({
    method: 'DELETE',
    path: `/boards/${board.id}/members/${other.id}`,
    expected: first(
      model.access(person.id, board),
      unless(!board.members.includes(other.id) && board.creator !== other.id, 404),
      model.creatorOnly(person.id, board),
      unless(board.creator === other.id, 409),
    ),
    apply: () => ((board.members = board.members.filter((id) => id !== other.id)), model.unassign(board)),
  }),
  ({ model }, { person, board }, { c }) =>
    c % 4
      ? undefined
      : {
          method: 'DELETE',
          path: `/boards/${board.id}`,
          expected: model.creatorOnly(person.id, board),
          apply: () => void model.boards.splice(model.boards.indexOf(board), 1),
        },
  ({ model }, { person, board, target }, { c }) => ({
    method: 'POST',
    path: `/boards/${board.id}/columns`,
    body: { name: 'C', ...(target !== noColumn && c % 3 === 0 ? { before: target.id } : {}) },
    expected: model.access(person.id, board),
    apply: ({ id }) =>
      reposition(board.columns, { id, archived: false, cards: [] }, target !== noColumn && c % 3 === 0 ? { before: target.id } : {}),
  }),
  ({ model }, { person, board, column, target }) => ({
    method: 'POST',
    path: `/columns/${column.id}/move`,
    body: { after: target.id },
    expected: first(unless(column.id === target.id, 422), there(column), model.access(person.id, board), there(target)),
    apply: () => reposition(board.columns, column, { after: target.id }),
  }),
  ({ model }, { person, board, column }, { c }) => ({
    method: 'POST',
    path: `/columns/${column.id}/${c % 3 ? 'restore' : 'archive'}`,
    expected: first(there(column), model.access(person.id, board)),
    apply: () => (column.archived = c % 3 === 0),
  }),
  ({ model }, { person, board, target }, { c }) => ({
    method: 'POST',
    path: `/boards/${board.id}/cards`,
    body: { column_id: target.id, title: `${c}` },
    expected: first(model.access(person.id, board), there(target), unless(target.archived, 409)),
    apply: ({ id }) => target.cards.push({ ...structuredClone(noCard), id, title: `${c}` }),
  }),
  ({ model }, { person, board, column, card, target }, { c }) => ({
    method: 'POST',
    path: `/cards/${card.id}/move`,
    body: { column_id: target.id, to: c % 2 ? 'first' : 'last' },
    expected: first(there(card), model.access(person.id, board), there(target), unless(target.archived, 409)),
    apply: () => moveCard(column, target, card, { to: c % 2 ? 'first' : 'last' }),
  }),
  ({ model }, { person, board, column, card, second }) => {
    const target = board.columns.find(({ cards }) => cards.includes(second))
    return {
      method: 'POST',
      path: `/cards/${card.id}/move`,
      body: { before: second.id },
      expected: first(
        unless(card.id === second.id, 422),
        there(card),
        model.access(person.id, board),
        there(second),
        unless(second.archived || target?.archived === true, 409),
      ),
      apply: () => moveCard(column, target!, card, { before: second.id }),
    }
  },
  ({ model }, { person, board, card }, { c }) => ({
    method: 'PATCH',
    path: `/cards/${card.id}`,
    body: { title: `t${c}` },
    expected: first(there(card), model.access(person.id, board)),
    apply: () => (card.title = `t${c}`),
  }),
  ({ model }, { person, board, card }, { c }) => ({
    method: 'PUT',
    path: `/cards/${card.id}/completion`,
    body: { completed: c % 2 === 0 },
    expected: first(there(card), model.access(person.id, board)),
    apply: () => (card.done = c % 2 === 0),
  }),
  ({ model }, { person, board, card }, { c }) => ({
    method: 'POST',
    path: `/cards/${card.id}/${c % 2 ? 'archive' : 'restore'}`,
    expected: first(there(card), model.access(person.id, board)),
    apply: () => (card.archived = c % 2 === 1),
  }),
  ({ model }, { person, board, column, card }, { c }) =>
    c % 3
      ? undefined
      : {
          method: 'DELETE',
          path: `/cards/${card.id}`,
          expected: first(there(card), model.access(person.id, board)),
          apply: () => void column.cards.splice(column.cards.indexOf(card), 1),
        },
  ({ model }, { person, board }) => ({
    method: 'POST',
    path: `/boards/${board.id}/labels`,
    body: { name: 'L', color: '#000000' },
    expected: model.access(person.id, board),
    apply: ({ id }) => void board.labels.push(id),
  }),
  ({ model }, { person, board, label }) => ({
    method: 'DELETE',
    path: `/labels/${label}`,
    expected: first(there(label), model.access(person.id, board)),
    apply: () => (
      (board.labels = board.labels.filter((id) => id !== label)),
      board.columns.forEach(({ cards }) => cards.forEach((card) => (card.labels = card.labels.filter((id) => id !== label))))
    ),
  }),
  ({ model }, { person, board, card, other }) => ({
    method: 'PUT',
    path: `/cards/${card.id}/assignees/${other.id}`,
    expected: first(there(card), model.access(person.id, board), unless(!model.sees(other.id, board), 404)),
    apply: () => void (card.assignees.includes(other.id) || card.assignees.push(other.id)),
  }),
  ({ model }, { person, board, card, other }) => ({
    method: 'DELETE',
    path: `/cards/${card.id}/assignees/${other.id}`,
    expected: first(there(card), model.access(person.id, board), unless(!card.assignees.includes(other.id), 404)),
    apply: () => (card.assignees = card.assignees.filter((id) => id !== other.id)),
  }),
  ({ model }, { person, board, card, label }) => ({
    method: 'PUT',
    path: `/cards/${card.id}/labels/${label}`,
    expected: first(there(card), model.access(person.id, board), there(label)),
    apply: () => void (card.labels.includes(label) || card.labels.push(label)),
  }),
  ({ model }, { person, board, card, label }) => ({
    method: 'DELETE',
    path: `/cards/${card.id}/labels/${label}`,
    expected: first(there(card), model.access(person.id, board), unless(!card.labels.includes(label), 404)),
    apply: () => (card.labels = card.labels.filter((id) => id !== label)),
  }),
  ({ model }, { person, board, card }, { c }) => ({
    method: 'POST',
    path: `/cards/${card.id}/subtasks`,
    body: { title: `s${c}`, ...(card.subtasks.length > 0 && c % 2 ? { after: card.subtasks[0]!.id } : {}) },
    expected: first(there(card), model.access(person.id, board)),
    apply: ({ id }) =>
      reposition(card.subtasks, { id, title: `s${c}` }, card.subtasks.length > 0 && c % 2 ? { after: card.subtasks[0]!.id } : {}),
  }),
  ({ model }, { person, board, card }, { c }) => {
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
  ({ model }, { person, board, card }, { c }) => ({
    method: 'POST',
    path: `/cards/${card.id}/comments`,
    body: { body: `c${c}` },
    expected: first(there(card), model.access(person.id, board)),
    apply: ({ id }) => void card.comments.push({ id, author: person.id, body: `c${c}` }),
  }),
  ({ model }, { person, board, card }, { c }) => {
    const comment = pick(card.comments, c, undefined as never)
    return (
      comment && {
        method: c % 2 ? 'DELETE' : 'PATCH',
        path: `/comments/${comment.id}`,
        body: c % 2 ? undefined : { body: `e${c}` },
        expected: first(model.access(person.id, board), unless(comment.author !== person.id, 403)),
        apply: () => void (c % 2 ? card.comments.splice(card.comments.indexOf(comment), 1) : (comment.body = `e${c}`)),
      }
    )
  },
  ({ model }, { person, board, card }, { c }) => {
    const form = new FormData()
    form.set('visibility', c % 2 ? 'private' : 'workspace')
    form.set('file', new File([`${c}`], 'f', { type: c % 3 ? 'image/png' : 'text/plain' }))
    const apply = ({ id, file_id }: any) => {
      model.files.set(file_id, { owner: person.id, private: c % 2 === 1 })
      card.attachments.push({ id, file: file_id, image: c % 3 !== 0 })
    }
    return {
      method: 'POST',
      path: `/cards/${card.id}/attachments`,
      form,
      expected: first(there(card), model.access(person.id, board)),
      apply,
    }
  },
  ({ model }, { person, board, card, second }, { c }) => {
    const attached = pick(second.attachments, c, undefined as never)
    const twice = attached && card.attachments.some(({ file }) => file === attached.file)
    return (
      attached && {
        method: 'POST',
        path: `/cards/${card.id}/attachments`,
        body: { file_id: attached.file },
        expected: first(
          there(card),
          model.access(person.id, board),
          unless(!model.uses(person.id, attached.file), 404),
          unless(twice, 409),
        ),
        apply: ({ id }) => void card.attachments.push({ ...attached, id }),
      }
    )
  },
  ({ model }, { person, board, card }, { c }) => {
    const attached = pick(card.attachments, c, undefined as never)
    return (
      attached && {
        method: 'DELETE',
        path: `/attachments/${attached.id}`,
        expected: first(model.access(person.id, board), unless(!model.uses(person.id, attached.file), 404)),
        apply: () => (
          (card.attachments = card.attachments.filter(({ id }) => id !== attached.id)),
          void (card.cover === attached.id && (card.cover = null))
        ),
      }
    )
  },
  ({ model }, { person, board, card }, { c }) => {
    const attached = pick(card.attachments, c, undefined as never)
    return (
      attached && {
        method: 'PUT',
        path: `/cards/${card.id}/cover`,
        body: { attachment_id: attached.id },
        expected: first(model.access(person.id, board), unless(!model.uses(person.id, attached.file), 404), unless(!attached.image, 409)),
        apply: () => (card.cover = attached.id),
      }
    )
  },
  ({ model }, { person, board, card }) => {
    const cover = card.attachments.find(({ id }) => id === card.cover)
    return {
      method: 'DELETE',
      path: `/cards/${card.id}/cover`,
      expected: first(there(card), model.access(person.id, board), unless(cover !== undefined && !model.uses(person.id, cover.file), 404)),
      apply: () => (card.cover = null),
    }
  },
  ({ model }, { person, card }, { c }) => {
    const attached = pick(card.attachments, c, undefined as never)
    const file = attached && model.files.get(attached.file)
    return (
      file && {
        method: 'PATCH',
        path: `/files/${attached.file}`,
        body: { visibility: c % 2 ? 'private' : 'workspace' },
        expected: first(unless(!model.uses(person.id, attached.file), 404), unless(file.owner !== person.id, 403)),
        apply: () => (file.private = c % 2 === 1),
      }
    )
  },
]

function moveCard(from: ModelColumn, to: ModelColumn, card: ModelCard, place: { before?: string; to?: string }): void {
  if (from !== to) from.cards.splice(from.cards.indexOf(card), 1)
  reposition(to.cards, card, place)
}

export const kindCount = kinds.length + 1

/** What a request would be, decided now and sent later. */
export function prepare(ground: Ground, step: Step): (Move & { person: Person }) | 'leave' | undefined {
  if (step.kind % kindCount === kinds.length) return step.c % 7 === 0 ? 'leave' : undefined
  const chosen = choose(ground, step)
  const move = kinds[step.kind % kindCount]!(ground, chosen, step)
  return move && { ...move, person: chosen.person }
}

export function send({ service }: Ground, { person, method, path, body, form }: Move & { person: Person }): Promise<Reply> {
  return form === undefined ? service.send(person.admin, method, path, body) : service.upload(person.admin, path, form)
}

/** The last of the people leaves the workspace. */
export async function leave({ service, people, model }: Ground): Promise<void> {
  const person = people.at(-1)!
  await endMembership(service.deps, person.workspaceId, person.id)
  model.leave(person.id)
}

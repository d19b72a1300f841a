import { DAY } from '../model/time.ts'
import type { WorldBoard, WorldCard } from './world.ts'

/** Sends a request as one of the users and returns the `data` of the response. */
export type Send = (person: string, method: string, path: string, body?: unknown) => Promise<{ id: string }>

/**
 * Creates a board with its content. Each part is created by the user that the fixture names.
 * @param now milliseconds since 1970; due dates are relative to it
 */
export async function seedBoard(send: Send, idOf: (person: string) => string, board: WorldBoard, now: number): Promise<string> {
  const { creator, name, description, cover_color, visibility } = board
  const { id } = await send(creator, 'POST', '/boards', { name, description, cover_color })
  for (const person of board.members) await send(creator, 'PUT', `/boards/${id}/members/${idOf(person)}`)
  if (visibility === 'private') await send(creator, 'PUT', `/boards/${id}/visibility`, { visibility })
  const columns = new Map<string, string>()
  for (const column of [...board.columns, ...board.archived_columns])
    columns.set(column, (await send(creator, 'POST', `/boards/${id}/columns`, { name: column })).id)
  const labels = new Map<string, string>()
  for (const [label, color] of Object.entries(board.labels))
    labels.set(label, (await send(creator, 'POST', `/boards/${id}/labels`, { name: label, color })).id)
  for (const card of board.cards) await seedCard(send, idOf, { creator, boardId: id, columns, labels }, card, now)
  for (const column of board.archived_columns) await send(creator, 'POST', `/columns/${columns.get(column)}/archive`)
  return id
}

/** The board of a card. */
interface SeededBoard {
  readonly creator: string
  readonly boardId: string
  /** name → id */
  readonly columns: ReadonlyMap<string, string>
  /** name → id */
  readonly labels: ReadonlyMap<string, string>
}

async function seedCard(
  send: Send,
  idOf: (person: string) => string,
  { creator, boardId, columns, labels }: SeededBoard,
  card: WorldCard,
  now: number,
): Promise<void> {
  const due_at = card.due === undefined ? null : new Date(now + card.due * DAY).toISOString()
  const { title, description } = card
  const { id } = await send(creator, 'POST', `/boards/${boardId}/cards`, {
    column_id: columns.get(card.in),
    title,
    ...(description && { description }),
    due_at,
  })
  for (const label of card.labels) await send(creator, 'PUT', `/cards/${id}/labels/${labels.get(label)}`)
  for (const person of card.assignees) await send(creator, 'PUT', `/cards/${id}/assignees/${idOf(person)}`)
  for (const { title: subtask, done } of card.subtasks)
    await send(creator, 'POST', `/cards/${id}/subtasks`, { title: subtask, completed: done })
  for (const { by, body } of card.comments) await send(by, 'POST', `/cards/${id}/comments`, { body })
  for (const { by, name, type, text, visibility } of card.attachments) {
    const form = new FormData()
    form.set('visibility', visibility)
    form.set('file', new File([text], name, { type }))
    const attachment = await send(by, 'POST', `/cards/${id}/attachments`, form)
    if (card.cover === name) await send(by, 'PUT', `/cards/${id}/cover`, { attachment_id: attachment.id })
  }
  if (card.done) await send(creator, 'PUT', `/cards/${id}/completion`, { completed: true })
  if (card.archived) await send(creator, 'POST', `/cards/${id}/archive`)
}

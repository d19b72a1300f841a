import { expect } from 'vitest'
import { TestBoard } from '../../support/board.ts'
import type { Ground } from './steps.ts'

/** Everything that a person sees, as the service tells it and as the model says, side by side. */
export async function compareAll({ service, people, model }: Ground): Promise<void> {
  for (const person of people) {
    if (!model.people.has(person.id)) continue
    const boards = model.boards.filter((board) => model.sees(person.id, board))
    const all = (path: string) => TestBoard.all(service, person.read, path, 7)
    expect((await all('/boards')).map(({ id }) => id).toSorted()).toEqual(boards.map(({ id }) => id).toSorted())
    for (const board of boards) {
      const members = [board.creator, ...board.members].filter((id) => model.people.has(id))
      expect((await all(`/boards/${board.id}/members`)).map(({ user_id }) => user_id).toSorted()).toEqual(members.toSorted())
      expect((await all(`/boards/${board.id}/labels`)).map(({ id }) => id).toSorted()).toEqual(board.labels.toSorted())
      for (const archived of [false, true]) {
        const columns = board.columns.filter((column) => column.archived === archived)
        expect((await all(`/boards/${board.id}/columns?archived=${archived}`)).map(({ id }) => id)).toEqual(columns.map(({ id }) => id))
      }
      const active = board.columns.filter((column) => !column.archived).flatMap(({ cards }) => cards.filter((card) => !card.archived))
      const cards = await all(`/boards/${board.id}/cards`)
      expect(cards.map(({ id }) => id)).toEqual(active.map(({ id }) => id))
      const away = board.columns.flatMap((column) => [
        ...(column.archived ? column.cards.filter((card) => !card.archived) : []),
        ...column.cards.filter((card) => card.archived),
      ])
      const put = await all(`/boards/${board.id}/cards?archived=true`)
      expect(put.map(({ id }) => id)).toEqual(away.map(({ id }) => id))
      for (const [i, card] of [...active, ...away].entries()) {
        const column = board.columns.find((candidate) => candidate.cards.includes(card))!
        expect([...cards, ...put][i]).toMatchObject({
          board_id: board.id,
          column_id: column.id,
          title: card.title,
          assignee_ids: card.assignees,
          label_ids: card.labels,
          cover_attachment_id: card.cover,
        })
        expect([[...cards, ...put][i].completed_at !== null, [...cards, ...put][i].archived_at !== null]).toEqual([
          card.done,
          card.archived,
        ])
        expect((await all(`/cards/${card.id}/subtasks`)).map(({ id, title }) => ({ id, title }))).toEqual(card.subtasks)
        const comments = (await all(`/cards/${card.id}/comments`)).map(({ id, author_id, body }) => ({ id, author: author_id, body }))
        expect(comments.toSorted(byId)).toEqual(card.comments.toSorted(byId))
        const attachments = (await all(`/cards/${card.id}/attachments`)).map(({ id, file_id }) => ({ id, file: file_id }))
        expect(attachments.toSorted(byId)).toEqual(card.attachments.map(({ id, file }) => ({ id, file })).toSorted(byId))
      }
    }
  }
}

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)

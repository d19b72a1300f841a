import { expect } from 'vitest'
import { TestBoard } from '../../support/board.ts'
import type { Person, Service } from '../../support/service.ts'
import type { ModelBoard, ModelCard } from './model.ts'
import type { Fixture } from './selection.ts'

type ReadAll = (path: string) => Promise<any[]>

const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id)
const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
const readerFor =
  (service: Service, person: Person, limit = 7): ReadAll =>
  (path) =>
    TestBoard.all(service, person.read, path, limit)

/** Compares everything that each person can read with the model. */
export async function compareAll({ service, people, model }: Fixture): Promise<void> {
  for (const person of people) {
    if (!model.people.has(person.id)) continue
    const all = readerFor(service, person)
    const boards = model.boards.filter((board) => model.canSee(person.id, board))
    expect(idsOf(await all('/boards')).toSorted()).toEqual(idsOf(boards).toSorted())
    for (const board of boards) {
      const members = [board.creator, ...board.members].filter((id) => model.people.has(id))
      expect((await all(`/boards/${board.id}/members`)).map(({ user_id }) => user_id).toSorted()).toEqual(members.toSorted())
      await compareBoard(board, all)
    }
    // On the slower drivers for one person: the equivalence of the drivers has a suite.
    if (service.store.driver === 'memory' || person === people[0]) await compareSearches(person, boards, readerFor(service, person, 50))
  }
}

/** Compares what a person finds on all boards with the model. */
async function compareSearches(person: Person, boards: readonly ModelBoard[], all: ReadAll): Promise<void> {
  const inColumns = boards.flatMap((board) => board.columns.flatMap((column) => column.cards.map((card) => ({ column, card }))))
  const found = (isArchived: boolean, matches: (card: ModelCard) => boolean) =>
    idsOf(
      inColumns.filter(({ column, card }) => (column.archived || card.archived) === isArchived && matches(card)).map(({ card }) => card),
    )
  for (const [query, ids] of [
    ['sort=position', found(false, () => true)],
    ['sort=due_at', found(false, () => true)],
    ['archived=true', found(true, () => true)],
    ['assignee_id=me', found(false, (card) => card.assignees.includes(person.id))],
    ['assignee_id=me&sort=created_at&completed=true', found(false, (card) => card.done && card.assignees.includes(person.id))],
  ] as const)
    expect([query, ...idsOf(await all(`/cards?${query}`)).toSorted()]).toEqual([query, ...ids.toSorted()])
}

async function compareBoard(board: ModelBoard, all: ReadAll): Promise<void> {
  expect(idsOf(await all(`/boards/${board.id}/labels`)).toSorted()).toEqual(board.labels.toSorted())
  for (const isArchived of [false, true]) {
    const columns = board.columns.filter((column) => column.archived === isArchived)
    expect(idsOf(await all(`/boards/${board.id}/columns?archived=${isArchived}`))).toEqual(idsOf(columns))
  }
  const active = board.columns.filter((column) => !column.archived).flatMap(({ cards }) => cards.filter((card) => !card.archived))
  const archived = board.columns.flatMap((column) => [
    ...(column.archived ? column.cards.filter((card) => !card.archived) : []),
    ...column.cards.filter((card) => card.archived),
  ])
  const listedActive = await all(`/boards/${board.id}/cards`)
  expect(idsOf(listedActive)).toEqual(idsOf(active))
  const listedArchived = await all(`/boards/${board.id}/cards?archived=true`)
  expect(idsOf(listedArchived)).toEqual(idsOf(archived))
  const listed = [...listedActive, ...listedArchived]
  for (const [i, card] of [...active, ...archived].entries()) await compareCard(board, card, listed[i], all)
}

async function compareCard(board: ModelBoard, card: ModelCard, listed: any, all: ReadAll): Promise<void> {
  const column = board.columns.find(({ cards }) => cards.includes(card))!
  expect(listed).toMatchObject({
    board_id: board.id,
    column_id: column.id,
    title: card.title,
    assignee_ids: card.assignees,
    label_ids: card.labels,
    cover_attachment_id: card.cover,
  })
  expect([listed.completed_at !== null, listed.archived_at !== null]).toEqual([card.done, card.archived])
  expect((await all(`/cards/${card.id}/subtasks`)).map(({ id, title }) => ({ id, title }))).toEqual(card.subtasks)
  const comments = (await all(`/cards/${card.id}/comments`)).map(({ id, author_id, body }) => ({ id, author: author_id, body }))
  expect(comments.toSorted(byId)).toEqual(card.comments.toSorted(byId))
  const attachments = (await all(`/cards/${card.id}/attachments`)).map(({ id, file_id }) => ({ id, file: file_id }))
  expect(attachments.toSorted(byId)).toEqual(card.attachments.map(({ id, file }) => ({ id, file })).toSorted(byId))
}

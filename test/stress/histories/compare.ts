import { TestBoard } from '../../support/board.ts'
import { expectEqual } from '../../support/expect-equal.ts'
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
    expectEqual(idsOf(await all('/boards')).toSorted(), idsOf(boards).toSorted())
    for (const board of boards) {
      const members = [board.creator, ...board.members].filter((id) => model.people.has(id))
      expectEqual((await all(`/boards/${board.id}/members`)).map(({ user_id }) => user_id).toSorted(), members.toSorted())
      await compareBoard(board, all)
    }
    // On the slower drivers for one person: they execute the same rules as memory.
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
    ['assignee_id=none', found(false, (card) => card.assignees.length === 0)],
    ['assignee_id=me', found(false, (card) => card.assignees.includes(person.id))],
    ['assignee_id=me&sort=created_at&completed=true', found(false, (card) => card.done && card.assignees.includes(person.id))],
  ] as const)
    expectEqual([query, ...idsOf(await all(`/cards?${query}`)).toSorted()], [query, ...ids.toSorted()])
}

async function compareBoard(board: ModelBoard, all: ReadAll): Promise<void> {
  expectEqual(idsOf(await all(`/boards/${board.id}/labels`)).toSorted(), board.labels.toSorted())
  for (const [card, listed] of await compareOrder(board, all)) await compareCard(board, card, listed, all)
}

/**
 * Compares the order of columns and cards, archived ones included, with the model.
 * @param distinct whether no two positions of a list may be the same. Concurrent requests may get the same one.
 * @returns the cards of the model, with what the lists have of them
 */
export async function compareOrder(
  board: Pick<ModelBoard, 'id' | 'columns'>,
  all: ReadAll,
  distinct = true,
): Promise<(readonly [ModelCard, any])[]> {
  const listedColumns: any[] = []
  for (const isArchived of [false, true]) {
    const listed = await all(`/boards/${board.id}/columns?archived=${isArchived}`)
    expectEqual(idsOf(listed), idsOf(board.columns.filter((column) => column.archived === isArchived)))
    listedColumns.push(...listed)
  }
  comparePositions(board.columns, listedColumns, distinct)
  const active = board.columns.filter((column) => !column.archived).flatMap(({ cards }) => cards.filter((card) => !card.archived))
  const archived = board.columns.flatMap((column) => [
    ...(column.archived ? column.cards.filter((card) => !card.archived) : []),
    ...column.cards.filter((card) => card.archived),
  ])
  const listedActive = await all(`/boards/${board.id}/cards`)
  expectEqual(idsOf(listedActive), idsOf(active))
  const listedArchived = await all(`/boards/${board.id}/cards?archived=true`)
  expectEqual(idsOf(listedArchived), idsOf(archived))
  const listed = [...listedActive, ...listedArchived]
  for (const { cards } of board.columns) comparePositions(cards, listed, distinct)
  return [...active, ...archived].map((card, i) => [card, listed[i]] as const)
}

function comparePositions(list: readonly { readonly id: string }[], listed: readonly any[], distinct: boolean): void {
  const positions = new Map(listed.map(({ id, position }) => [id, position as string]))
  // Items with the same position are ordered by their ids.
  const entries = list.map(({ id }) => (distinct ? positions.get(id)! : `${positions.get(id)} ${id}`))
  expectEqual(entries, [...new Set(entries)].toSorted())
}

async function compareCard(board: ModelBoard, card: ModelCard, listed: any, all: ReadAll): Promise<void> {
  const column = board.columns.find(({ cards }) => cards.includes(card))!
  const { board_id, column_id, title, assignee_ids, label_ids, cover_attachment_id } = listed
  expectEqual([board_id, column_id, title, cover_attachment_id], [board.id, column.id, card.title, card.cover])
  expectEqual([assignee_ids, label_ids], [card.assignees, card.labels])
  expectEqual([listed.completed_at !== null, listed.archived_at !== null], [card.done, card.archived])
  await compareSubtasks(card, all)
  const comments = (await all(`/cards/${card.id}/comments`)).map(({ id, author_id, body }) => ({ id, author: author_id, body }))
  expectEqual(comments.toSorted(byId), card.comments.toSorted(byId))
  const attachments = (await all(`/cards/${card.id}/attachments`)).map(({ id, file_id }) => ({ id, file: file_id }))
  expectEqual(attachments.toSorted(byId), card.attachments.map(({ id, file }) => ({ id, file })).toSorted(byId))
}

/** Compares the subtasks of a card and their order with the model. */
export async function compareSubtasks(card: ModelCard, all: ReadAll, distinct = true): Promise<void> {
  const listed = await all(`/cards/${card.id}/subtasks`)
  expectEqual(
    listed.map(({ id, title }) => ({ id, title })),
    card.subtasks,
  )
  comparePositions(card.subtasks, listed, distinct)
}

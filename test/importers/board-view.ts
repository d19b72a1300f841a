import type { Person, Service } from '../support/service.ts'

/** What a person reads on a board through the API, with names in place of ids. */
export async function viewOf(service: Service, person: Person, boardId: string): Promise<object> {
  const list = async (path: string): Promise<any[]> => {
    const { status, body } = await service.send(person.read, 'GET', path)
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
    return body.data
  }
  const named = new Map<string, string>()
  for (const { user_id, display_name } of await list('/members')) named.set(user_id, display_name)
  const labels = await list(`/boards/${boardId}/labels`)
  for (const { id, name } of labels) named.set(id, name)
  const nameOf = (id: string) => named.get(id) ?? `unknown: ${id}`
  const parts = `/boards/${boardId}/`
  const cards = [...(await list(`${parts}cards?limit=100`)), ...(await list(`${parts}cards?limit=100&archived=true`))]
  const viewOfCard = async ({ id, ...card }: any) => ({
    title: card.title,
    description: card.description,
    due_at: card.due_at,
    completed: card.completed_at !== null,
    archived: card.archived_at !== null,
    labels: card.label_ids.map(nameOf),
    assignees: card.assignee_ids.map(nameOf),
    subtasks: (await list(`/cards/${id}/subtasks`)).map(({ title, completed_at }) => [title, completed_at !== null]),
    comments: (await list(`/cards/${id}/comments`)).map(({ author_id, body }) => [nameOf(author_id), body]),
  })
  const columns = [...(await list(`${parts}columns`)), ...(await list(`${parts}columns?archived=true`))]
  const { data: board } = (await service.send(person.read, 'GET', `/boards/${boardId}`)).body
  return {
    name: board.name,
    description: board.description,
    visibility: board.visibility,
    creator: nameOf(board.creator_id),
    members: (await list(`${parts}members`)).map(({ user_id }) => nameOf(user_id)),
    labels: labels.map(({ name, color }) => [name, color]),
    columns: await Promise.all(
      columns.toSorted(byPosition).map(async ({ id, name, archived_at }) => ({
        name,
        archived: archived_at !== null,
        cards: await Promise.all(
          cards
            .filter(({ column_id }) => column_id === id)
            .toSorted(byPosition)
            .map(viewOfCard),
        ),
      })),
    ),
  }
}

function byPosition(a: { position: string }, b: { position: string }): number {
  return a.position < b.position ? -1 : 1
}

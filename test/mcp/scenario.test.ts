import { describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { setUpMcp, type McpService } from '../support/mcp.ts'

/** Performs an operation of the API on ids and members. @returns the `data` of the answer */
type Perform = (id: string, args: Record<string, unknown>) => Promise<any>

/** What an agent may do on a board: each operation needs an id that another one has returned. */
async function playScenario(perform: Perform, boardId: string, userId: string): Promise<void> {
  const [todo, done] = [
    await perform('columns.create', { board_id: boardId, name: 'To do' }),
    await perform('columns.create', { board_id: boardId, name: 'Done' }),
  ]
  const label = await perform('labels.create', { board_id: boardId, name: 'Urgent', color: '#ff0000' })
  const card = await perform('cards.create', { board_id: boardId, column_id: todo.id, title: 'First', description: 'A' })
  const other = await perform('cards.create', { board_id: boardId, column_id: todo.id, title: 'Second', to: 'first' })
  await perform('cards.update', { card_id: card.id, title: 'First, changed', due_at: '2026-12-01T00:00:00Z' })
  await perform('cards.apply_label', { card_id: card.id, label_id: label.id })
  await perform('cards.assign', { card_id: card.id, user_id: userId })
  await perform('subtasks.create', { card_id: card.id, title: 'Step', completed: true })
  const comment = await perform('comments.create', { card_id: card.id, body: 'Done, see above.' })
  await perform('comments.update', { comment_id: comment.id, body: 'Done.' })
  await perform('cards.move', { card_id: card.id, column_id: done.id })
  await perform('cards.complete', { card_id: card.id, completed: true })
  await perform('cards.archive', { card_id: other.id })
  await perform('columns.rename', { column_id: done.id, name: 'Finished' })
}

const paths: Record<string, [method: string, path: string]> = {
  'columns.create': ['POST', '/boards/{board_id}/columns'],
  'columns.rename': ['PATCH', '/columns/{column_id}'],
  'labels.create': ['POST', '/boards/{board_id}/labels'],
  'cards.create': ['POST', '/boards/{board_id}/cards'],
  'cards.update': ['PATCH', '/cards/{card_id}'],
  'cards.apply_label': ['PUT', '/cards/{card_id}/labels/{label_id}'],
  'cards.assign': ['PUT', '/cards/{card_id}/assignees/{user_id}'],
  'subtasks.create': ['POST', '/cards/{card_id}/subtasks'],
  'comments.create': ['POST', '/cards/{card_id}/comments'],
  'comments.update': ['PATCH', '/comments/{comment_id}'],
  'cards.move': ['POST', '/cards/{card_id}/move'],
  'cards.complete': ['PUT', '/cards/{card_id}/completion'],
  'cards.archive': ['POST', '/cards/{card_id}/archive'],
}

const performByHttp =
  (board: TestBoard): Perform =>
  async (id, args) => {
    const [method, template] = paths[id]!
    const rest = { ...args }
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = String(rest[name])
      delete rest[name]
      return value
    })
    const reply = await board.send(method, path, method === 'PUT' && Object.keys(rest).length === 0 ? undefined : rest)
    expect([id, reply.status]).toEqual([id, expect.toBeOneOf([200, 201])])
    return reply.body.data
  }

async function performByMcp(mcp: McpService): Promise<Perform> {
  const client = await mcp.connect(mcp.ann.write)
  const { tools } = await client.listTools()
  return async (id, args) => {
    const enumOf = ({ inputSchema }: (typeof tools)[number]) => (inputSchema.properties as any)?.['operation']?.enum as string[] | undefined
    const tool =
      tools.find((one) => enumOf(one)?.includes(id)) ?? tools.find(({ name }) => id === 'cards.create' && name === 'create_card')!
    const selected = enumOf(tool) === undefined ? args : { operation: id, ...args }
    const { structuredContent, isError } = await client.callTool({ name: tool.name, arguments: selected })
    expect([id, isError]).toEqual([id, undefined])
    return (structuredContent as any).data
  }
}

/** Everything on a board, with a number instead of each id, in the order in which they appear. */
async function contentsOf(board: TestBoard): Promise<string> {
  const pages = [
    `/boards/${board.id}/columns`,
    `/boards/${board.id}/labels`,
    `/boards/${board.id}/cards`,
    `/boards/${board.id}/cards?archived=true`,
  ]
  const lists = []
  for (const path of pages) lists.push((await board.get(path)).body.data)
  for (const card of [...lists[2], ...lists[3]])
    for (const kind of ['subtasks', 'comments']) lists.push((await board.get(`/cards/${card.id}/${kind}`)).body.data)
  const numbers = new Map<string, number>()
  return JSON.stringify(lists, null, 1).replaceAll(/\b[a-z]{3}_[0-9a-z]{20}\b/g, (id) => {
    if (!numbers.has(id)) numbers.set(id, numbers.size)
    return `id ${numbers.get(id)}`
  })
}

describe('a scenario', () => {
  const mcp = setUpMcp()

  test('ends in the same board through MCP as by HTTP', async () => {
    const [byHttp, byMcp] = [await TestBoard.create(mcp.service, mcp.ann), await TestBoard.create(mcp.service, mcp.ann)]
    await playScenario(performByHttp(byHttp), byHttp.id, mcp.ann.id)
    await playScenario(await performByMcp(mcp), byMcp.id, mcp.ann.id)
    const contents = await contentsOf(byMcp)
    expect(contents).toBe(await contentsOf(byHttp))
    expect(contents).toContain('First, changed')
  })

  test('a write that is repeated with its key is made once, and another one under this key is refused', async () => {
    const board = await TestBoard.create(mcp.service, mcp.ann)
    const args = { operation: 'columns.create', board_id: board.id, name: 'New', idempotency_key: 'key-1' }
    const first = await mcp.call(mcp.ann.write, 'create_board_parts', args)
    const second = await mcp.call(mcp.ann.write, 'create_board_parts', args)
    const other = await mcp.call(mcp.ann.write, 'create_board_parts', { ...args, name: 'Other' })
    expect(second.content).toEqual({ ...first.content, idempotent_replayed: true })
    expect(other.content.error.code).toBe('idempotency_key_reused')
    expect((await board.get(`/boards/${board.id}/columns`)).body.data).toHaveLength(1)
  })

  test('a dry run changes nothing, and a write with an old ETag is refused with the advice to read again', async () => {
    const board = await TestBoard.create(mcp.service, mcp.ann)
    const edit = (name: string, more: object) =>
      mcp.call(mcp.ann.write, 'edit_boards', { operation: 'boards.update', board_id: board.id, name, ...more })
    const etag = (await mcp.call(mcp.ann.read, 'read_boards', { operation: 'boards.read', board_id: board.id })).content.etag
    expect((await edit('Dry', { dry_run: true })).content).toMatchObject({ data: { name: 'Dry' }, dry_run: true })
    expect((await edit('One', { if_match: etag })).content.data.name).toBe('One')
    expect((await edit('Two', { if_match: etag })).content.error).toMatchObject({
      code: 'precondition_failed',
      next: expect.stringContaining('Read the resource again'),
    })
    expect((await board.get(`/boards/${board.id}`)).body.data.name).toBe('One')
  })
})

import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { TestBoard } from '../support/board.ts'
import { revisions, setUpMcp, type McpService } from '../support/mcp.ts'

/** Performs an operation of the API on ids and members. @returns the `data` of the answer */
type Perform = (id: string, args: Record<string, unknown>) => Promise<any>

/** What an agent may do on a board: each operation needs an id that another one has returned. @returns the id of the board */
async function playScenario(perform: Perform, userId: string): Promise<string> {
  const { id: board_id } = await perform('boards.create', { name: 'Garden', description: 'Beds 1 to 4' })
  const [todo, done] = [
    await perform('columns.create', { board_id, name: 'To do' }),
    await perform('columns.create', { board_id, name: 'Done' }),
  ]
  const label = await perform('labels.create', { board_id, name: 'Urgent', color: '#ff0000' })
  const card = await perform('cards.create', { board_id, column_id: todo.id, title: 'First', description: 'A' })
  const other = await perform('cards.create', { board_id, column_id: todo.id, title: 'Second', to: 'first' })
  await perform('cards.create', { board_id, column_id: todo.id, title: 'Whole', label_ids: [label.id], subtasks: ['One', 'Two'] })
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
  const operations = [
    { operation: 'columns.create', body: { name: 'Later' } },
    { operation: 'cards.create', body: { column_id: '$0', title: 'At once' } },
  ]
  await perform('boards.batch', { board_id, operations })
  return board_id
}

function performByClient({ listener, ann }: McpService): Perform {
  const client = createClient({ url: listener.url, token: ann.write }) as unknown as Record<string, Record<string, Perform>>
  return async (id, args) => {
    const [resource, name] = id.split('.') as [string, string]
    const method = client[resource]![name]! as unknown as (input: object) => Promise<{ data: unknown }>
    return (await method(args)).data
  }
}

async function performByMcp(mcp: McpService): Promise<Perform> {
  const client = await mcp.connect(mcp.ann.write)
  const { tools } = await client.listTools()
  const alone: Record<string, string> = { 'cards.create': 'create_card', 'boards.batch': 'make_many_changes' }
  return async (id, args) => {
    const enumOf = ({ inputSchema }: (typeof tools)[number]) => (inputSchema.properties as any)?.['operation']?.enum as string[] | undefined
    const tool = tools.find((one) => enumOf(one)?.includes(id)) ?? tools.find(({ name }) => name === alone[id])!
    const selected = enumOf(tool) === undefined ? args : { operation: id, ...args }
    const { structuredContent, isError } = await client.callTool({ name: tool.name, arguments: selected })
    expect([id, isError]).toEqual([id, undefined])
    return (structuredContent as any).data
  }
}

/** Everything on a board, with a number in place of each id and each time, in the order in which they appear. */
async function contentsOf({ service, ann }: McpService, boardId: string): Promise<string> {
  const read = async (path: string) => (await service.send(ann.admin, 'GET', path)).body.data
  const cards = [...(await read(`/boards/${boardId}/cards`)), ...(await read(`/boards/${boardId}/cards?archived=true`))]
  const lists = [
    await read(`/boards/${boardId}`),
    await read(`/boards/${boardId}/columns`),
    await read(`/boards/${boardId}/labels`),
    await read(`/boards/${boardId}/members`),
    cards,
  ]
  for (const { id } of cards) for (const kind of ['subtasks', 'comments']) lists.push(await read(`/cards/${id}/${kind}`))
  const numbers = new Map<string, number>()
  return JSON.stringify(lists, null, 1).replaceAll(/\b[a-z]{3}_[0-9a-z]{20}\b|\b\d{4}-\d\d-\d\dT[0-9:.]+Z/g, (value) => {
    if (!numbers.has(value)) numbers.set(value, numbers.size)
    return `value ${numbers.get(value)}`
  })
}

describe('a scenario', () => {
  const mcp = setUpMcp()

  test('by the client and through MCP ends in the same board', async () => {
    const contents: string[] = []
    for (const perform of [performByClient(mcp), await performByMcp(mcp)]) {
      // Each operation has its own time, so that times can be compared.
      const next: Perform = (id, args) => ((mcp.service.now += 1000), perform(id, args))
      contents.push(await contentsOf(mcp, await playScenario(next, mcp.ann.id)))
    }
    const [byClient, byMcp] = contents
    expect(byClient).toContain('First, changed')
    expect(byMcp).toBe(byClient)
  })

  test.each(revisions)('a day of an agent of %s: its work is found, done and reported, and it adds more', async (revision) => {
    const board = await TestBoard.create(mcp.service, mcp.ann)
    const [todo, done] = [await board.column('To do'), await board.column('Done')]
    const cardId = await board.card(todo, 'Sow carrots', { assignee_ids: [mcp.ann.id] })
    const client = await mcp.connect(mcp.ann.write, revision)
    const call = async (name: string, args: object): Promise<any> => {
      const { structuredContent, isError } = await client.callTool({ name, arguments: { ...args } })
      expect([name, isError]).toEqual([name, undefined])
      return structuredContent
    }
    const mine = await call('find_cards', { operation: 'cards.search', assignee_id: 'me', completed: false, fields: ['board_id', 'title'] })
    expect(mine.data).toContainEqual({ id: cardId, board_id: board.id, title: 'Sow carrots' })
    const include = ['columns', 'labels', 'members']
    const { data } = await call('read_boards', { operation: 'boards.read', board_id: board.id, include })
    expect(data.columns.map(({ id }: any) => id)).toEqual([todo, done])
    const { etag } = await call('find_cards', { operation: 'cards.read', card_id: cardId })
    const move = { operation: 'cards.move', card_id: cardId, column_id: done, if_match: etag }
    const moved = await call('move_assign_complete_cards', move)
    const complete = { operation: 'cards.complete', card_id: cardId, completed: true, if_match: moved.etag }
    await call('move_assign_complete_cards', complete)
    await call('add_comment_subtask_file', { operation: 'comments.create', card_id: cardId, body: 'Done: two rows.' })
    await call('attach_text', { card_id: cardId, name: 'rows.csv', text: 'row,seeds\n1,40\n', content_type: 'text/csv' })
    const operations = ['Water', 'Weed', 'Thin'].map((title) => ({ operation: 'cards.create', body: { column_id: todo, title } }))
    await call('make_many_changes', { board_id: board.id, operations })
    expect(await board.titles(`?column_id=${todo}`)).toEqual(['Water', 'Weed', 'Thin'])
    expect(await board.titles('?completed=true')).toEqual(['Sow carrots'])
    const fields = ['kind', 'action']
    const changes = await call('read_changes', { board_id: board.id, after: data.changes_cursor, fields })
    expect(changes.data.map(({ kind, action }: any) => `${kind} ${action}`)).toEqual([
      'card updated',
      'card updated',
      'comment created',
      'attachment created',
      'card created',
      'card created',
      'card created',
    ])
  })

  test('a write that is repeated with its key is made once, and another one under this key is refused', async () => {
    const board = await TestBoard.create(mcp.service, mcp.ann)
    const args = { operation: 'columns.create', board_id: board.id, name: 'New', idempotency_key: 'key-1' }
    const first = await mcp.call(mcp.ann.write, 'create_boards_columns_labels', args)
    const second = await mcp.call(mcp.ann.write, 'create_boards_columns_labels', args)
    const other = await mcp.call(mcp.ann.write, 'create_boards_columns_labels', { ...args, name: 'Other' })
    expect(second.content).toEqual({ ...first.content, idempotent_replayed: true })
    expect(other.content.error.code).toBe('idempotency_key_reused')
    expect((await board.get(`/boards/${board.id}/columns`)).body.data).toHaveLength(1)
  })

  test('a dry run changes nothing', async () => {
    const board = await TestBoard.create(mcp.service, mcp.ann)
    const args = { operation: 'boards.update', board_id: board.id, name: 'Dry', dry_run: true }
    const { content } = await mcp.call(mcp.ann.write, 'edit_boards_columns_labels', args)
    expect(content).toMatchObject({ data: { name: 'Dry' }, dry_run: true })
    expect((await board.get(`/boards/${board.id}`)).body.data.name).toBe('Board')
  })
})

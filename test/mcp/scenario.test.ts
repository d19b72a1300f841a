import { describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { revisions, setUpMcp } from '../support/mcp.ts'

describe('a scenario', () => {
  const mcp = setUpMcp()

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
})

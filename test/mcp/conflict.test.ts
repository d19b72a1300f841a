import { describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { revisions, setUpMcp } from '../support/mcp.ts'

const mcp = setUpMcp()

/** A card that one agent has read, and another one has changed since. */
async function changedCard() {
  const board = await TestBoard.create(mcp.service, mcp.ann)
  const id = await board.card(await board.column(), 'First')
  const { etag } = (await mcp.call(mcp.ann.write, 'find_cards', { operation: 'cards.read', card_id: id })).content
  await board.patch(`/cards/${id}`, { title: 'Theirs' })
  return { board, id, etag }
}
const titleOf = async (board: TestBoard, id: string) => (await board.read(id)).title

describe('a write with the ETag of an older state', () => {
  test.each(revisions)('is refused, and a client of %s learns the present state instead of how to overwrite it', async (revision) => {
    const { board, id, etag } = await changedCard()
    const client = await mcp.connect(mcp.ann.write, revision)
    const args = { operation: 'cards.update', card_id: id, title: 'Mine', if_match: etag }
    const { isError, structuredContent } = await client.callTool({ name: 'edit_cards_comments_subtasks', arguments: args })
    const { error } = structuredContent as any
    const now = await board.get(`/cards/${id}`)
    expect(isError).toBe(true)
    expect(error).toMatchObject({ code: 'precondition_failed', current: now.body.data, current_etag: now.headers.get('etag') })
    expect(error.current.title).toBe('Theirs')
    expect(error.next).toMatch(/^Nothing was changed\. .*another agent may be working on it.*compare it with what you read.*read_changes/)
    expect(error.next).toContain(`${id} has changed since you read it, last at ${now.body.data.updated_at}`)
    expect(error.next).not.toMatch(/\b(?:repeat|retry|again|overwrite|new ETag|if_match)\b/i)
    expect(await titleOf(board, id)).toBe('Theirs')
    // What it says leads on.
    const changes = await client.callTool({ name: 'read_changes', arguments: { board_id: board.id } })
    expect((changes.structuredContent as any).data.at(-1)).toMatchObject({ id, actor_id: mcp.ann.id })
    const next = { ...args, title: 'Theirs and mine', if_match: error.current_etag }
    expect((await client.callTool({ name: 'edit_cards_comments_subtasks', arguments: next })).isError).toBeUndefined()
    expect(await titleOf(board, id)).toBe('Theirs and mine')
  })

  test('shows the parent of what would be created', async () => {
    const { board, id, etag } = await changedCard()
    const args = { operation: 'comments.create', card_id: id, body: 'Text', if_match: etag }
    const { error } = (await mcp.call(mcp.ann.write, 'add_comment_subtask_file', args)).content
    expect(error.current).toEqual(await board.read(id))
  })

  test('that has no ETag to compare with is refused alike, without the present state', async () => {
    const { board, id } = await changedCard()
    const operations = [
      { operation: 'cards.update', params: { card_id: id }, body: { title: 'Mine' } },
      { operation: 'cards.update', params: { card_id: id }, body: { title: 'Mine too' }, if_match: '"old"' },
    ]
    const { error } = (await mcp.call(mcp.ann.write, 'make_many_changes', { board_id: board.id, operations })).content
    expect(error).toMatchObject({ code: 'precondition_failed', index: 1 })
    expect(error.next).toMatch(
      /^Nothing was changed\. The ETag in if_match is not current, .*another agent may be working on it.*Do not replace/,
    )
    expect(await titleOf(board, id)).toBe('Theirs')
  })
})

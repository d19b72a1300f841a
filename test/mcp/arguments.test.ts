import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { TestBoard } from '../support/board.ts'
import { revisions, setUpMcp } from '../support/mcp.ts'

const mcp = setUpMcp()
const [BOARD, COLUMN, CARD] = ['brd', 'col', 'crd'].map((prefix) => `${prefix}_00000000000000000000`)
const call = async (name: string, args: object, token = mcp.ann.write) => (await mcp.call(token, name, args)).content

describe.each(revisions)('a client of the revision %s that mistypes', (revision) => {
  test('an argument gets the known ones, and the one that is near', async () => {
    const board = await TestBoard.create(mcp.service, mcp.ann)
    const client = await mcp.connect(mcp.ann.read, revision)
    const args = { operation: 'cards.list', board_id: board.id, colunm_id: 'Done' }
    const { isError, structuredContent } = await client.callTool({ name: 'find_cards', arguments: args })
    const { error } = structuredContent as any
    const message = 'is not an argument of cards.list (did you mean "column_id"?)'
    expect(isError).toBe(true)
    expect(error).toMatchObject({ code: 'validation_failed', issues: [{ path: 'colunm_id', message }] })
    expect(error.message).toContain(`"colunm_id" ${message}.`)
    expect(error.known_arguments).toEqual(expect.arrayContaining(['board_id', 'column_id', 'assignee_id', 'limit', 'cursor', 'fields']))
    expect(error.known_arguments).not.toContain('due_before')
  })

  test('a tool gets the nearest one, and all names', async () => {
    const client = await mcp.connect(mcp.ann.read, revision)
    const unknown = client.callTool({ name: 'find_card', arguments: {} })
    await expect(unknown).rejects.toThrow(
      'There is no tool of this name: did you mean "find_cards"? The tools are read_account_and_members, ',
    )
    const operation = client.callTool({ name: 'cards.search', arguments: {} })
    await expect(operation).rejects.toThrow('There is no tool of this name: that is an operation of the tool find_cards. ')
    // Only the operations of its scopes.
    await expect(client.callTool({ name: 'xyz', arguments: {} })).rejects.not.toThrow('create_card')
  })
})

describe('a call', () => {
  const ONE_OF = 'must be one of cards.search, cards.list, cards.read'
  const find = (operation: string, args = {}) => ['find_cards', { operation, ...args }] as const
  const edit = (args: object) => ['edit_cards_comments_subtasks', { operation: 'cards.update', card_id: CARD, ...args }] as const
  test.each<[tool: string, args: object, path: string, message: unknown]>([
    [...find('cards.read'), 'card_id', 'is missing: the id of the card'],
    ['create_card', { board_id: BOARD, column_id: COLUMN }, 'title', 'is missing: The title of the card'],
    [...find('cards.list', { board_id: BOARD, sort: 'due_at' }), 'sort', 'is not an argument of cards.list (cards.search takes it)'],
    [
      ...edit({ title: 'T', completed: true }),
      'completed',
      'is not an argument of cards.update (cards.complete of move_assign_complete_cards takes it)',
    ],
    ['find_cards', {}, 'operation', `is missing: it selects what to do. It ${ONE_OF}`],
    [...find('card.list'), 'operation', `${ONE_OF} (did you mean "cards.list"?)`],
    [...find('cards.delete'), 'operation', `${ONE_OF} (the tool delete_boards_or_cards has this operation)`],
    // It is not told that another agent has changed the card.
    [...edit({ title: 'T', if_match: 'abc' }), 'if_match', 'must be an etag as it was answered, with its double quotes'],
  ])('of %s with %j learns what is wrong', async (tool, args, path, message) => {
    const { error } = await call(tool, args)
    expect(error.code).toBe('validation_failed')
    expect(error.issues).toEqual([{ in: 'body', path, message }])
    expect(error.next).toContain('`issues`')
  })

  test('whose operations have another shape learns theirs', async () => {
    const board = await TestBoard.create(mcp.service, mcp.ann)
    for (const item of [
      { operation: 'cards.move', card_id: 'c', colum_id: 'd' },
      { operation: 'create_card', body: {} },
    ]) {
      const { error } = await call('make_many_changes', { board_id: board.id, operations: [item] })
      expect(error.next).toContain('An item of operations is like {"operation":"cards.move","card_id":"…","column_id":"…"}')
    }
  })

  test('lists at most as many issues as the API, whatever it has', async () => {
    const args = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`unknown_${i}`, 1]))
    const { error } = await call('find_cards', { operation: 'cards.search', ...args, ['x'.repeat(10_000)]: 1 })
    expect(error.issues).toHaveLength(limits.issues)
    expect(error.message).toContain(`${5001 - limits.issues} more issues`)
  })
})

describe('fields', () => {
  test.each(revisions)('make the answers to a client of %s small', async (revision) => {
    const board = await TestBoard.create(mcp.service, mcp.ann)
    const id = await board.card(await board.column(), 'Title')
    const client = await mcp.connect(mcp.ann.read, revision)
    const read = async (name: string, args: object) =>
      ((await client.callTool({ name, arguments: { ...args, fields: ['title', 'due_at'] } })).structuredContent as any).data
    const small = { id, title: 'Title', due_at: null }
    expect(await read('find_cards', { operation: 'cards.list', board_id: board.id })).toEqual([small])
    expect(await read('find_cards', { operation: 'cards.read', card_id: id })).toEqual(small)
    const boards = { operation: 'boards.list', fields: ['name'] }
    const { data } = (await client.callTool({ name: 'read_boards', arguments: boards })).structuredContent as any
    expect(data).toContainEqual({ id: board.id, name: 'Board' })
  })

  test('that are not known are answered with those that are', async () => {
    const { error } = await call('find_cards', { operation: 'cards.search', fields: ['titel'] })
    expect(error.issues).toEqual([{ in: 'query', path: 'fields', message: expect.stringMatching(/"titel".*not one of .*\btitle\b/) }])
  })
})

import { beforeAll, describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { setUpMcp } from '../support/mcp.ts'

// What a model gets of an answer: all of it as text, and never more than it can take.

const LONGEST = 60_000
const mcp = setUpMcp()
let board: TestBoard
let column: string
/** 😀 is one character of two units: at 500 units, it would be cut in half. */
const LONG = `${'x'.repeat(499)}😀${'\n"y"'.repeat(900)}`
beforeAll(async () => {
  board = await TestBoard.create(mcp.service, mcp.ann)
  column = await board.column()
  for (let i = 0; i < 60; i++) await board.card(column, `Card ${i}`, { description: i % 2 === 0 ? LONG : 'Short.' })
})

/** Calls a tool. The text and the structured content are the same. */
async function call(name: string, args: object) {
  const { result } = await mcp.call(mcp.ann.write, name, args)
  const [{ type, text }] = result.content
  expect(type).toBe('text')
  expect(JSON.parse(text)).toEqual(result.structuredContent)
  expect(text.length).toBeLessThanOrEqual(LONGEST)
  return JSON.parse(text)
}
const cards = (args: object = {}) => call('find_cards', { operation: 'cards.list', board_id: board.id, ...args })

describe('a list', () => {
  test('has 20 items, whose long texts have only their beginning, and says where the whole is', async () => {
    const { data, note, page } = await cards()
    expect(data).toHaveLength(20)
    expect(page.next_cursor).toEqual(expect.any(String))
    expect(data[0]).toMatchObject({ title: 'Card 0', description: 'x'.repeat(499), truncated: true })
    expect(data[1]).toMatchObject({ title: 'Card 1', description: 'Short.' })
    expect(data[1]).not.toHaveProperty('truncated')
    expect(note).toContain('cards.read of find_cards has the whole')
    const whole = await call('find_cards', { operation: 'cards.read', card_id: data[0].id })
    expect(whole.data.description).toBe(LONG)
    expect(whole).not.toHaveProperty('note')
  })

  test('says nothing of cut texts if there are none', async () => {
    expect(await call('read_boards', { operation: 'columns.list', board_id: board.id })).not.toHaveProperty('note')
  })

  test.each([
    ['whose texts are cut', { limit: 100 }, 60],
    ['whose texts are whole, because the call names them', { limit: 100, fields: ['description'] }, 30],
  ])('that does not fit goes on at its cursor, and none of its items is missing: %s', async (_, args, longer) => {
    const all: any[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const { data, page } = await cards({ ...args, cursor })
      all.push(...data)
      cursor = page.next_cursor ?? undefined
      pages++
    } while (cursor !== undefined)
    const expected = (await board.get(`/boards/${board.id}/cards?limit=100`)).body.data
    expect(all.map(({ id }) => id)).toEqual(expected.map(({ id }: any) => id))
    expect(all.filter(({ description }) => description.length >= 499)).toHaveLength(30)
    if ('fields' in args) expect(all.map(({ description }) => description)).toEqual(expected.map(({ description }: any) => description))
    expect(pages > 1).toBe(longer === 30)
  })

  test('has one item at least, cut if it is longer than an answer', async () => {
    const other = await TestBoard.create(mcp.service, mcp.ann)
    const id = await other.card(await other.column(), 'Longest', { description: '"'.repeat(50_000) })
    const { data, note } = await call('find_cards', { operation: 'cards.list', board_id: other.id, fields: ['description'] })
    expect(data).toEqual([{ id, description: '"'.repeat(500), truncated: true }])
    expect(note).toContain('truncated')
  })

  test('of comments and of changes is cut, too, inside of its items', async () => {
    const id = await board.card(column, 'Discussed')
    await board.comment(id, LONG)
    const comments = await call('read_comments_subtasks_files', { operation: 'comments.list', card_id: id })
    expect(comments).toMatchObject({
      data: [{ body: 'x'.repeat(499), truncated: true }],
      note: expect.stringContaining('comments.read of read_comments'),
    })
    const changes = await call('read_changes', { board_id: board.id })
    expect(changes.data).toHaveLength(20)
    expect(changes.data.find((one: any) => one.kind === 'card').data).toMatchObject({ description: 'x'.repeat(499), truncated: true })
    expect(changes.note).toContain('cards.read')
  })
})

describe('one record', () => {
  /** Reads all parts. */
  const inParts = async (name: string, args: object) => {
    let text = ''
    let offset: number | undefined
    let parts = 0
    do {
      const answer = await call(name, { ...args, offset })
      expect(answer.offset).toBe(offset ?? 0)
      text += answer.part
      offset = answer.next_offset ?? undefined
      expect(answer.length).toBeGreaterThanOrEqual(text.length)
      parts++
    } while (offset !== undefined)
    return { content: JSON.parse(text), parts }
  }

  test('that is longer than an answer is read in parts, which are the whole', async () => {
    const description = `${'"\\\n😀'.repeat(12_500)}`
    const id = await board.card(column, 'Long', { description })
    const { content, parts } = await inParts('find_cards', { operation: 'cards.read', card_id: id })
    const reply = await board.get(`/cards/${id}`)
    expect(content).toEqual({ data: reply.body.data, etag: reply.headers.get('etag') })
    expect(parts).toBeGreaterThan(2)
  })

  test('such as a whole board has whole texts of its own, and the beginnings of those that are on it', async () => {
    const other = await TestBoard.create(mcp.service, mcp.ann)
    await other.patch(`/boards/${other.id}`, { description: LONG })
    const place = await other.column()
    for (let i = 0; i < 70; i++) await other.card(place, `Card ${i}`, { description: LONG })
    const { content } = await inParts('read_boards', { operation: 'boards.read', board_id: other.id, include: ['cards', 'columns'] })
    expect(content.data.description).toBe(LONG)
    expect(content.data.cards).toHaveLength(70)
    expect(content.data.cards[69]).toMatchObject({ description: 'x'.repeat(499), truncated: true })
    expect(content.note).toContain('cards.read')
  })

  test('has a part where an offset asks for one, and none at a wrong one', async () => {
    const [{ id }] = (await cards({ limit: 1 })).data
    const read = (offset: unknown) => call('find_cards', { operation: 'cards.read', card_id: id, offset })
    expect(await read(0)).toHaveProperty('data.id', id)
    expect(await read('5')).toMatchObject({ offset: 5, next_offset: null })
    expect(await read(1_000_000)).toMatchObject({ part: '', next_offset: null })
    expect((await read(-1)).error.issues).toEqual([{ in: 'body', path: 'offset', message: 'must be a whole number' }])
  })

  test('that was written is cut if it is longer than an answer, because it cannot be written again', async () => {
    const created = await call('create_card', { board_id: board.id, column_id: column, title: 'T', description: '"'.repeat(50_000) })
    expect(created).toMatchObject({ data: { description: '"'.repeat(500), truncated: true }, note: expect.stringContaining('cards.read') })
  })

  test('in the answer of a batch is cut, if necessary down to its id', async () => {
    const title = 't'.repeat(500)
    const operations = Array.from({ length: 100 }, (_, i) => ({
      operation: 'cards.create',
      column_id: column,
      title: `${i} ${title}`.slice(0, 500),
      description: LONG.slice(0, 600),
    }))
    const { data, note } = await call('make_many_changes', { board_id: board.id, operations })
    expect(note).toBe(
      'The answer would be too long: of each result, only the id and the etag are there. cards.read of find_cards has the whole.',
    )
    expect(data.results).toHaveLength(100)
    expect(data.results[99]).toEqual({ operation: 'cards.create', data: { id: expect.stringMatching(/^crd_/) }, etag: expect.any(String) })
    expect(data.truncated).toBe(true)
  })

  test('that has changed is shown in a refusal, which is cut if it is longer than an answer', async () => {
    const id = await board.card(column, 'Long', { description: '"'.repeat(50_000) })
    const args = { operation: 'cards.update', card_id: id, title: 'T', if_match: '"old"' }
    const { error } = await call('edit_cards_comments_subtasks', args)
    expect(error).toMatchObject({ code: 'precondition_failed', current: { id, truncated: true } })
  })
})

describe('the resource of a board', () => {
  const read = async (id: string) => {
    const response = await mcp.send(mcp.ann.read, 'resources/read', { uri: `lanekeeper://boards/${id}` }, { accept: '*/*' })
    const { text } = ((await response.json()) as any).result.contents[0]
    expect(text.length).toBeLessThanOrEqual(LONGEST)
    return JSON.parse(text)
  }

  test('is whole if it is short', async () => {
    const other = await TestBoard.create(mcp.service, mcp.ann)
    await other.card(await other.column(), 'Card', { description: LONG })
    const snapshot = await read(other.id)
    expect(snapshot.cards[0].description).toBe(LONG)
    expect(snapshot).not.toHaveProperty('note')
  })

  test('has the beginnings of long texts, and the first cards, if it is longer than an answer', async () => {
    const all = (await board.get(`/boards/${board.id}?include=cards`)).body.data
    const texts = await read(board.id)
    expect(texts.note).toContain('cards.read have the whole')
    const { length } = texts.cards
    expect(texts.cards.map(({ id }: any) => id)).toEqual(all.cards.slice(0, length).map(({ id }: any) => id))
    expect(texts.cards[0].description.length).toBeLessThanOrEqual(500)
    expect(length).toBeGreaterThan(20)
    expect(length).toBeLessThan(all.cards.length)
    expect(texts.note).toContain(`cards has only its first ${length} items: the tools find_cards`)
    // It would go on after cards that are not there.
    expect(all).toHaveProperty('cards_cursor')
    expect(texts).not.toHaveProperty('cards_cursor')
    expect(texts.columns).toHaveLength(1)
  })
})

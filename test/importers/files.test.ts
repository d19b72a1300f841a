import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { BoardLine } from '../../src/admin/board-lines.ts'
import { importForeignBoard, type ImportOptions } from '../../src/importers/import.ts'
import type { ImportResult } from '../../src/importers/planned-import.ts'
import { importText, members, USER } from './text-import.ts'

const fixtures = Object.fromEntries(
  ['trello', 'planka'].map((name) => [name, readFileSync(new URL(`../../fixtures/${name}-board.json`, import.meta.url), 'utf8')]),
)
/** Imports the board of Trello with changes. */
const importChanged = (change: (board: any) => void, options: Partial<ImportOptions> = {}) =>
  importText('trello', changed('trello', change), options)
/** A fixture with changes. */
function changed(from: string, change: (board: any) => void): string {
  const board = JSON.parse(fixtures[from]!)
  change(board)
  return JSON.stringify(board)
}
const invalid = (message: string) => ({ name: 'AdminError', code: 'invalid', message: expect.stringContaining(message) as string })
const many = <T>(length: number, itemOf: (i: number) => T): T[] => Array.from({ length }, (_item, i) => itemOf(i))
/** Gives a board of Trello other cards, or adds some if they have an id of their own. */
function addCards(board: any, count: number, { id = 'c', ...changes }: Record<string, unknown> = {}): void {
  const card = { ...board.cards.at(-1), closed: false, idList: board.lists[0].id, ...changes }
  const added = many(count, (i) => ({ ...card, id: `${id as string}${i}`, pos: i, name: `Card ${i}` }))
  board.cards = id === 'c' ? added : [...board.cards, ...added]
}
const bodiesOf = (lines: readonly BoardLine[], id: string): any[] =>
  lines.flatMap((line) => ('operation' in line && line.operation === id ? (line.body ?? line.params) : []))
const cardsIn = (lines: readonly BoardLine[]) => bodiesOf(lines, 'cards.create')
const commentsIn = (lines: readonly BoardLine[]) => bodiesOf(lines, 'comments.create')
const countOf = ({ not_carried }: ImportResult, kind: string) => not_carried.find((line) => line.kind === kind)?.count

describe('a file that is not a board', () => {
  test.each<[string, readonly [from: string, text: string], string]>([
    ['with null', ['trello', 'null'], 'the file: Invalid input: expected object, received null'],
    ['with ten thousand levels', ['trello', `{"name":${'['.repeat(10_000)}${']'.repeat(10_000)}}`], 'name: Invalid input: expected string'],
    ['of Trello in place of Planka', ['planka', fixtures['trello']!], 'item: Invalid input: expected object, received undefined'],
  ])('%s is refused with its place (%#)', async (_case, [from, text], message) => {
    await expect(importText(from, text)).rejects.toMatchObject(invalid(message))
  })

  test('a message names at most ten problems of a file', async () => {
    const importing = importChanged((board) => (board.lists = many(30, () => ({}))))
    const { message } = (await importing.catch((error: unknown) => error as Error)) as Error
    expect(message.split('\n')).toHaveLength(12)
    expect(message).toContain('and 80 more')
  })
})

describe('the members of a board', () => {
  test.each<[string, string[], string]>([
    ['without a user', ['bobby='], 'is not of the form THEIRS=OURS'],
    ['of an unknown person', ['nobody@x=Olivia Stone'], '"nobody@x" is no member of the file'],
    ['with an unknown user', ['bobby=Bob'], '"Bob" is no member of the workspace'],
    ['with a name that two users have', ['bobby=Twin'], '"Twin" is the name of several members of the workspace'],
  ])('a pair %s is refused', async (_case, pairs, message) => {
    await expect(importText('trello', fixtures['trello']!, { members: pairs })).rejects.toMatchObject(invalid(message))
  })

  test('a name that two users have matches none of them', async () => {
    const { result } = await importChanged(({ members: [first] }) => (first.fullName = 'TWIN'))
    expect(result.not_carried.find(({ kind }) => kind === 'members_unmatched')!.examples).toEqual([
      'TWIN (@olivias)',
      'Robert T. (@bobby)',
      'Zoë Noor (@zoe)',
    ])
  })

  test('a person can be named by id, user name or name, and a user by id', async () => {
    const pairs = ['6540e1000000000000000013=usr_22222222222222222222', 'robert t.=Robert Taylor']
    const { lines } = await importText('trello', fixtures['trello']!, { members: pairs })
    expect(lines.flatMap((line) => ('board' in line ? line.board.members : []))).toEqual([
      'usr_11111111111111111111',
      'usr_22222222222222222222',
    ])
  })

  test('a user who is not a member of the workspace cannot import', async () => {
    const importing = importText('trello', fixtures['trello']!, { user: 'usr_99999999999999999999' })
    await expect(importing).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('input beyond the limits', () => {
  test('texts are shortened by characters, and the report names them', async () => {
    const { result, lines } = await importChanged((board) => {
      board.name = 'n'.repeat(201)
      board.cards[0].name = '🌱'.repeat(501)
      board.cards[0].desc = 'd'.repeat(3_000_000)
      board.cards[1].desc = `${'d'.repeat(49_999)}🌱🌱`
      board.lists[0].name = 'l'.repeat(1000)
      board.labels[0].name = 'b'.repeat(101)
      board.checklists[0].checkItems[0].name = 's'.repeat(600)
      board.actions[0].data.text = 'c'.repeat(20_001)
    })
    expect(result.name).toHaveLength(200)
    // After what is archived.
    const [first, second] = cardsIn(lines).slice(2)
    expect([...second!.title]).toHaveLength(500)
    expect([[...first!.description].length, [...second!.description].length]).toEqual([50_000, 50_000])
    expect(first!.description).toMatch(/d\n\nAttachments:\n- \[plan/)
    expect(Math.max(...commentsIn(lines).map(({ body }) => body.length))).toBe(20_000)
    expect(countOf(result, 'texts_shortened')).toBe(8)
  })

  test.each<[what: string, change: (board: any) => void, message: string]>([
    [
      'cards of an archived list',
      (board) => addCards(board, 5_001, { idList: board.lists.find(({ closed }: any) => closed).id }),
      '5001 cards of an archived list that are not archived themselves (at most 5000)',
    ],
    ['cards', (board) => addCards(board, 50_001, { closed: true }), '50001 cards, archived ones included (at most 50000)'],
    [
      '150,000 cards',
      (board) => addCards(board, 150_000),
      '150000 cards that are not archived (at most 5000), 150000 cards, archived ones included (at most 50000)',
    ],
    [
      'columns',
      (board) => board.lists.push(...many(201, (i) => ({ id: `l${i}`, name: `List ${i}`, closed: false }))),
      ' lists that are not archived (at most 200)',
    ],
    ['labels', (board) => (board.labels = many(201, (i) => ({ id: `b${i}`, name: 'x', color: 'red' }))), '201 labels (at most 200)'],
  ])('a file with %s beyond what a board can have is refused, and nothing is written', async (_what, change, message) => {
    const commands: string[] = []
    const run = async (name: string) => (commands.push(name), members)
    const options = { from: 'trello', workspace: 'wsp_00000000000000000000', user: USER, members: [] }
    const text = changed('trello', change)
    for (const dryRun of text.length > 10_000_000 ? [false] : [false, true])
      await expect(importForeignBoard(text, { ...options, dryRun }, run)).rejects.toMatchObject(invalid(message))
    expect(new Set(commands)).toEqual(new Set(['member.list']))
  })

  test('subtasks, comments and labels beyond the limits of a card are left out', async () => {
    const { result, lines } = await importChanged((board) => {
      addCards(board, 5_000)
      addCards(board, 100, { closed: true, id: 'archived' })
      board.labels = many(200, (i) => ({ id: `b${i}`, name: `Label ${i}`, color: 'red' }))
      board.cards[0].idLabels = board.labels.slice(0, 32).map(({ id }: any) => id)
      const checkItems = many(201, (i) => ({ name: `Step ${i}`, state: 'complete', pos: i }))
      board.checklists = [{ id: 'k', idCard: 'c0', name: 'Checklist', pos: 1, checkItems }]
      board.actions = many(5_001, (i) => ({
        type: 'commentCard',
        date: '2026-01-01T00:00:00.000Z',
        data: { text: `${i}`, card: { id: 'c0' } },
      })).toReversed()
    })
    expect(result).toMatchObject({ cards: 5_100, labels: 200, subtasks: 200, comments: 5_000 })
    const kinds = ['labels_left_out', 'subtasks_left_out', 'comments_left_out']
    expect(kinds.map((kind) => countOf(result, kind))).toEqual([2, 1, 1])
    expect(cardsIn(lines).length - bodiesOf(lines, 'cards.archive').length).toBe(5_000)
    const comments = commentsIn(lines)
    expect([comments[0]!.body, comments.at(-1)!.body].map((body) => body.split('\n').at(-1))).toEqual(['1', '5000'])
    expect(result.not_carried.every(({ examples }) => examples.length <= 5)).toBe(true)
  })

  test('links beyond ten thousand characters are left out, and a long description gives way to the others', async () => {
    const links = many(150, (i) => ({ name: `f${i}`, url: `https://example.org/${'x'.repeat(80)}` }))
    const { result, lines } = await importChanged(({ cards }) => (cards[1].attachments = links))
    const { description } = cardsIn(lines).find((card) => card.description.includes('xxx'))
    expect(description.length).toBeLessThan(10_300)
    expect(countOf(result, 'attachments_left_out')! + description.match(/https:/g)!.length).toBe(150)
  })

  test('invisible characters of names are left out, which is reported, and the joiners stay', async () => {
    const { result, lines } = await importChanged((board) => {
      board.name = 'pay\u202epal'
      board.lists[0].name = '\u200b'
      board.labels[0].name = 'ur\ufeffgent \u2066!'
      board.labels[1].name = '👩\u200d🚀'
    })
    const before = countOf((await importText('trello', fixtures['trello']!)).result, 'characters_replaced') ?? 0
    expect(result.name).toBe('paypal')
    expect(bodiesOf(lines, 'columns.create').map(({ name }) => name)).toContain('Untitled')
    expect(bodiesOf(lines, 'labels.create').map(({ name }) => name)).toEqual(expect.arrayContaining(['urgent !', '👩\u200d🚀']))
    expect(countOf(result, 'characters_replaced')! - before).toBe(3)
  })

  test('names of properties of objects are ids like others', async () => {
    const { lines } = await importChanged((board) => {
      board.lists[0].id = '__proto__'
      board.cards[0].idList = '__proto__'
      board.cards[2].idList = 'constructor'
      board.lists[1].id = 'constructor'
      board.cards[1].idList = '__proto__'
    })
    expect(cardsIn(lines)).toHaveLength(4)
  })
})

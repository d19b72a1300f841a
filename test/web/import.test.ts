import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { BoardReader } from '../../src/importers/board-reader.ts'
import { readBoardFile as readFile, type BoardReading } from '../../src/importers/board-reading.ts'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { attacks, readStore } from '../support/form-attacks.ts'
import { formOf, signedIn, type ReceivedPage, type RequestOptions } from '../support/visitor.ts'

// People import boards of other programs in the web app. test/importers and test/admin/board-import.test.ts test what becomes of a file.
const service = await startForSuite()
const { api, base, owner, visitor } = await buildTeam(service)
const mira = await service.person(owner.workspaceId, 'member', 'Mira Patel')
const path = `${base}/import`
const trello = readFileSync(new URL('../../fixtures/trello-board.json', import.meta.url), 'utf8')
const TABLE = 'title,column\nSow,To do\nWater,Done\n'

/** A form with a file, as browsers send it. The file comes last. */
function multipart(fields: readonly (readonly [string, string])[], file: Buffer, fileName: string): RequestOptions {
  const parts = fields.map(([name, value]) => `--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  const head = `--edge\r\ncontent-disposition: form-data; name="file"; filename="${fileName}"\r\n\r\n`
  const body = Buffer.concat([Buffer.from(parts.join('') + head), file, Buffer.from('\r\n--edge--\r\n')])
  return { headers: { 'content-type': 'multipart/form-data; boundary=edge' }, body: body as never }
}

/** Sends a file with fields: to check it, or with the query `?import`. */
async function send(
  file: string | Buffer,
  fields: Record<string, string | readonly string[]> = {},
  { query = '', name = 'Garden.csv', from = visitor, page = undefined as ReceivedPage | undefined } = {},
): Promise<ReceivedPage> {
  const { hidden } = formOf((page ?? (await from.open(path))).text, path)
  const all = Object.entries({ ...hidden, from: 'csv', ...fields }).flatMap(([key, values]) =>
    [values].flat().map((value) => [key, value] as const),
  )
  return from.post(path + query, {}, multipart(all, Buffer.from(file), name))
}
const importFile: typeof send = (file, fields, options) => send(file, fields, { query: '?import', ...options })
const boards = async (): Promise<any[]> => api('GET', '/boards?limit=100')
const boardOf = (page: ReceivedPage) => /href="[^"]*\/boards\/(brd_\w+)"/.exec(page.text)![1]!
const cardsOf = (id: string): Promise<any[]> => api('GET', `/boards/${id}/cards?limit=100`)

test('a file is checked before: the page says what would be imported and what would not, and nothing is stored', async () => {
  const before = await readStore(service, owner.workspaceId)
  const page = await send(trello, { from: 'trello' })
  expect(page.status).toBe(200)
  for (const text of ['What would be imported', '4 columns, 4 cards, 4 labels, 3 subtasks, 3 comments', 'Access: only you', '2 votes'])
    expect(page.shown).toContain(text)
  // What is in the file is text.
  expect(page.text).toContain('Launch &lt;b>2027&lt;/b>')
  expect(await readStore(service, owner.workspaceId)).toBe(before)
})

test('an import makes a board of the person, as they choose, and says the same', async () => {
  const checked = await send(trello, { from: 'trello' })
  const pair = `6540e1000000000000000013=${mira.id}`
  expect(checked.text).toContain(`value="${pair}"`)
  expect(checked.shown).toContain('Zoë Noor (@zoe)')
  const page = await importFile(trello, { from: 'trello', member: ['', pair], done: 'Doing', access: 'workspace' }, { page: checked })
  expect(page.shown).toContain('What was imported')
  expect(page.shown).toContain('Access: everybody in the workspace')
  const board = await api('GET', `/boards/${boardOf(page)}`)
  expect(board).toMatchObject({ name: 'Launch <b>2027</b>', creator_id: owner.id, visibility: 'workspace' })
  const columns: any[] = await api('GET', `/boards/${board.id}/columns`)
  expect(columns.filter(({ completes }) => completes).map(({ name }) => name)).toEqual(['Doing'])
  const cards = await cardsOf(board.id)
  expect(cards.find(({ title }) => title === 'Second by position').assignee_ids).toEqual([mira.id])
  // Nobody gets a notice of what was brought from elsewhere.
  expect((await service.send(mira.read, 'GET', '/notices')).body.data).toEqual([])
})

test.each<[from: string, file: string, fields: Record<string, string>, titles: readonly string[]]>([
  ['csv', TABLE, {}, ['Sow', 'Water']],
  ['csv', 'Aufgabe;Spalte\nSäen;Offen\n', { map: 'Aufgabe=title\r\nSpalte=column\r\n' }, ['Säen']],
  ['github', '[{"number":1,"title":"Sow","url":"https://github.com/a/b/issues/1","state":"OPEN"}]', {}, ['Sow']],
  ['planka', readFileSync(new URL('../../fixtures/planka-board.json', import.meta.url), 'utf8'), {}, []],
])('a file of %s becomes a board that only its person sees, unless it says otherwise (%#)', async (from, file, fields, titles) => {
  const id = boardOf(await importFile(file, { from, ...fields }))
  const board = await api('GET', `/boards/${id}`)
  expect(board.visibility).toBe('private')
  const found = (await cardsOf(id)).map(({ title }) => title)
  expect(found).toEqual(expect.arrayContaining([...titles]))
  expect(found.length).toBeGreaterThan(0)
})

test('the board of a table has the name of its file', async () => {
  const page = await importFile(TABLE, {}, { name: 'Spring & summer.csv' })
  expect(await api('GET', `/boards/${boardOf(page)}`)).toMatchObject({ name: 'Spring & summer' })
})

test('a board of hundreds of cards is imported, in batches', async () => {
  const rows = Array.from({ length: 450 }, (_row, i) => `Card ${i},To do,${'x'.repeat(500)}`)
  const page = await importFile(['title,column,description', ...rows].join('\n'))
  expect(page.shown).toContain('450 cards')
  const { body } = await service.send(owner.read, 'GET', `/boards/${boardOf(page)}/cards?limit=2`)
  expect(body.data.map(({ title }: any) => title)).toEqual(['Card 0', 'Card 1'])
})

test('a form that is sent twice makes one board, and leads to it', async () => {
  const page = await visitor.open(path)
  const count = (await boards()).length
  const first = await importFile(TABLE, {}, { page })
  const again = await importFile(TABLE, {}, { page })
  expect({ status: again.status, location: again.location }).toEqual({ status: 303, location: `${base}/boards/${boardOf(first)}` })
  expect(await boards()).toHaveLength(count + 1)
})

describe('a file that cannot be imported is refused in the words of the form, and nothing is stored', () => {
  const most = 10 * 1024 * 1024
  test.each<[what: string, file: string | Buffer, fields: Record<string, string>, status: number, text: string]>([
    ['an empty file', '', {}, 422, 'Choose a file.'],
    ['a file of another kind', TABLE, { from: 'trello' }, 422, 'the file is not valid JSON'],
    ['a file from nowhere', TABLE, { from: '' }, 422, 'Choose where the board comes from.'],
    ['a file from somewhere else', TABLE, { from: 'constructor' }, 422, 'Choose where the board comes from.'],
    ['bytes that are not UTF-8', Buffer.from([0x74, 0xff, 0x0a]), {}, 422, 'bytes that are not UTF-8'],
    ['a table without titles', 'a,b\n1,2\n', {}, 422, 'name one under “Columns of a table”, such as Aufgabe=title'],
    ['a column that is not there', TABLE, { map: 'x=title' }, 422, '“Columns of a table”: the file has no column "x"'],
    ['columns of a board', trello, { from: 'trello', map: 'x=title' }, 422, '“Columns of a table” is for tables'],
    ['somebody who is not in it', TABLE, { member: `nobody=${mira.id}` }, 422, '“People of the file”: "nobody" is no member'],
    ['a column that should be done', TABLE, { done: 'Never' }, 422, '“Columns whose cards are done”: there is no column "Never"'],
    ['more labels than a board has', `title,labels\n${many(201)}`, {}, 422, '201 labels (at most 200)'],
    ['a file that is too large', Buffer.alloc(most + 1, 'a'), {}, 413, 'The file has more than 10 MB'],
  ])('%s', async (_what, file, fields, status, text) => {
    const before = await readStore(service, owner.workspaceId)
    for (const sent of [send, importFile]) {
      const page = await sent(file, fields)
      expect({ status: page.status, shown: page.shown }).toEqual({ status, shown: expect.stringContaining(text) })
      expect(page.shown).not.toMatch(/--(?:from|map|member|done)/)
    }
    expect(await readStore(service, owner.workspaceId)).toBe(before)
  })

  test('a form without a file', async () => {
    const { hidden } = formOf((await visitor.open(path)).text, path)
    expect((await visitor.post(path, { ...hidden, from: 'csv' })).shown).toContain('Choose a file.')
  })
})

/** Rows with a label each. */
function many(count: number): string {
  return Array.from({ length: count }, (_row, i) => `Card ${i},label ${i}\n`).join('')
}

test('what a person has chosen is there again when a file was refused, and when they have signed in again', async () => {
  const refused = await send('a,b\n1,2\n', { access: 'workspace', map: 'c=title' })
  expect(refused.text).toMatch(/<option value="workspace" selected[^>]*>/)
  expect(refused.text).toContain('c=title</textarea>')
  const page = await visitor.open(path)
  const again = await signedIn(service, owner)
  const shown = await send(TABLE, { access: 'private' }, { from: again, page })
  expect({ status: shown.status, shown: shown.shown }).toEqual({ status: 403, shown: expect.stringContaining('send it once more') })
  expect(shown.text).toMatch(/<option value="private" selected[^>]*>/)
})

test('who is no member finds no page, and nothing is stored', async () => {
  const stranger = await signedIn(service, await service.person(await service.workspace('Globex')))
  const { form_token } = formOf((await stranger.open('/settings/tokens/new')).text || '', '/settings/sign-out').hidden
  const before = await readStore(service, owner.workspaceId)
  expect((await stranger.request(path)).status).toBe(404)
  const fields = [['form_token', form_token!] as const, ['from', 'csv'] as const]
  expect((await stranger.post(`${path}?import`, {}, multipart(fields, Buffer.from(TABLE), 'a.csv'))).status).toBe(404)
  expect(await readStore(service, owner.workspaceId)).toBe(before)
})

describe('every attack on the form with its file is refused, and changes nothing', () => {
  test.each(Object.entries(attacks).filter(([name]) => !name.startsWith('as text/plain')))('%s', async (_name, attack) => {
    const other = await signedIn(service, mira)
    await other.open(path)
    const { hidden } = formOf((await visitor.open(path)).text, path)
    const genuine = { visitor, path: `${path}?import`, fields: { ...hidden, from: 'csv' } }
    const { path: target = genuine.path, fields = genuine.fields, options } = attack(genuine, other.formToken)
    const { headers, body } = multipart(Object.entries(fields), Buffer.from(TABLE), 'a.csv')
    const before = await readStore(service, owner.workspaceId)
    const page = await visitor.post(
      target.replace('?import?', '?import&'),
      {},
      { body: body!, headers: { ...headers, ...options?.headers } },
    )
    expect(page.status).toBe(403)
    expect(await readStore(service, owner.workspaceId)).toBe(before)
  })
})

test('an import that fails on its way leaves no board, and says why', async () => {
  const readBoardFile: BoardReader = async (file) => {
    const reading = readFile(file) as BoardReading
    return { ...reading, lines: `${reading.lines}\n${JSON.stringify({ operation: 'boards.delete', params: {} })}` }
  }
  const broken = await buildTeam(await startForSuite({ readBoardFile }))
  const place = `${broken.base}/import`
  const { hidden } = formOf((await broken.visitor.open(place)).text, place)
  const form = multipart(Object.entries({ ...hidden, from: 'csv' }), Buffer.from(TABLE), 'a.csv')
  const page = await broken.visitor.post(`${place}?import`, {}, form)
  expect({ status: page.status, shown: page.shown }).toEqual({
    status: 422,
    shown: expect.stringContaining('The board was not imported: '),
  })
  expect((await broken.api('GET', '/boards')).map(({ name }: any) => name)).toEqual(['Spring'])
})

test('a person imports at most ten boards at once', async () => {
  const often = await signedIn(service, await service.person(owner.workspaceId, 'member', 'Often'))
  const all: number[] = []
  for (let i = 0; i < 11; i++) all.push((await importFile(TABLE, {}, { from: often })).status)
  expect(all).toEqual([...Array.from({ length: 10 }, () => 200), 429])
  service.now += 6 * 60 * 1000
  expect((await importFile(TABLE, {}, { from: often })).status).toBe(200)
})

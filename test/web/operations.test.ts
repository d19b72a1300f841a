import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { entriesOf, startWithAudit } from '../support/audit-trail.ts'
import { buildTeam, type Api } from '../support/board-team.ts'
import { memory } from '../support/memory.ts'
import { MINUTE } from '../../src/model/time.ts'
import type { Person } from '../support/service.ts'
import { formOf, signedIn, type Visitor } from '../support/visitor.ts'

const { service, recorder } = await startWithAudit(memory)
afterAll(() => service.stop())
let owner: Person
let visitor: Visitor
let api: Api
let base: string
let boardId: string
let columnId: string
let otherColumnId: string
const card = (title = 'Notes') => api('POST', `/boards/${boardId}/cards`, { column_id: columnId, title, description: 'First.' })
const doing = (operation: string, query: Record<string, string>) => `${base}/do/${operation}?${new URLSearchParams(query)}`
/** Sends fields as the script of a page does. */
const send = async (operation: string, fields: Record<string, string>) => {
  const reply = await visitor.post(
    `${base}/do/${operation}`,
    { ...fields, form_token: visitor.formToken },
    { headers: { accept: 'application/json' } },
  )
  return { status: reply.status, ...JSON.parse(reply.text) }
}

beforeEach(async () => {
  let columns: readonly string[]
  ;({ owner, visitor, api, base, boardId, columns } = await buildTeam(service, ['To do', 'Done']))
  ;[columnId, otherColumnId] = columns as [string, string]
})

describe('the form of an operation', () => {
  test('has the fields of its row, with what there is to choose from, and leads to what was created', async () => {
    const label = await api('POST', `/boards/${boardId}/labels`, { name: 'urgent', color: '#cf222e' })
    const form = await visitor.open(doing('cards.create', { board_id: boardId, column_id: columnId }))
    // Only the forms of boards and cards are sent in place; the others are guarded against a second click.
    expect(form.text).not.toContain('data-send')
    for (const option of ['To do', 'Done', 'urgent', 'Olivia Stone']) expect(form.text).toContain(`>${option}</option>`)
    for (const part of ['name="due_at"', 'maxlength="500"']) expect(form.text).toContain(part)
    const shared = { column_id: otherColumnId, title: 'By hand' }
    const fields = { ...shared, due_at: '2026-12-24T12:30', label_ids: label.id, assignee_ids: owner.id }
    const page = await visitor.submit({ ...fields, subtasks: 'One\r\nTwo', description: 'a\r\nb' }, base)
    expect(page.shown).toContain('By hand')
    const [created] = await api('GET', `/boards/${boardId}/cards?include=counts`)
    const stored = { ...shared, due_at: '2026-12-24T12:30:00.000Z', label_ids: [label.id], assignee_ids: [owner.id] }
    expect(created).toMatchObject({ ...stored, description: 'a\nb', counts: { subtasks: 2 } })
  })

  test('changes the members that were edited in it, and nothing else', async () => {
    const { id } = await card()
    await api('PATCH', `/cards/${id}`, { due_at: '2026-12-24T12:30:00Z' })
    await visitor.open(doing('cards.update', { card_id: id }))
    await visitor.submit({ title: 'Notes, again', description: 'First.', due_at: '2026-12-24T12:30' }, base)
    const changed = { title: 'Notes, again', description: 'First.', due_at: '2026-12-24T12:30:00.000Z' }
    expect(await api('GET', `/cards/${id}`)).toMatchObject(changed)
    await visitor.open(doing('cards.update', { card_id: id }))
    await visitor.submit({ title: 'Notes, again', description: '', due_at: '' }, base)
    expect(await api('GET', `/cards/${id}`)).toMatchObject({ description: '', due_at: null })
  })

  test('is shown again with what was written, and what is wrong with each field', async () => {
    await visitor.open(doing('columns.create', { board_id: boardId }))
    const page = await visitor.submit({ name: 'Review', wip_limit: '-3' }, base)
    expect({
      status: page.status,
      keepsTitle: page.text.includes('value="Review"'),
      isMarked: page.text.includes('aria-invalid="true"'),
    }).toEqual({ status: 422, keepsTitle: true, isMarked: true })
    expect(page.shown).toContain('Please check: Limit of cards')
    const texts = await send('columns.create', { board_id: boardId, name: 'Review', wip_limit: 'many' })
    expect(texts).toEqual({ status: 422, error: expect.stringContaining('Limit of cards') })
    expect((await api('GET', `/boards/${boardId}/columns`)).length).toBe(2)
  })

  test('is refused in the words of the table, and is not there for those who may not send it', async () => {
    await api('PUT', `/boards/${boardId}/visibility`, { visibility: 'workspace' })
    const member = await service.person(owner.workspaceId, 'member')
    visitor = await signedIn(service, member)
    expect((await visitor.request(doing('boards.delete', { board_id: boardId }))).status).toBe(403)
    const { status, error } = await send('boards.set_visibility', { board_id: boardId, visibility: 'private' })
    expect({ status, error }).toEqual({
      status: 403,
      error: expect.stringMatching(/^You may not do this\. Row P5 of the policy: .*creator/),
    })
  })

  test.each(['', 'absent', 'a"\r\nX-Evil: 1', 'ü€', '*', 'x'.repeat(1000)])('with the revision %j conflicts', async (revision) => {
    const { id } = await card()
    expect((await send('cards.update', { card_id: id, title: 'Mine', revision })).status).toBe(412)
    expect((await api('GET', `/cards/${id}`)).title).toBe('Notes')
  })

  test.each([
    ['cards.update', ['form_token', 'card_id'], 415],
    ['attachments.upload', ['card_id'], 403],
    ['attachments.upload', ['form_token', 'card_id'], 303],
  ])('%s with a file after the fields %j is answered %i, and only an upload of this site stores it', async (operation, names, status) => {
    const { id } = await card()
    const values: Record<string, string> = { form_token: visitor.formToken, card_id: id }
    const part = (head: string, value: string) => `--XX\r\ncontent-disposition: form-data; ${head}\r\n\r\n${value}\r\n`
    const token = part('name="form_token"', values['form_token']!)
    const fields = names.map((name) => part(`name="${name}"`, values[name]!)).join('')
    // What comes after the file does not count.
    const body = `${fields}${part('name="file"; filename="a.txt"', 'text')}${status === 303 ? '' : token}--XX--\r\n`
    const headers = { 'content-type': 'multipart/form-data; boundary=XX', origin: 'http://localhost', 'sec-fetch-site': 'same-origin' }
    const page = await visitor.request(`${base}/do/${operation}`, { method: 'POST', headers, body })
    expect({ status: page.status, attachments: (await api('GET', `/cards/${id}/attachments`)).length }).toEqual({
      status,
      attachments: status === 303 ? 1 : 0,
    })
  })

  test.each(['one after the other', 'at once'])('that is sent twice, %s, creates once; what differs creates another', async (way) => {
    const titles = async () => (await api('GET', `/boards/${boardId}/cards`)).map(({ title }: any) => title).toSorted()
    const { action, hidden } = formOf((await visitor.open(`${base}/boards/${boardId}`)).text, `${base}/do/cards.create`)
    const add = async (title: string, key = hidden['form_key']!) => {
      const { status, location } = await visitor.post(action, { ...hidden, form_key: key, title })
      expect({ status, location }).toEqual({ status: 303, location: `${base}/boards/${boardId}` })
    }
    if (way === 'at once') await Promise.all([add('Once'), add('Once')])
    else for (const title of ['Once', 'Once']) await add(title)
    expect(await titles()).toEqual(['Once'])
    await add('Other')
    for (const key of ['of the next page', '', '']) await add('Once', key)
    expect(await titles()).toEqual(['Once', 'Once', 'Once', 'Once', 'Other'])
    const other = await signedIn(service, await service.person(owner.workspaceId, 'owner'))
    await other.open('/app')
    await api('PUT', `/boards/${boardId}/visibility`, { visibility: 'workspace' })
    await other.post(action, { ...hidden, title: 'Other', form_token: other.formToken })
    expect((await titles()).filter((title: string) => title === 'Other')).toHaveLength(2)
  })

  test('that is sent twice creates one board with its columns', async () => {
    await visitor.open(`${base}/do/boards.create`)
    const { action, hidden } = formOf(visitor.page!.text, base)
    const fields = { ...hidden, name: 'Twice', template: 'columns' }
    const [first, second] = [await visitor.post(action, fields), await visitor.post(action, fields)]
    expect({ status: first.status, location: second.location }).toEqual({ status: 303, location: first.location })
    expect((await api('GET', `/boards/${first.location!.split('/').at(-1)}/columns`)).length).toBe(4)
  })

  test('has a key if it creates something, and is opened by a browser', async () => {
    const { id } = await card()
    for (const [accept, kind] of [
      ['text/html,*/*', /[\w-]{43}/],
      ['text/html', /^$/],
    ] as const) {
      const { text } = await visitor.request(`${base}/cards/${id}`, { headers: { accept } })
      for (const name of ['subtasks.create', 'attachments.upload', 'comments.create'])
        expect([name, formOf(text, `${base}/do/${name}`).hidden['form_key']]).toEqual([name, expect.stringMatching(kind)])
      expect(formOf(text, `${base}/do/cards.complete`).hidden).not.toHaveProperty('form_key')
    }
  })

  test('asks for the name of what is deleted', async () => {
    const { id } = await card()
    await visitor.open(doing('cards.delete', { card_id: id }))
    const wrong = await visitor.submit({ confirmed: 'Note' }, base)
    expect({ status: wrong.status, shown: wrong.shown }).toEqual({ status: 422, shown: expect.stringContaining('Nothing was deleted') })
    const page = await visitor.submit({ confirmed: 'Notes' }, base)
    expect({ status: page.status, text: page.text }).toEqual({
      status: 200,
      text: expect.stringContaining(`data-board="${base}/boards/${boardId}"`),
    })
    expect((await service.send(owner.admin, 'GET', `/cards/${id}`)).status).toBe(404)
  })

  test('asks before a card is taken away from an agent that has claimed it', async () => {
    const { id } = await card()
    await api('PUT', `/cards/${id}/claim`, { ttl: 300 })
    const asked = await send('cards.move', { card_id: id, column_id: otherColumnId })
    expect(asked).toEqual({
      status: 409,
      error: expect.stringContaining('test of Olivia Stone has claimed this card until'),
      over_claim: 1,
    })
    expect((await send('cards.move', { card_id: id, column_id: otherColumnId, over_claim: '2' })).status).toBe(409)
    await visitor.open(doing('cards.complete', { card_id: id, completed: 'true' }))
    const page = await visitor.submit({ completed: 'true' }, base)
    expect({ status: page.status, text: page.text }).toEqual({ status: 409, text: expect.stringContaining('Complete card anyway') })
    await visitor.submit({ completed: 'true' }, base)
    expect((await api('GET', `/cards/${id}`)).completed_at).not.toBeNull()
    expect((await send('comments.create', { card_id: id, body: 'Thanks.' })).status).toBe(200)
  })

  test.each([
    ['cards.complete', { completed: 'true' }, 'The card is completed.', ({ completed_at }: any) => completed_at === null],
    ['cards.archive', {}, 'The card is archived.', ({ archived_at }: any) => archived_at === null],
    ['cards.move', { to: 'last' }, 'The card is moved.', () => true],
  ])('offers to take %s back', async (operation, fields, text, isBack) => {
    const [first, second] = [await card('First'), await card('Second')]
    const back = `${base}/boards/${boardId}`
    await visitor.open(back)
    const more = operation === 'cards.move' ? { column_id: otherColumnId } : {}
    const sent = { card_id: first.id, ...fields, ...more, back, form_token: visitor.formToken }
    const answer = await visitor.post(`${base}/do/${operation}`, sent)
    expect(answer.status).toBe(303)
    const page = await visitor.open(answer.location!)
    expect(page.shown).toContain(`${text} Undo`)
    const undo = /action="([^"]*)"[^>]*data-send[^>]*>/.exec(page.text.slice(page.text.indexOf('id="did"')))![1]!
    await visitor.submit({}, undo)
    const cards = await api('GET', `/boards/${boardId}/cards`)
    expect(cards.map(({ id }: any) => id)).toEqual([first.id, second.id])
    expect({ columnId: cards[0].column_id, isBack: isBack(cards[0]) }).toEqual({ columnId, isBack: true })
  })

  test('offers nothing to take back that was not done here, whatever a link says', async () => {
    const [done, other] = [await card('Done'), await card('Other')]
    const back = `${base}/boards/${boardId}`
    await visitor.open(back)
    const sent = { card_id: done.id, completed: 'true', back, form_token: visitor.formToken }
    const own = (await visitor.post(`${base}/do/cards.complete`, sent)).location!
    const changed = (...entries: [string, string][]) => {
      const query = new URL(own, visitor.origin).searchParams
      for (const [name, value] of entries) query.set(name, value)
      return `${back}?${query}`
    }
    const forged = [
      `${back}?did=cards.complete&undo=cards.complete&card_id=${other.id}&completed=false`,
      `${back}?did=constructor&undo=__proto__`,
      own.replace(/&signed=.*/, ''),
      changed(['signed', '']),
      changed(['signed', 'A'.repeat(43)]),
      changed(['card_id', other.id]),
      changed(['undo', 'cards.archive']),
      changed(['until', '9999999999999']),
      own.replace(back, `${back}/archive`),
    ]
    for (const address of forged) expect([address, (await visitor.request(address)).text.includes('id="did"')]).toEqual([address, false])
    const again = await signedIn(service, owner)
    expect((await again.request(own)).text).not.toContain('id="did"')
    expect((await visitor.request(own)).text).toContain('id="did"')
    service.now += 10 * MINUTE
    expect((await visitor.request(own)).text).not.toContain('id="did"')
  })

  test('leads back only to a page of its workspace', async () => {
    const evil = ['https://evil.example/', '//evil.example', 'javascript:1']
    for (const back of [...evil, '/app/other/boards', `${base}/../../settings`, `${base}/boards/x\\y`]) {
      const { location } = await send('cards.create', { board_id: boardId, column_id: columnId, title: 'A', back })
      expect([back, location]).toEqual([back, `${base}/boards/${boardId}`])
    }
  })

  test('does not exist for an operation that the person cannot use, and for an absent resource', async () => {
    const without = operations.filter(({ id, isRead }) => isRead || /^(?:boards\.batch|claims\.)/.test(id)).map(({ id }) => id)
    const targets = [...without, 'absent', '__proto__'].map((id) => `${base}/do/${id}`)
    for (const target of targets) {
      const posted = await visitor.post(target, { form_token: visitor.formToken })
      expect({ target, got: (await visitor.request(target)).status, posted: posted.status }).toEqual({ target, got: 404, posted: 404 })
    }
    const absent = [doing('cards.update', { card_id: 'crd_00000000000000000000' }), '/app/wsp_00000000000000000000/do/boards.create']
    for (const target of absent) expect((await visitor.request(target)).status).toBe(404)
  })

  test('is in the audit trail once, with the operation and the web app as its surface', async () => {
    const entries = await entriesOf(service, recorder, owner.workspaceId, async () => {
      await send('cards.create', { board_id: boardId, column_id: columnId, title: 'A' })
      await send('columns.rename', { column_id: 'col_00000000000000000000', name: 'B' })
    })
    expect(entries).toMatchObject([
      { operation: 'cards.create', outcome: 'done', user_id: owner.id, token_id: null, surface: 'web_app', rows: ['P9'] },
    ])
  })
})

describe('a new board', () => {
  test.each([
    ['Autumn', 'columns', ['Autumn', 'To do', 'Doing', 'Review', 'Done']],
    ['Empty one', 'empty', ['This board has no columns yet']],
    ['', 'columns', ['Please check']],
  ])('%j has the columns of its template: %s', async (name, template, texts) => {
    await visitor.open(`${base}/do/boards.create`)
    const { status, shown } = await visitor.submit({ name, template }, base)
    expect(status).toBe(name === '' ? 422 : 200)
    for (const text of texts) expect(shown).toContain(text)
  })

  test('is offered beside the first token in a workspace without boards', async () => {
    const first = await service.person(await service.workspace('New'), 'owner')
    const page = (await (await signedIn(service, first)).request('/app')).shown
    for (const part of ['Create the first board', 'Let an agent work on it', 'curl http://localhost/v1/account'])
      expect(page).toContain(part)
  })
})

describe('the lists of a board', () => {
  // The controls of labels are tested in the browser, in looks.test.ts, and decided in operations-matrix.test.ts.
  test('have its people, who are added and removed', async () => {
    const other = await service.person(owner.workspaceId, 'member', 'Mia Other')
    await visitor.open(`${base}/boards/${boardId}/members`)
    expect(visitor.page!.shown).toContain('Olivia Stone created the board')
    const added = await visitor.submit({ user_id: other.id }, `${base}/do/board_members.add`)
    expect(added.shown).toMatch(/Mia Other added just now/)
    await visitor.submit({}, `${base}/do/board_members.remove`)
    expect((await api('GET', `/boards/${boardId}/members`)).length).toBe(1)
  })

  test('have its archive, where cards and columns are restored', async () => {
    const { id } = await card()
    await api('POST', `/cards/${id}/archive`)
    await api('POST', `/columns/${otherColumnId}/archive`)
    await visitor.open(`${base}/boards/${boardId}/archive`)
    expect(visitor.page!.shown).toMatch(/Columns Done archived .* Cards Notes archived/)
    await visitor.submit({}, `${base}/do/cards.restore`)
    await visitor.submit({}, `${base}/do/columns.restore`)
    expect(visitor.page!.shown).toContain('Nothing of this board is archived')
    expect((await api('GET', `/cards/${id}`)).archived_at).toBeNull()
  })
})

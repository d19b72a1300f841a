import { describe, expect, test } from 'vitest'
import { keys } from '../../src/store/keys.ts'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { GIF, png } from '../support/pictures.ts'
import { signedIn, Visitor } from '../support/visitor.ts'

const service = await startForSuite()
const { owner, visitor, api, base, boardId, columns } = await buildTeam(service, undefined, {
  name: 'Spring release',
  description: 'For the **spring**.',
  cover_color: '#1f6feb',
})
const [mira, ben] = [await service.person(owner.workspaceId, 'member', 'Mira Patel'), await service.person(owner.workspaceId)]
const boardPath = `${base}/boards/${boardId}`
const titlesOn = (html: string) => [...html.matchAll(/class="tile-title"[^>]*>([^<]*)</g)].map(([, title]) => title)
const create = (title: string, members = {}, person = owner) =>
  api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title, ...members }, person)
/** Another board with a column. @returns its path, and what creates a card there */
async function otherBoard(column: object) {
  const board = (await api('POST', '/boards', { name: 'Another' })).id
  const column_id = (await api('POST', `/boards/${board}/columns`, { name: 'Doing', ...column })).id
  const card = (title: string, members = {}) => api('POST', `/boards/${board}/cards`, { column_id, title, ...members })
  return { board, path: `${base}/boards/${board}`, card }
}
const complete = (id: string) => api('PUT', `/cards/${id}/completion`, { completed: true })
const cardPath = ({ id }: { id: string }) => `${base}/cards/${id}`
const read = async (path: string, from: Visitor = visitor) => (await from.request(path)).shown

describe('a board', () => {
  test('is columns of cards with labels, people, due times and counts', async () => {
    const label = await api('POST', `/boards/${boardId}/labels`, { name: 'urgent', color: '#cf222e' })
    const due_at = new Date(service.now - 1000).toISOString()
    const card = await create('Write notes', { due_at, label_ids: [label.id], assignee_ids: [owner.id], subtasks: ['a', 'b'] })
    await api('POST', `/cards/${card.id}/comments`, { body: 'Good.' })
    const other = await create('Print', { column_id: columns[1] })
    await complete(other.id)
    const { status, text, shown } = await visitor.request(boardPath)
    expect(status).toBe(200)
    for (const part of [
      'Spring release',
      'To do 1 cards',
      'urgent',
      'overdue since',
      '2 subtasks',
      '1 comment',
      'Doing 1 cards',
      'For the spring.',
    ])
      expect(shown).toContain(part)
    for (const part of ['aria-label="Olivia Stone"', 'fill="#cf222e"']) expect(text).toContain(part)
    expect((await visitor.request('/app')).text).toContain(boardPath)
    expect(await read(cardPath(other))).toMatch(/Done .* by Olivia Stone/)
  })

  test('does not say of a card that it is described if an import has only added its times', async () => {
    const { path, card } = await otherBoard({})
    await card('Times', { description: 'Created 2026-03-01 10:00 UTC by Ann (@ann), last changed 2026-05-05 00:00 UTC.' })
    expect(await read(path)).not.toContain('has a description')
    await card('Text', { description: 'Sow.\n\nCreated 2026-03-01 10:00 UTC.' })
    expect(await read(path)).toContain('has a description')
  })

  const [notes, print] = ['Write notes', 'Print']
  test.each([
    ['label=absent', [notes, print]],
    ['label=lbl_00000000000000000000&assignee=usr_00000000000000000000&column=col_00000000000000000000', [notes, print]],
    ['assignee=me', [notes]],
    ['assignee=none', [print]],
    ['label=none', [print]],
    ['label=none&q=notes', []],
    ['q=PRINT', [print]],
    ['state=done', [print]],
    ['state=open', [notes]],
    ['due=overdue', [notes]],
    ['due=week', []],
    ['due=none', [print]],
    ['due=any&assignee=me&q=notes', [notes]],
    ['due=nonsense&state=nonsense', [notes, print]],
  ])('with the filter %s shows what matches', async (query, titles) => {
    const page = await visitor.request(`${boardPath}?${query}`)
    expect({ status: page.status, titles: titlesOn(page.text) }).toEqual({ status: 200, titles })
  })

  test('the head of a column has its WIP limit, and a card has what blocks it and what it blocks', async () => {
    const board = await otherBoard({ wip_limit: 7 })
    const [first, done] = [await board.card('Sow <all>'), await board.card('Dig')]
    await complete(done.id)
    const card = await board.card('Water', { blocker_ids: [first.id, done.id] })
    const after = await board.card('Reap', { blocker_ids: [card.id] })
    expect(await read(board.path)).toContain('Doing 4 cards · limit 7')
    const { text, shown } = await visitor.request(cardPath(card))
    expect(shown).toMatch(/Blocked by Sow <all> .*Dig done .*Blocks Reap/)
    for (const one of [first, done, after]) expect(text).toContain(`href="${cardPath(one)}"`)
    const last = await read(cardPath(after))
    expect(last).toContain('Blocked by Water')
    expect(last).not.toContain('Blocks')
  })

  test('a claimed card says who holds it and until when, until the claim has run out', async () => {
    const board = await otherBoard({})
    const card = await board.card('Sow')
    const paths = [board.path, cardPath(card)]
    const pages = (from: Visitor = visitor) => Promise.all(paths.map((path) => read(path, from)))
    const expiries = () => Promise.all(paths.map(async (path) => /data-until="([^"]+)"/.exec((await visitor.request(path)).text)?.[1]))
    const minuteOf = (time: number) => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`
    const claim = () => api('PUT', `/cards/${card.id}/claim`, { ttl: 120 }, mira)
    const expectNone = async () => expect((await pages()).filter((text) => text.includes('Claimed by'))).toEqual([])
    await expectNone()
    expect(await expiries()).toEqual([undefined, undefined])
    await claim()
    const since = minuteOf(service.now)
    service.now += 60_000
    await claim()
    const until = minuteOf(service.now + 120_000)
    const name = 'test of Mira Patel'
    for (const person of [mira, owner, ben]) {
      const [onBoard, onCard] = await pages(await signedIn(service, person))
      expect(onBoard).toContain(`Claimed by ${name}, until ${until}, 2 min left`)
      expect(onCard).toMatch(new RegExp(`Claimed by ${name} since ${since} ?, until ${until}`))
    }
    const expiry = new Date(service.now + 120_000).toISOString()
    expect(await expiries()).toEqual([expiry, expiry])
    service.now += 120_000
    await expectNone()
    service.now -= 180_000
  })

  test('a card with more text than a page has markup for shows the rest as it is', async () => {
    const card = await create('Long', { description: '**first**\n'.repeat(1500) })
    for (let i = 0; i < 3; i++) await api('POST', `/cards/${card.id}/comments`, { body: '**later**\n'.repeat(400) })
    const { text } = await visitor.request(cardPath(card))
    const parts = ['<strong>first</strong>', '<strong>later</strong>', '**later**', '<br']
    // 2,000 lines have markup: the description and the first comment, with an empty line each.
    expect(parts.map((part) => text.split(part).length - 1)).toEqual([1500, 400, 800, 0])
  })

  test('with many cards shows the first ones of each column, and links to the others', async () => {
    const { board, path, card } = await otherBoard({ name: 'Many' })
    for (let i = 0; i < 104; i++) await card(`Card ${i}`)
    const few = await api('POST', `/boards/${board}/columns`, { name: 'Few' })
    await card('Last', { column_id: few.id })
    const before = await api('POST', `/boards/${board}/columns`, { name: 'Before' })
    await api('POST', `/columns/${before.id}/move`, { to: 'first' })
    await card('First', { column_id: before.id })
    const page = await visitor.request(path)
    const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_one, i) => `Card ${from + i}`)
    expect(titlesOn(page.text)).toEqual(['First', ...numbered(0, 50), 'Last'])
    expect(page.shown).toContain('Many 50+ cards')
    const link = /href="([^"]*\?column=[^"]*)"/.exec(page.text)![1]!.replaceAll('&amp;', '&')
    expect(titlesOn((await visitor.request(link)).text)).toEqual(numbered(50, 104))
  })
})

describe('a card', () => {
  test('has its text as safe Markdown, its subtasks, comments and attachments, with images shown', async () => {
    const description =
      '# Plan\n\n- [x] one\n- two\n\n<script>alert(1)</script> [x](javascript:alert(1)) [site](https://example.org) **bold**'
    const card = await create('<img src=x onerror=alert(1)>', { description, subtasks: ['First'] })
    await api('POST', `/cards/${card.id}/comments`, { body: 'I **agree**.' })
    const attachments: any[] = []
    for (const [name, type] of Object.entries({ 'sketch.png': 'image/png', 'page.svg': 'image/svg+xml' })) {
      const form = new FormData()
      form.set('file', new File([type === 'image/png' ? png(1, 1) : '<svg onload="alert(1)"/>'], name, { type }))
      form.set('visibility', 'board')
      attachments.push((await service.upload(owner.admin, `/cards/${card.id}/files`, form)).body.data)
    }
    const { text, shown } = await visitor.request(cardPath(card))
    for (const part of ['Plan', 'done: ☑ one', 'First', 'agree', 'sketch.png', 'page.svg', 'Olivia Stone']) expect(shown).toContain(part)
    expect(text).toContain('<a href="https://example.org" rel="noopener noreferrer nofollow">site</a>')
    expect(text).not.toMatch(/<script>|href="javascript|<img src="?x/)
    expect([...text.matchAll(/<img src="([^"]*)"/g)].map(([, path]) => path)).toEqual([`${base}/attachments/${attachments[0].id}/preview`])
    for (const { id, content_type } of attachments) {
      const { status, headers } = await visitor.request(`${base}/attachments/${id}`)
      expect({ status, ...Object.fromEntries(headers) }).toMatchObject({
        status: 200,
        'content-type': content_type === 'image/png' ? content_type : 'application/octet-stream',
        vary: 'Cookie',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'",
        'content-disposition': expect.stringMatching(/^attachment/),
      })
    }
  })

  test('its pictures are what their bytes are, and not larger than 40 megapixels', async () => {
    const card = await create('Pictures')
    const upload = async (content: string | Buffer<ArrayBuffer>, type = 'image/png') => {
      const form = new FormData()
      form.set('file', new File([content], 'a.png', { type }))
      return (await service.upload(owner.admin, `/cards/${card.id}/files`, form)).body.data
    }
    const forget = ({ file_id }: { readonly file_id: string }) =>
      service.write(owner.workspaceId, async (tx) => {
        const { picture: _, ...rest } = (await tx.get(keys.file(file_id)))!
        tx.put(keys.file(file_id), rest)
      })
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    const files = [
      await upload(png(2, 1)),
      await upload(GIF),
      await upload(svg),
      await upload(png(8000, 5001)),
      await upload(svg, 'image/svg+xml'),
    ]
    for (const isKnown of [true, false]) {
      for (const [i, { id }] of files.entries()) {
        const { status, headers } = await visitor.request(`${base}/attachments/${id}/picture`)
        const cover = await service.send(owner.admin, 'PUT', `/cards/${card.id}/cover`, { attachment_id: id })
        expect([i, status, ...(status === 200 ? [headers.get('content-type')] : [])]).toEqual([
          i,
          ...(i === 0 ? [200, 'image/png'] : i === 1 ? [200, 'image/gif'] : [404]),
        ])
        // The type of a file of an earlier version is determined when it is shown.
        if (isKnown) expect([i, cover.status]).toEqual([i, i < 2 ? 200 : 409])
      }
      const { text } = await visitor.request(cardPath(card))
      const pictures = files.slice(0, 2).map(({ id }) => `${base}/attachments/${id}/preview`)
      expect([...text.matchAll(/<img src="([^"]*)"/g)].map(([, path]) => path).toSorted()).toEqual(isKnown ? pictures.toSorted() : [])
      for (const file of files) await forget(file)
    }
  })

  test.each(['crd_00000000000000000000', 'nonsense', '%2e%2e'])('%s does not exist', async (id) =>
    expect((await visitor.request(cardPath({ id }))).status).toBe(404),
  )
})

test('another workspace in the path gives no access to a board', async () => {
  const other = await service.person(await service.workspace('Globex'))
  const foreign = await signedIn(service, other)
  for (const workspace of [owner.workspaceId, other.workspaceId, 'nonsense', '..'])
    expect((await foreign.request(`/app/${workspace}/boards/${boardId}`)).status).toBe(404)
})

const limited = await startForSuite({ rateLimits: { quotas: { token: 2, workspace: 1000, address: 1000 } } })
describe('the limit of pages and forms in each minute', async () => {
  const workspaceId = await limited.workspace()
  const signIn = async () => {
    const person = await limited.person(workspaceId)
    const visitor = await signedIn(limited, person)
    limited.now += 60_000
    return { person, visitor, form: { form_token: visitor.formToken } }
  }

  test('is counted for each person', async () => {
    const [{ visitor: first }, { visitor: other }] = [await signIn(), await signIn()]
    const statuses = []
    for (let i = 0; i < 9; i++) statuses.push((await first.request('/settings/tokens')).status)
    expect(statuses).toEqual([...Array.from({ length: 8 }, () => 200), 429])
    expect((await first.request('/app')).headers.get('retry-after')).toMatch(/^[1-9]\d?$/)
    expect((await other.request('/app')).status).toBe(200)
    limited.now += 60_000
    expect((await first.request('/app')).status).toBe(200)
  })

  test.each([
    '/settings/tokens/new',
    '/settings/tokens/WORKSPACE/tok_00000000000000000000/rotate',
    '/settings/account/alerts',
    '/settings/account/recovery-codes',
    '/settings/workspace/WORKSPACE',
  ])('counts a form as a page: %s', async (named) => {
    const path = named.replace('WORKSPACE', workspaceId)
    const { visitor, form } = await signIn()
    for (let i = 0; i < 8; i++) expect((await visitor.post(path, form)).status).not.toBe(429)
    expect((await visitor.post(path, form)).shown).toContain('Too many pages were opened, or forms sent.')
    expect((await visitor.request('/app')).status).toBe(429)
  })

  test('includes what the form of an operation reads', async () => {
    const { visitor, form } = await signIn()
    let sent = 0
    while (sent < 8 && (await visitor.post(`/app/${workspaceId}/do/boards.create`, form)).status !== 429) sent++
    expect(sent).toBeGreaterThan(0)
    expect(sent).toBeLessThan(8)
    expect((await visitor.request('/app')).status).toBe(429)
  })

  test.each([
    '/settings/tokens/WORKSPACE/tok_00000000000000000000/revoke',
    '/settings/workspace/WORKSPACE/tokens/tok_00000000000000000000/revoke',
    '/settings/account/sessions',
    '/settings/account/password',
  ])('counts a form that takes access away for its session: nobody with another session can keep the person from it: %s', async (named) => {
    const path = named.replace('WORKSPACE', workspaceId)
    const { person, visitor, form } = await signIn()
    const thief = new Visitor(limited)
    await thief.signIn(`${person.id}@example.org`)
    for (let i = 0; i < 12; i++) await thief.post(path, { form_token: thief.formToken })
    for (let i = 0; i < 12; i++) await thief.request('/app')
    expect((await visitor.request('/app')).status).toBe(429)
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await visitor.post(path, form)).status === 429)
    expect(statuses).toEqual([false, false, true])
  })
})

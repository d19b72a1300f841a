import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startListener } from '../../src/listener/listener.ts'
import { buildTeam, type Api } from '../support/board-team.ts'
import { EventReader } from '../support/event-reader.ts'
import { captureLog } from '../support/log.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'
import { signedIn, textOf, type Visitor } from '../support/visitor.ts'

const cookieOf = ({ jar }: Visitor): string => [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
const captured = captureLog()
let service: Service
let owner: Person
let visitor: Visitor
let api: Api
let boardId: string
let base: string
let columns: readonly string[]
const boardPath = () => `${base}/boards/${boardId}`
const titlesOn = (html: string) => [...html.matchAll(/class="tile-title"[^>]*>([^<]*)</g)].map(([, title]) => title)

beforeAll(async () => {
  service = await Service.start(memory, { log: captured.log, proxies: 1 })
  const board = { name: 'Spring release', description: 'For the **spring**.', cover_color: '#1f6feb' }
  ;({ owner, visitor, api, base, boardId, columns } = await buildTeam(service, undefined, board))
})
afterAll(() => service.stop())

describe('a board', () => {
  test('is columns of cards with labels, people, due times and counts', async () => {
    const label = await api('POST', `/boards/${boardId}/labels`, { name: 'urgent', color: '#cf222e' })
    const due_at = new Date(service.now - 1000).toISOString()
    const body = {
      column_id: columns[0],
      title: 'Write notes',
      due_at,
      label_ids: [label.id],
      assignee_ids: [owner.id],
      subtasks: ['a', 'b'],
    }
    const card = await api('POST', `/boards/${boardId}/cards`, body)
    await api('POST', `/cards/${card.id}/comments`, { body: 'Good.' })
    const other = await api('POST', `/boards/${boardId}/cards`, { column_id: columns[1], title: 'Print' })
    await api('PUT', `/cards/${other.id}/completion`, { completed: true })
    const page = await visitor.request(boardPath())
    const text = textOf(page.text)
    expect(page.status).toBe(200)
    for (const part of ['Spring release', 'To do 1 cards', 'urgent', 'overdue since', '2 subtasks', '1 comment', 'Doing 1 cards', 'Done'])
      expect(text).toContain(part)
    expect(page.text).toContain('aria-label="Olivia Stone"')
    expect(page.text).toContain('fill="#cf222e"')
    expect(text).toContain('For the spring.')
    expect((await visitor.request('/app')).text).toContain(boardPath())
    expect(textOf((await visitor.request(`${base}/cards/${other.id}`)).text)).toMatch(/Done .* by Olivia Stone/)
  })

  test.each([
    ['label=absent', ['Write notes', 'Print']],
    ['label=lbl_00000000000000000000&assignee=usr_00000000000000000000&column=col_00000000000000000000', ['Write notes', 'Print']],
    ['assignee=me', ['Write notes']],
    ['q=PRINT', ['Print']],
    ['state=done', ['Print']],
    ['state=open', ['Write notes']],
    ['due=overdue', ['Write notes']],
    ['due=week', []],
    ['due=none', ['Print']],
    ['due=any&assignee=me&q=notes', ['Write notes']],
    ['due=nonsense&state=nonsense', ['Write notes', 'Print']],
  ])('with the filter %s shows what matches', async (query, titles) => {
    const page = await visitor.request(`${boardPath()}?${query}`)
    expect([page.status, titlesOn(page.text)]).toEqual([200, titles])
  })

  test('the head of a column has its WIP limit, and a card has what blocks it and what it blocks', async () => {
    const board = (await api('POST', '/boards', { name: 'Order' })).id
    const column = await api('POST', `/boards/${board}/columns`, { name: 'Doing', wip_limit: 7 })
    const create = (title: string, members = {}) => api('POST', `/boards/${board}/cards`, { column_id: column.id, title, ...members })
    const [first, done] = [await create('Sow <all>'), await create('Dig')]
    await api('PUT', `/cards/${done.id}/completion`, { completed: true })
    const card = await create('Water', { blocker_ids: [first.id, done.id] })
    const after = await create('Reap', { blocker_ids: [card.id] })
    expect(textOf((await visitor.request(`${base}/boards/${board}`)).text)).toContain('Doing 4 cards · limit 7')
    const page = (await visitor.request(`${base}/cards/${card.id}`)).text
    expect(textOf(page)).toMatch(/Blocked by Sow <all> .*Dig done .*Blocks Reap/)
    for (const { id } of [first, done, after]) expect(page).toContain(`href="${base}/cards/${id}"`)
    const last = textOf((await visitor.request(`${base}/cards/${after.id}`)).text)
    expect([last.includes('Blocked by Water'), last.includes('Blocks')]).toEqual([true, false])
  })

  test('a claimed card says who holds it and until when, until the claim has run out', async () => {
    const mira = await service.person(owner.workspaceId, 'member', 'Mira Patel')
    const ben = await service.person(owner.workspaceId, 'member', 'Ben Carter')
    const board = (await api('POST', '/boards', { name: 'Claims' })).id
    const column = await api('POST', `/boards/${board}/columns`, { name: 'Doing' })
    const card = await api('POST', `/boards/${board}/cards`, { column_id: column.id, title: 'Sow' })
    const [boardPage, cardPage] = [`${base}/boards/${board}`, `${base}/cards/${card.id}`]
    const pages = async (from: Visitor) => [textOf((await from.request(boardPage)).text), textOf((await from.request(cardPage)).text)]
    const expiry = async (path: string) => /data-expiry="(\d+)"/.exec((await visitor.request(path)).text)?.[1]
    expect((await pages(visitor)).filter((text) => text.includes('Claimed'))).toEqual([])
    expect(await expiry(boardPage)).toBeUndefined()
    const minuteOf = (time: number) => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`
    await api('PUT', `/cards/${card.id}/claim`, { ttl: 120 }, mira)
    const since = minuteOf(service.now)
    service.now += 60_000
    await api('PUT', `/cards/${card.id}/claim`, { ttl: 120 }, mira)
    const until = minuteOf(service.now + 120_000)
    const named = async (person: Person) => {
      const [onBoard, onCard] = (await pages(await signedIn(service, person))) as [string, string]
      expect(onBoard).toContain(`until ${until} ( in 2 minutes )`)
      expect(onCard).toMatch(new RegExp(`since ${since} ?, until ${until}`))
      const [first, second] = [/Claimed by (.*?), until/.exec(onBoard)![1], /Claimed by (.*?), since/.exec(onCard)![1]]
      return [first, second]
    }
    expect(await named(mira)).toEqual(['your token “test”', expect.stringMatching(/Mira Patel your token “test”$/)])
    expect(await named(owner)).toEqual(['Mira Patel’s token “test”', expect.stringMatching(/Mira Patel Mira Patel’s token “test”$/)])
    expect(await named(ben)).toEqual(['Mira Patel, with a token', expect.stringMatching(/Mira Patel Mira Patel, with a token$/)])
    expect([await expiry(boardPage), await expiry(cardPage)]).toEqual(['120000', '120000'])
    service.now += 120_000
    expect((await pages(visitor)).filter((text) => text.includes('Claimed'))).toEqual([])
    service.now -= 180_000
  })

  test('a card with more text than a page has markup for shows the rest as it is', async () => {
    const card = await api('POST', `/boards/${boardId}/cards`, {
      column_id: columns[0],
      title: 'Long',
      description: '**first**\n'.repeat(1500),
    })
    for (let i = 0; i < 3; i++) await api('POST', `/cards/${card.id}/comments`, { body: '**later**\n'.repeat(400) })
    const { text } = await visitor.request(`${base}/cards/${card.id}`)
    const count = (part: string) => text.split(part).length - 1
    // 2,000 lines have markup: the description and the first comment, with an empty line each.
    expect([count('<strong>first</strong>'), count('<strong>later</strong>'), count('**later**')]).toEqual([1500, 400, 800])
    expect(count('<br')).toBe(0)
  })

  test('with many cards shows the first ones of each column, and links to the others', async () => {
    const large = (await api('POST', '/boards', { name: 'Large' })).id
    const column = await api('POST', `/boards/${large}/columns`, { name: 'Many' })
    const few = await api('POST', `/boards/${large}/columns`, { name: 'Few' })
    for (let i = 0; i < 104; i++) await api('POST', `/boards/${large}/cards`, { column_id: column.id, title: `Card ${i}` })
    await api('POST', `/boards/${large}/cards`, { column_id: few.id, title: 'Last' })
    const page = await visitor.request(`${base}/boards/${large}`)
    const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_one, i) => `Card ${from + i}`)
    expect(titlesOn(page.text)).toEqual([...numbered(0, 50), 'Last'])
    expect(textOf(page.text)).toContain('Many 50+ cards')
    const link = /href="([^"]*\?column=[^"]*)"/.exec(page.text)![1]!.replaceAll('&amp;', '&')
    const rest = await visitor.request(link)
    expect(titlesOn(rest.text)).toEqual(numbered(50, 104))
  })
})

describe('a card', () => {
  test('has its text as safe Markdown, its subtasks, comments and attachments, with images shown', async () => {
    const description =
      '# Plan\n\n- [x] one\n- two\n\n<script>alert(1)</script> [x](javascript:alert(1)) [site](https://example.org) **bold**'
    const title = '<img src=x onerror=alert(1)>'
    const card = await api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title, description, subtasks: ['First'] })
    await api('POST', `/cards/${card.id}/comments`, { body: 'I **agree**.' })
    const files = [
      ['sketch.png', 'image/png'],
      ['page.svg', 'image/svg+xml'],
    ] as const
    const attachments: any[] = []
    for (const [name, type] of files) {
      const form = new FormData()
      form.set('file', new File(['<svg onload="alert(1)"/>'], name, { type }))
      form.set('visibility', 'board')
      const request = new Request(`http://localhost/v1/cards/${card.id}/attachments`, {
        method: 'POST',
        headers: { authorization: `Bearer ${owner.admin}` },
        body: form,
      })
      attachments.push(((await (await service.app.fetch(request)).json()) as any).data)
    }
    const { text: html } = await visitor.request(`${base}/cards/${card.id}`)
    const text = textOf(html)
    for (const part of ['Plan', 'done: ☑ one', 'First', 'agree', 'sketch.png', 'page.svg', 'Olivia Stone']) expect(text).toContain(part)
    expect(html).toContain('<a href="https://example.org" rel="noopener noreferrer nofollow">site</a>')
    expect(html).not.toMatch(/<script>|href="javascript|<img src="?x/)
    expect([...html.matchAll(/<img src="([^"]*)"/g)].map(([, path]) => path)).toEqual([`${base}/attachments/${attachments[0].id}`])
    for (const { id, content_type } of attachments) {
      const { status, headers } = await visitor.request(`${base}/attachments/${id}`)
      const header = (name: string) => headers.get(name)
      expect([status, header('content-type'), header('vary'), header('x-content-type-options')]).toEqual([
        200,
        content_type,
        'Cookie',
        'nosniff',
      ])
      expect([header('content-security-policy'), header('content-disposition')?.slice(0, 10)]).toEqual([
        "sandbox; default-src 'none'",
        'attachment',
      ])
    }
  })

  test.each([['crd_00000000000000000000'], ['nonsense'], ['%2e%2e']])('%s does not exist', async (id) => {
    expect((await visitor.request(`${base}/cards/${id}`)).status).toBe(404)
  })
})

describe('access', () => {
  test('another workspace in the path gives no access to a board', async () => {
    const other = await service.person(await service.workspace('Globex'))
    const foreign = await signedIn(service, other)
    for (const workspace of [owner.workspaceId, other.workspaceId, 'nonsense', '..'])
      expect((await foreign.request(`/app/${workspace}/boards/${boardId}`)).status).toBe(404)
  })
})

describe('live changes', () => {
  const open = async (from: Visitor) =>
    new EventReader(await service.app.fetch(new Request(`http://localhost${boardPath()}/events`, { headers: { cookie: cookieOf(from) } })))
  /** Reads the events of a stream until one is about a card with this title. */
  const eventAbout = async (from: Visitor, title: string): Promise<any> => {
    const events = await open(from)
    for (;;) {
      const [{ data }] = (await events.take(1)) as [any]
      if (data.title !== title) continue
      await events.close()
      return data
    }
  }

  test('name the token to its person, and to owners and admins, but not to other members', async () => {
    const mira = await service.person(owner.workspaceId, 'member', 'Mira Patel')
    const ben = await service.person(owner.workspaceId, 'member', 'Ben Carter')
    await api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title: 'By Mira' }, mira)
    const by = async (person: Person) => (await eventAbout(await signedIn(service, person), 'By Mira')).by
    const own = await by(mira)
    const name = /^your token “(.+)”$/.exec(own)![1]
    expect([await by(owner), await by(ben)]).toEqual([`Mira Patel’s token “${name}”`, 'Mira Patel, with a token'])
    const { kind, action, card, id } = await eventAbout(visitor, 'By Mira')
    expect([kind, action, card]).toEqual(['card', 'created', id])
  })

  test('pages and forms of operations are limited for each person and minute, and forms of the settings are not', async () => {
    const limited = await Service.start(memory, { rateLimits: { quotas: { token: 2, workspace: 1000, address: 1000 } } })
    const [ann, bob] = [await limited.person(await limited.workspace()), await limited.person(await limited.workspace())]
    const [first, other] = [await signedIn(limited, ann), await signedIn(limited, bob)]
    limited.now += 60_000
    const statuses = []
    for (let i = 0; i < 9; i++) statuses.push((await first.request('/app')).status)
    expect(statuses).toEqual([...Array.from({ length: 8 }, () => 200), 429])
    expect((await first.request('/app')).headers.get('retry-after')).toMatch(/^[1-9]\d?$/)
    expect((await other.request('/app')).status).toBe(200)
    const form_token = other.formToken
    expect((await first.post(`/app/${ann.workspaceId}/do/boards.create`, { form_token })).status).toBe(429)
    expect((await first.post('/settings/sign-out', { form_token })).status).toBe(403)
    limited.now += 60_000
    expect((await first.request('/app')).status).toBe(200)
    await limited.stop()
  })

  test('are limited for each person, until their connections close', async () => {
    const quota = 1000
    const limited = await Service.start(memory, { rateLimits: { quotas: { token: quota, workspace: quota, address: quota }, inFlight: 2 } })
    const listener = await startListener(limited.app.h3, { port: 0, host: '127.0.0.1' })
    try {
      const [ann, bob] = [
        await limited.person(await limited.workspace('Few'), 'owner'),
        await limited.person(await limited.workspace('Other')),
      ]
      const boards = await Promise.all(
        [ann, bob].map(async (person) => (await limited.send(person.write, 'POST', '/boards', { name: 'One' })).body.data.id),
      )
      const cookies = await Promise.all([ann, bob].map(async (person) => cookieOf(await signedIn(limited, person))))
      const open = (who: 0 | 1, signal: AbortSignal | null = null) => {
        const path = `/app/${[ann, bob][who]!.workspaceId}/boards/${boards[who]}/events`
        return fetch(`${listener.url}${path}`, { headers: { cookie: cookies[who]! }, signal })
      }
      const close = new AbortController()
      const first = [await open(0, close.signal), await open(0, close.signal)]
      expect([...first.map(({ status }) => status), (await open(0)).status]).toEqual([200, 200, 429])
      const other = await open(1, close.signal)
      expect(other.status).toBe(200)
      close.abort()
      const again = new AbortController()
      await expect.poll(async () => (await open(0, again.signal)).status).toBe(200)
      again.abort()
    } finally {
      await listener.close()
      await limited.stop()
    }
  })
})

import { beforeAll, describe, expect, test } from 'vitest'
import { startAgent, type Agent } from '../support/agent.ts'
import { buildTeam, startForSuite, type BoardTeam } from '../support/board-team.ts'
import { EventReader } from '../support/event-reader.ts'
import type { Person } from '../support/service.ts'
import { formOf, signedIn, type Visitor } from '../support/visitor.ts'

const service = await startForSuite()
let team: BoardTeam
let ben: Person
let visitor: Visitor
let agent: Agent
let inbox: string
const create = async (title: string, more: object = {}): Promise<string> =>
  (await team.api('POST', `/boards/${team.boardId}/cards`, { column_id: team.columns[0], title, ...more })).id
const titleOf = (text: string) => /<title>([^<]*)</.exec(text)?.[1]
const shownOf = (text: string) =>
  [...text.matchAll(/<li id="ntc_\d+" class="(unread)?"[^>]*><p>.*?<a href="([^"]+)"[^>]*>([^<]*)<\/a>/gs)].map((one) => one.slice(1))

beforeAll(async () => {
  team = await buildTeam(service)
  ben = await service.person(team.owner.workspaceId, 'member', 'Ben Hill')
  visitor = await signedIn(service, ben)
  agent = startAgent(service, team.owner)
  inbox = `${team.base}/notices`
})

describe('the inbox', () => {
  test('is empty, says what will be there, and counts nothing', async () => {
    const page = await visitor.open('/app/notices')
    expect([page.shown, titleOf(page.text)]).toEqual([expect.stringContaining('Nothing yet. Questions of agents'), 'Inbox · Lanekeeper'])
    expect(page.text).toMatch(/ data-unread data-base=/)
  })

  test('shows what an agent asks, its count on each page, and the form that answers it', async () => {
    const card = await create('Logo', { assignee_ids: [ben.id] })
    await agent.ask(card, 'Blue or <green>?')
    const page = await visitor.open(inbox)
    const path = `${team.base}/cards/${card}`
    expect(shownOf(page.text)).toEqual([
      ['unread', path, expect.stringMatching(/^test of Olivia Stone asks on &quot;Logo&quot;: Blue or &lt;green>\?$/)],
      ['unread', path, expect.stringMatching(/^test of Olivia Stone assigned you to &quot;Logo&quot;\.$/)],
    ])
    for (const address of [inbox, '/app', '/settings/tokens'])
      expect([address, titleOf((await visitor.open(address)).text)]).toEqual([address, expect.stringMatching(/^\(2\) /)])
    const form = formOf(page.text, `${team.base}/do/cards.answer`)
    const answered = await visitor.post(form.action, { ...form.hidden, body: 'Blue.' })
    expect([answered.status, answered.location?.split('?')[0]]).toEqual([303, inbox])
    expect((await team.api('GET', `/cards/${card}?include=work`)).work.state).not.toBe('waiting')
    expect((await visitor.open(inbox)).text).not.toContain('/do/cards.answer')
  })

  test('a stuck card is tried again from there', async () => {
    const card = await create('Deploy', { assignee_ids: [ben.id] })
    await team.api('PATCH', `/columns/${team.columns[0]}`, { max_attempts: 1 })
    await agent.fail(card, 'It broke.', 60)
    const page = await visitor.open(inbox)
    expect(page.shown).toContain('"Deploy" is stuck')
    const form = formOf(page.text, `${team.base}/do/cards.retry`)
    await visitor.post(form.action, form.hidden)
    expect((await team.api('GET', `/cards/${card}?include=work`)).work.state).toBe('ready')
    expect((await visitor.open(inbox)).text).not.toContain('/do/cards.retry')
  })

  test('marks one notice, the notices of a card, and all that are shown: what has come since stays unread', async () => {
    const unread = (text: string) => shownOf(text).filter(([mark]) => mark === 'unread').length
    const page = await visitor.open(inbox)
    const before = unread(page.text)
    const [, id] = /<li id="(ntc_\d+)" class="unread"/.exec(page.text)!
    const token = formOf(page.text, inbox).hidden['form_token']!
    expect((await visitor.post(inbox, { form_token: token, id: id! })).location).toBe(inbox)
    expect(unread((await visitor.open(inbox)).text)).toBe(before - 1)
    const [, card] = /cards\/(crd_\w+)"[^>]*>[^<]*Logo/.exec(page.text)!
    const marked = await visitor.post(inbox, { form_token: token, card: card! }, { headers: { accept: 'application/json' } })
    expect([marked.status, marked.text]).toEqual([200, JSON.stringify({ unread: String(before - 3) })])
    const all = formOf((await visitor.open(inbox)).text, inbox).hidden
    service.now += 1000
    await create('Later', { assignee_ids: [ben.id] })
    await visitor.post(inbox, all)
    expect(
      shownOf((await visitor.open(inbox)).text)
        .filter(([mark]) => mark === 'unread')
        .map(([, , text]) => text),
    ).toEqual([expect.stringContaining('Later')])
  })

  test.each([
    ['nothing', {}, 303],
    ['an id of another kind', { id: 'crd_x' }, 422],
    ['no time', { before: 'yesterday' }, 422],
    ['a card that is none', { card: '<script>' }, 303],
  ])('a form with %s changes nothing', async (_what, fields, status) => {
    const page = await visitor.open(inbox)
    const token = formOf(page.text, inbox).hidden['form_token']!
    const received = await visitor.post(inbox, { form_token: token, ...fields } as Record<string, string>)
    expect(received.status).toBe(status)
    expect(shownOf((await visitor.open(inbox)).text)).toEqual(shownOf(page.text))
  })

  test('has nothing of a board that the person may not read any more, and counts nothing of it', async () => {
    await team.api('PUT', `/boards/${team.boardId}/visibility`, { visibility: 'private' })
    service.now += 60_000
    const page = await visitor.open(inbox)
    expect([page.text.includes('Later'), titleOf(page.text)]).toEqual([false, 'Inbox · Lanekeeper'])
    await team.api('PUT', `/boards/${team.boardId}/visibility`, { visibility: 'workspace' })
    service.now += 60_000
  })

  test('is of its person: somebody else, and a stranger, see nothing of it', async () => {
    const stranger = await signedIn(service, await service.person(await service.workspace('Other'), 'owner'))
    expect((await stranger.open(inbox)).status).toBe(404)
    expect(
      (
        await stranger.post(inbox, {
          form_token: formOf((await stranger.open('/app')).text, '/settings/sign-out').hidden['form_token']!,
          before: '2030-01-01T00:00:00Z',
        })
      ).status,
    ).toBe(404)
    expect((await team.visitor.open(inbox)).text).not.toContain('assigned you to')
  })
  test('the stream of a browser tells the count as it changes, beside boards and without them, and ends with the session', async () => {
    const open = async (board: readonly string[]) => {
      const query = new URLSearchParams(board.map((id) => ['board', id]))
      const { cookie } = visitor
      return new EventReader(await service.app.fetch(new Request(`http://localhost${team.base}/events?${query}`, { headers: { cookie } })))
    }
    const alone = await open(['notices'])
    const [first] = await alone.take(1)
    expect(first!.data).toEqual({ board: 'notices', update: { next: expect.stringMatching(/^\d*$/) } })
    const both = await open([team.boardId, 'notices', 'brd_00000000000000000000'])
    expect((await both.take(3)).map(({ event, data }) => `${event} ${data.board}`).toSorted()).toEqual(
      [`change ${team.boardId}`, 'change notices', 'error brd_00000000000000000000'].toSorted(),
    )
    await both.close()
    const count = Number(first!.data.update.next)
    await create('Live', { assignee_ids: [ben.id] })
    expect((await alone.take(1))[0]!.data.update.next).toBe(String(count + 1))
    const form = formOf((await visitor.open(inbox)).text, '/settings/sign-out')
    await visitor.post(form.action, { ...form.hidden, where: 'here' })
    expect((await alone.rest()).map(({ event, data }) => [event, data.board, data.error.code])).toEqual([
      ['error', 'notices', 'unauthorized'],
    ])
  })
})

import { describe, expect, test } from 'vitest'
import { startListener } from '../../src/listener/listener.ts'
import type { BoardUpdate } from '../../src/web/boards/board-update.ts'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { EventReader } from '../support/event-reader.ts'
import { load } from '../support/policy.ts'
import { readersOnly } from '../support/readers-only.ts'
import type { Person, Service, ServiceOptions } from '../support/service.ts'
import { signedIn, type Visitor } from '../support/visitor.ts'

/** A board with two columns and cards, as its people see it. */
async function buildBoard(options: ServiceOptions = {}) {
  const service = await startForSuite(options)
  const team = await buildTeam(service, ['To do', 'Done'])
  const { api, base, boardId, columns, owner } = team
  const path = `${base}/boards/${boardId}`
  const [todo, done] = columns as [string, string]
  const create = (title: string, members = {}) => api('POST', `/boards/${boardId}/cards`, { column_id: todo, title, ...members })
  const join = async (role: 'admin' | 'member', name: string) => service.person(owner.workspaceId, role, name)
  return { ...team, service, path, todo, done, create, join }
}

const cursorOn = (html: string) => /data-after="([^"]+)"/.exec(html)![1]!
/** The update of a page: what has changed since it was made. */
async function updateOf(visitor: Visitor, path: string, html: string, query = ''): Promise<BoardUpdate> {
  const page = await visitor.request(`${path}/changes?after=${cursorOn(html)}${query}`)
  expect(page.status).toBe(200)
  return JSON.parse(page.text)
}

/** The element with an id, as the page has it. */
function elementOn(html: string, tag: 'li' | 'section', id: string): string | undefined {
  return new RegExp(`<${tag} [^>]*id="${id}"[^]*?</${tag}>`).exec(html)?.[0]
}
const tilesOf = (update: BoardUpdate) => Object.fromEntries(Object.entries(update.tiles).map(([id, tile]) => [id, tile?.column ?? null]))

const board = await buildBoard()
const { service, api, visitor, path, todo, done, create, owner } = board

describe('the update of a board', () => {
  test('has the cards that have changed, where they are now, and null for what is not shown any more', async () => {
    const [moved, archived, deleted, same] = await Promise.all(['Sow', 'Weed', 'Dig', 'Water'].map((title) => create(title)))
    const html = (await visitor.request(path)).text
    const fresh = await create('Harvest')
    await api('POST', `/cards/${moved.id}/move`, { column_id: done, to: 'first' })
    await api('POST', `/cards/${archived.id}/archive`)
    await api('DELETE', `/cards/${deleted.id}`)
    await api('POST', `/cards/${same.id}/comments`, { body: 'Soon.' })
    const update = await updateOf(visitor, path, html)
    expect({ isWhole: update.isWhole, tiles: tilesOf(update) }).toEqual({
      isWhole: false,
      tiles: { [fresh.id]: todo, [moved.id]: done, [archived.id]: null, [deleted.id]: null, [same.id]: todo },
    })
    expect(update.tiles[same.id]!.html).toContain('>1<span class="unseen"> comment</span>')
    // The next one begins there.
    expect(await updateOf(visitor, path, `data-after="${update.next}"`)).toMatchObject({ changes: [], tiles: {}, lanes: {} })
  })

  test.each([
    ['label', async () => api('POST', `/boards/${board.boardId}/labels`, { name: 'urgent', color: '#cf222e' })],
    ['board', async () => api('PATCH', `/boards/${board.boardId}`, { name: 'Summer' })],
    ['many cards', async () => Promise.all(Array.from({ length: 31 }, (_none, i) => create(`Card ${i}`)))],
  ])('asks for the whole page after a change of a %s', async (_what, change) => {
    const html = (await visitor.request(path)).text
    await change()
    expect(await updateOf(visitor, path, html)).toMatchObject({ isWhole: true, tiles: {}, lanes: {} })
  })

  test('leaves out what the filters of the page leave out, and has what they show', async () => {
    const label = await api('POST', `/boards/${board.boardId}/labels`, { name: 'seed', color: '#1a7f37' })
    const html = (await visitor.request(path)).text
    const [seed, late] = [
      await create('Carrots', { label_ids: [label.id], assignee_ids: [owner.id] }),
      await create('Beans', { due_at: '2020-01-01T00:00:00Z' }),
    ]
    await api('PUT', `/cards/${late.id}/completion`, { completed: true })
    const shown = async (query: string) => {
      const { tiles } = await updateOf(visitor, path, html, `&${query}`)
      return [seed, late].flatMap(({ id, title }) => (tiles[id] === null ? [] : [title]))
    }
    expect(await shown('q=CARR')).toEqual(['Carrots'])
    expect(await shown(`label=${label.id}`)).toEqual(['Carrots'])
    expect(await shown('assignee=me')).toEqual(['Carrots'])
    expect(await shown(`assignee=${owner.id}&q=beans`)).toEqual([])
    expect(await shown('assignee=none')).toEqual(['Beans'])
    expect(await shown('label=none')).toEqual(['Beans'])
    expect(await shown('state=done')).toEqual(['Beans'])
    expect(await shown('due=any')).toEqual(['Beans'])
    // As on the page, what does not exist filters nothing.
    expect(await shown('label=lbl_00000000000000000000')).toEqual(['Carrots', 'Beans'])
  })

  test('has a card again whose claim has run out, although no change says so', async () => {
    const { id } = await create('Prune')
    await api('PUT', `/cards/${id}/claim`, { ttl: 60 })
    const html = (await visitor.request(path)).text
    const held = async () => (await updateOf(visitor, path, html, `&card=${id}`)).tiles[id]!.html.includes('Claimed by')
    expect({ element: elementOn(html, 'li', id), isHeld: await held() }).toEqual({
      element: expect.stringContaining('Claimed by'),
      isHeld: true,
    })
    service.now += 60_000
    expect(await held()).toBe(false)
    service.now -= 60_000
    const elsewhere = (await api('POST', '/boards', { name: 'Elsewhere' })).id
    const column_id = (await api('POST', `/boards/${elsewhere}/columns`, { name: 'Doing' })).id
    const other = await api('POST', `/boards/${elsewhere}/cards`, { column_id, title: 'Other' })
    expect(tilesOf(await updateOf(visitor, path, html, `&card=${other.id}`))[other.id]).toBe(null)
  })
})

// What they may do is another suite's: here, an update offers what the page offers, and shows what it shows.
describe.each([
  ['the shipped policy', {}],
  ['a policy that lets others only read a board', { engine: load(readersOnly()) }],
])('with %s, an update has the fragments of the page for', async (_name, options) => {
  const made = await buildBoard(options)
  const { id } = await made.create('Notes', { assignee_ids: [made.owner.id], due_at: '2030-01-01T00:00:00Z' })
  await made.api('PUT', `/cards/${id}/claim`, { ttl: 600 })

  test.each(['creator', 'admin', 'member'] as const)('%s', async (role) => {
    const person = role === 'creator' ? made.owner : await made.join(role, 'Mira Patel')
    const own = await signedIn(made.service, person)
    const before = (await own.request(made.path)).text
    await made.api('PATCH', `/cards/${id}`, { title: `Notes for ${role}` })
    await made.api('PATCH', `/columns/${made.todo}`, { name: `For ${role}`, wip_limit: 3 })
    const [update, after] = [await updateOf(own, made.path, before), (await own.request(made.path)).text]
    expect(after).toContain(`Notes for ${role}`)
    expect(update.tiles[id]!.html).toBe(elementOn(after, 'li', id))
    const withoutTiles = elementOn(after, 'section', made.todo)!.replace(/(<ol [^>]*>)[^]*<\/ol>/, '$1</ol>')
    // How many cards there are, and the keys of forms, the script writes. Each answer has the form token in another way.
    const withoutCount = (html: string) =>
      html.replace(/(data-limit="3">)\d/, '$1').replaceAll(/(name="form_(?:key|token)" value="?)[\w-]*"?/g, '$1')
    expect(withoutCount(update.lanes[made.todo]!.html)).toBe(withoutCount(withoutTiles))
    expect(update.as).toBe(/data-as="([^"]*)"/.exec(after)![1])
  })
})

describe('the stream of several boards', async () => {
  const open = async (from: Service, person: Person, boards: readonly string[], own?: Visitor) => {
    const { cookie } = own ?? (await signedIn(from, person))
    const query = new URLSearchParams(boards.map((id) => ['board', id]))
    return new EventReader(
      await from.app.fetch(new Request(`http://localhost/app/${person.workspaceId}/events?${query}`, { headers: { cookie } })),
    )
  }

  test('has the updates of each, and an event at once that says by what they are decided', async () => {
    const other = (await api('POST', '/boards', { name: 'Other' })).id
    const events = await open(service, owner, [board.boardId, other])
    const first = await events.take(2)
    expect(first.map(({ event, data }) => [event, data.board]).toSorted()).toEqual(
      [board.boardId, other].toSorted().map((id) => ['change', id]),
    )
    const column = (await api('POST', `/boards/${other}/columns`, { name: 'Doing' })).id
    const [{ data }] = (await events.take(1)) as [any]
    expect({ board: data.board, changes: data.update.changes.map(({ id }: any) => id), lanes: Object.keys(data.update.lanes) }).toEqual({
      board: other,
      changes: [column],
      lanes: [column],
    })
    await events.close()
  })

  test('names the cards whose claims end with their token, once', async () => {
    const ben = await board.join('member', 'Ben Carter')
    const cards = [await create('Mow'), await create('Rake'), await create('Hoe')]
    for (const { id } of cards.slice(0, 2)) await api('PUT', `/cards/${id}/claim`, { ttl: 300 }, ben)
    await api('PUT', `/cards/${cards[2].id}/claim`, { ttl: 300 })
    const events = await open(service, owner, [board.boardId])
    const [first] = (await events.take(1)) as [any]
    expect(first.data.update.ended).toEqual([])
    const body = new URLSearchParams({ token: ben.admin })
    expect((await service.app.fetch(new Request('http://localhost/revoke', { method: 'POST', body }))).status).toBe(200)
    const [{ data }] = (await events.take(1)) as [any]
    expect(data.update.changes).toEqual([])
    expect(data.update.ended.toSorted()).toEqual([cards[0].id, cards[1].id].toSorted())
    // What a change says is not said twice.
    await api('DELETE', `/cards/${cards[2].id}/claim`)
    const [next] = (await events.take(1)) as [any]
    expect(next.data.update).toMatchObject({ changes: [{ action: 'released', id: cards[2].id }], ended: [] })
    await events.close()
  })

  test('names the person and the token in the same way to everybody on the board', async () => {
    const [mira, ben] = [await board.join('member', 'Mira Patel'), await board.join('member', 'Ben Carter')]
    const cursor = cursorOn((await visitor.request(path)).text)
    const { id } = await api('POST', `/boards/${board.boardId}/cards`, { column_id: todo, title: 'By Mira' }, mira)
    await api('PUT', `/cards/${id}/claim`, {}, mira)
    for (const person of [mira, owner, ben]) {
      const { changes, tiles } = await updateOf(await signedIn(service, person), path, `data-after="${cursor}"`)
      const made = { kind: 'card', id, at: expect.stringMatching(/^\d{4}-.*Z$/), by: 'test of Mira Patel', isOwn: false }
      expect(changes).toMatchObject([
        { ...made, action: 'created', title: 'By Mira' },
        { ...made, action: 'claimed' },
      ])
      expect(tiles[id]!.html.replaceAll(/<[^>]*>/g, '')).toContain('Claimed by test of Mira Patel, until')
    }
  })

  test('ends for a board that its person has lost access to, and shows nothing of the change that follows; the other goes on', async () => {
    const mira = await board.join('member', 'Mira Patel')
    const secret = (await api('POST', '/boards', { name: 'Secret' })).id
    const events = await open(service, mira, [secret, board.boardId])
    await events.take(2)
    await api('PUT', `/boards/${secret}/visibility`, { visibility: 'private' })
    await api('POST', `/boards/${secret}/columns`, { name: 'Hidden' })
    const [{ event, data }] = (await events.take(1)) as [any]
    expect({ event, board: data.board, code: data.error.code }).toEqual({ event: 'error', board: secret, code: 'not_found' })
    const card = await create('Seen')
    const [{ data: next }] = (await events.take(1)) as [any]
    expect({ board: next.board, tiles: Object.keys(next.update.tiles) }).toEqual({ board: board.boardId, tiles: [card.id] })
    await events.close()
    // A stream that begins then has the other one too.
    const again = await open(service, mira, [secret, board.boardId])
    expect((await again.take(2)).map((one) => [one.event, one.data.board, one.data.error?.code])).toEqual([
      ['change', board.boardId, undefined],
      ['error', secret, 'not_found'],
    ])
    await again.close()
  })

  test('says that the page is to be fetched again after the policy was replaced', async () => {
    const other = await buildBoard()
    const events = await open(other.service, other.owner, [other.boardId])
    const [{ data: first }] = (await events.take(1)) as [any]
    other.service.app.replacePolicy(load(readersOnly()))
    const [{ data: next }] = (await events.take(1)) as [any]
    expect(next.update.as).not.toBe(first.update.as)
    expect(next.update.changes).toEqual([])
    await events.close()
  })

  const streaming = await startForSuite({ rateLimits: { quotas: { token: 1000, workspace: 1000, address: 1000 }, inFlight: 2 } })
  test('is limited for each person, until the connections close', async () => {
    const listener = await startListener(streaming.app.h3, { port: 0, host: '127.0.0.1' })
    const openerOf = (team: Awaited<ReturnType<typeof buildTeam>>) => {
      const headers = { cookie: team.visitor.cookie }
      return async (signal: AbortSignal | null = null) =>
        (await fetch(`${listener.url}${team.base}/events?board=${team.boardId}`, { headers, signal })).status
    }
    const [open, openOther] = [openerOf(await buildTeam(streaming)), openerOf(await buildTeam(streaming))]
    const [close, again] = [new AbortController(), new AbortController()]
    try {
      expect({
        first: await open(close.signal),
        second: await open(close.signal),
        third: await open(),
        other: await openOther(again.signal),
      }).toEqual({ first: 200, second: 200, third: 429, other: 200 })
      close.abort()
      await expect.poll(() => open(again.signal)).toBe(200)
    } finally {
      again.abort()
      await listener.close()
    }
  })
})

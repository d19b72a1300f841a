import { describe, expect, test } from 'vitest'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import type { Person } from '../support/service.ts'
import { signedIn } from '../support/visitor.ts'

const service = await startForSuite()
const { owner, visitor, api, base, boardId: open, columns } = await buildTeam(service, ['open column'], { name: 'The open board' })
const ben = await service.person(owner.workspaceId, 'member', 'Ben Carter')
const titlesOn = (html: string) => [...html.matchAll(/class="found-title"[^>]*>([^<]*)</g)].map(([, title]) => title)
const search = async (query: string, from = visitor) => from.request(`${base}/cards${query}`)
const days = (count: number) => new Date(service.now + count * 86_400_000).toISOString()
/** Creates a card that is due after some days. @returns its id */
async function create(board: string, column_id: string, title: string, due: number | null, people: readonly Person[]): Promise<string> {
  service.now += 1000
  const body = { column_id, title, due_at: due && days(due), assignee_ids: people.map(({ id }) => id) }
  return (await api('POST', `/boards/${board}/cards`, body)).id
}
/** Creates a board with a column. @returns the ids of both */
async function createBoard(name: string): Promise<[string, string]> {
  service.now += 1000
  const { id } = await api('POST', '/boards', { name })
  return [id, (await api('POST', `/boards/${id}/columns`, { name: 'A column' })).id]
}

const secret = await createBoard('The secret board')
await api('PUT', `/boards/${secret[0]}/visibility`, { visibility: 'private' })
const opened = [open, columns[0]!] as const
await create(...opened, 'Late mine', -2, [owner, ben])
await create(...opened, 'Late of Ben', -1, [ben])
const soon = await create(...opened, 'Soon', 3, [])
await create(...opened, 'Far', 30, [owner])
await create(...secret, 'Late secret', -3, [owner])
await create(...opened, 'Undated', null, [])
const finished = await create(...opened, 'Finished', -5, [owner])
service.now += 1000
await api('PUT', `/cards/${finished}/completion`, { completed: true })

describe('the cards of all boards', () => {
  test.each([
    ['', ['Late secret', 'Late mine', 'Far']],
    ['?view=mine&state=done', ['Finished']],
    ['?view=mine&state=all', ['Finished', 'Late secret', 'Late mine', 'Far']],
    ['?view=overdue', ['Late secret', 'Late mine', 'Late of Ben']],
    ['?view=overdue&assignee=me', ['Late secret', 'Late mine']],
    ['?view=overdue&state=done', ['Late secret', 'Late mine', 'Late of Ben']],
    ['?view=week', ['Soon']],
    ['?view=week&assignee=me', []],
    ['?view=recent&assignee=me', ['Finished', 'Late secret', 'Far', 'Late mine']],
    ['?view=recent&state=open&q=late', ['Late secret', 'Late of Ben', 'Late mine']],
    ['?q=LATE%20of', ['Late of Ben']],
    ['?view=mine&q=%20%20late%20mine', ['Late mine']],
    // What makes no sense filters nothing.
    ['?view=nonsense&state=nonsense&assignee=nonsense', ['Late secret', 'Late mine', 'Far']],
    ['?q=%22%22', ['Late secret', 'Late mine', 'Far']],
    ['?view=constructor', ['Late secret', 'Late mine', 'Far']],
    [`?q=${'late'.repeat(100)}`, []],
  ])('with %s', async (query, titles) => {
    const page = await search(query)
    expect({ status: page.status, titles: titlesOn(page.text) }).toEqual({ status: 200, titles })
  })

  test('have their board, column, due time, state and people', async () => {
    const { text: page, shown: text } = await search('?view=recent')
    for (const part of [`Undated The open board · open column`, 'Done', 'overdue since']) expect(text).toContain(part)
    for (const link of [`${base}/cards/${soon}`, `${base}/boards/${open}`]) expect(page).toContain(`href="${link}"`)
    expect(page).toContain('aria-label="Ben Carter"')
    expect((await search('?q=%3Cabsent')).shown).toContain('No card here has “<absent” in its title or description.')
  })

  test('of a private board are not there for those who are no members of it, in no view', async () => {
    const other = await signedIn(service, ben)
    const views = ['mine', 'overdue', 'week', 'recent', 'recent&state=done', 'mine&state=all', 'recent&q=secret']
    for (const query of views) {
      const { status, text } = await search(`?view=${query}`, other)
      expect({ query, status, hasTitle: /Late secret|The secret board/.test(text), hasId: text.includes(secret[0]) }).toEqual({
        query,
        status: 200,
        hasTitle: false,
        hasId: false,
      })
    }
  })

  test('come in pages, each once, and a link leads on', async () => {
    const large = await createBoard('Large')
    for (let i = 0; i < 120; i++) await create(...large, `Numbered ${i}`, 40 + i, [owner])
    const titles: (string | undefined)[] = []
    const sizes: number[] = []
    for (let query: string | undefined = '?view=mine&q=Numbered'; query !== undefined;) {
      const page: { text: string } = await search(query)
      const found = titlesOn(page.text)
      titles.push(...found)
      sizes.push(found.length)
      query = /class="button" href="([^"]*)">More cards/.exec(page.text)?.[1]!.replaceAll('&amp;', '&')
      expect(page.text.includes('First cards')).toBe(sizes.length > 1)
    }
    expect({ sizes, titles }).toEqual({ sizes: [50, 50, 20], titles: Array.from({ length: 120 }, (_one, i) => `Numbered ${i}`) })
    await api('DELETE', `/boards/${large[0]}`)
  })

  test.each(['?cursor=nonsense', '?view=recent&cursor=%00', '?cursor='])(
    '%s is answered as the pages of boards answer it',
    async (query) => {
      const page = await search(query)
      expect({ status: page.status, text: page.text }).toEqual({ status: 422, text: expect.stringContaining('This link is not complete') })
    },
  )
})

describe('the search in everything', () => {
  type Found = { readonly name: string; readonly detail: string; readonly address: string; readonly board?: string }
  const find = async (query: string, from = visitor): Promise<readonly Found[]> =>
    JSON.parse((await from.request(`${base}/find${query}`)).text).found
  const texts = async (query: string, from = visitor) => (await find(query, from)).map(({ name, detail }) => `${name} (${detail})`)

  test.each([
    ['?q=BOARD%20öpen', ['The open board (Board)']],
    ['?q=the', ['The secret board (Board)', 'The open board (Board)']],
    ['?q=of%20late', ['Late of Ben (The open board)']],
    ['?q=finished', ['Finished (The open board, done)']],
    ['?q=nothing%20has%20this', []],
    [`?q=${'late'.repeat(100)}`, []],
  ])('finds boards by their names, and cards: %s', async (query, expected) => {
    expect(await texts(query)).toEqual(expected)
  })

  test.each(['', '?q=', '?q=%22%22', '?q=%20'])('shows what was changed last without words: %s', async (query) => {
    const found = await texts(query)
    expect(found.slice(0, 4)).toEqual([
      'The secret board (Board)',
      'The open board (Board)',
      'Finished (The open board, done)',
      'Undated (The open board)',
    ])
  })

  test('leads to boards and cards, and names the board of a card', async () => {
    expect(await find('?q=soon')).toEqual([{ name: 'Soon', detail: 'The open board', address: `${base}/cards/${soon}`, board: open }])
    expect((await find('?q=open'))[0]).toEqual({ name: 'The open board', detail: 'Board', address: `${base}/boards/${open}` })
  })

  test('shows to nobody what they may not read', async () => {
    const other = await signedIn(service, ben)
    expect({ late: await texts('?q=late', other), secret: await texts('?q=secret', other) }).toEqual({
      late: ['Late of Ben (The open board)', 'Late mine (The open board)'],
      secret: [],
    })
    const stranger = await signedIn(service, await service.person(await service.workspace('Other'), 'owner'))
    expect((await stranger.request(`${base}/find?q=late`)).status).toBe(404)
  })

  test('is in the header of every page, and without JavaScript is the search of cards', async () => {
    for (const path of ['/app', '/settings/account', `${base}/boards/${open}`]) {
      const { text } = await visitor.open(path)
      expect([path, /<a class="find" href="([^"]+)"/.exec(text)?.[1]]).toEqual([path, `${base}/cards?view=recent`])
    }
    expect((await search('?view=recent')).status).toBe(200)
  })
})

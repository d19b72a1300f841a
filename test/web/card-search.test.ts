import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { captureLog } from '../support/log.ts'
import { buildTeam, type Api } from '../support/board-team.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'
import { signedIn, textOf, type Visitor } from '../support/visitor.ts'

const captured = captureLog()
let service: Service
let owner: Person
let ben: Person
let visitor: Visitor
let api: Api
let base: string
const boards: Record<'open' | 'secret', string> = { open: '', secret: '' }
const columns: Record<'open' | 'secret', string> = { open: '', secret: '' }
const cards: Record<string, string> = {}
const titlesOn = (html: string) => [...html.matchAll(/class="found-title"[^>]*>([^<]*)</g)].map(([, title]) => title)
const search = async (query: string, from = visitor) => from.request(`${base}/cards${query}`)
const days = (count: number) => new Date(service.now + count * 86_400_000).toISOString()

beforeAll(async () => {
  service = await Service.start(memory, { log: captured.log, proxies: 1 })
  ;({ owner, visitor, api, base } = await buildTeam(service, []))
  ben = await service.person(owner.workspaceId, 'member', 'Ben Carter')
  for (const name of ['open', 'secret'] as const) {
    boards[name] = (await api('POST', '/boards', { name: `The ${name} board` })).id
    columns[name] = (await api('POST', `/boards/${boards[name]}/columns`, { name: `${name} column` })).id
  }
  await api('PUT', `/boards/${boards.secret}/visibility`, { visibility: 'private' })
  const all: [string, 'open' | 'secret', number | null, Person[]][] = [
    ['Late mine', 'open', -2, [owner, ben]],
    ['Late of Ben', 'open', -1, [ben]],
    ['Soon', 'open', 3, []],
    ['Far', 'open', 30, [owner]],
    ['Late secret', 'secret', -3, [owner]],
    ['Undated', 'open', null, []],
    ['Finished', 'open', -5, [owner]],
  ]
  for (const [title, board, due, people] of all) {
    service.now += 1000
    const body = { column_id: columns[board], title, due_at: due && days(due), assignee_ids: people.map(({ id }) => id) }
    cards[title] = (await api('POST', `/boards/${boards[board]}/cards`, body)).id
  }
  service.now += 1000
  await api('PUT', `/cards/${cards['Finished']}/completion`, { completed: true })
})
afterAll(() => service.stop())

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
    ['?view=constructor', ['Late secret', 'Late mine', 'Far']],
    [`?q=${'late'.repeat(100)}`, []],
  ])('with %s', async (query, titles) => {
    const page = await search(query)
    expect([page.status, titlesOn(page.text)]).toEqual([200, titles])
  })

  test('have their board, column, due time, state and people', async () => {
    const page = (await search('?view=recent')).text
    const text = textOf(page)
    for (const part of [`Undated The open board · open column`, 'Done', 'overdue since']) expect(text).toContain(part)
    for (const link of [`${base}/cards/${cards['Soon']}`, `${base}/boards/${boards.open}`]) expect(page).toContain(`href="${link}"`)
    expect(page).toContain('aria-label="Ben Carter"')
    expect(textOf((await search('?q=%3Cabsent')).text)).toContain('No card here has “<absent” in its title or description.')
  })

  test('of a private board are not there for those who are no members of it, in no view', async () => {
    const other = await signedIn(service, ben)
    const views = [
      '?view=mine',
      '?view=overdue',
      '?view=week',
      '?view=recent',
      '?view=recent&state=done',
      '?q=secret',
      '?view=mine&state=all',
    ]
    for (const query of views) {
      const { status, text } = await search(query, other)
      expect([query, status, /Late secret|The secret board/.test(text), text.includes(boards.secret)]).toEqual([query, 200, false, false])
    }
  })

  test('come in pages, each once, and a link leads on', async () => {
    const board = (await api('POST', '/boards', { name: 'Large' })).id
    const column = await api('POST', `/boards/${board}/columns`, { name: 'Many' })
    for (let i = 0; i < 120; i++)
      await api('POST', `/boards/${board}/cards`, {
        column_id: column.id,
        title: `Numbered ${i}`,
        due_at: days(40 + i),
        assignee_ids: [owner.id],
      })
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
    expect([sizes, titles]).toEqual([[50, 50, 20], Array.from({ length: 120 }, (_one, i) => `Numbered ${i}`)])
    await api('DELETE', `/boards/${board}`)
  })

  test.each(['?cursor=nonsense', '?view=recent&cursor=%00', '?cursor='])(
    '%s is answered as the pages of boards answer it',
    async (query) => {
      const page = await search(query)
      expect([page.status, page.text.includes('This link is not complete')]).toEqual([422, true])
    },
  )
})

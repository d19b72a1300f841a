import fc from 'fast-check'
import { Fragment, h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { beforeAll, describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { limits } from '../../src/model/limits.ts'
import { mentionsIn, withNames } from '../../src/resources/notices/mentions.ts'
import { createProse } from '../../src/web/markdown.ts'
import { startAgent } from '../support/agent.ts'
import { buildTeam, startForSuite, type BoardTeam } from '../support/board-team.ts'
import { runs } from '../support/effort.ts'
import type { Person } from '../support/service.ts'
import { signedIn } from '../support/visitor.ts'

const [ANA, EVE, LEFT] = ['usr_0000000000000000000a', 'usr_0000000000000000000e', 'usr_00000000000000000000'] as const
const NAMES: Readonly<Record<string, string>> = { [ANA]: 'Ana Ruiz', [EVE]: '"><img src=x onerror=alert(1)>&' }
const nameOf = (id: string) => NAMES[id]
const render = (text: string) =>
  renderToString(h(Fragment, null, createProse({ nameOf })(text))).replaceAll(/ (?:dir|class="level)[^ >]*/g, '')
const shown = (id: string, name: string) => `<bdi class="mention" title="${id}">@${name}</bdi>`
const ana = shown(ANA, 'Ana Ruiz')

describe('a mention is shown by its name', () => {
  test.each<[where: string, text: string, html: string]>([
    ['alone', `@${ANA}`, `<p>${ana}</p>`],
    ['at the beginning and at the end', `@${ANA} or @${ANA}`, `<p>${ana} or ${ana}</p>`],
    ['next to punctuation', `(@${ANA}), @${ANA}. “@${ANA}”!`, `<p>(${ana}), ${ana}. “${ana}”!</p>`],
    ['in two lines', `Dear\n@${ANA}`, `<p>Dear\n${ana}</p>`],
    ['in strong and emphasized text', `**@${ANA}** *to @${ANA}*`, `<p><strong>${ana}</strong> <em>to ${ana}</em></p>`],
    ['in a heading', `# For @${ANA}`, `<h3>For ${ana}</h3>`],
    ['in a list', `- @${ANA}`, `<ul><li>${ana}</li></ul>`],
    ['in a quotation', `> @${ANA}`, `<blockquote><p>${ana}</p></blockquote>`],
    [
      'in the label of a link',
      `[@${ANA}](https://a.example)`,
      `<p><a href="https://a.example" rel="noopener noreferrer nofollow">${ana}</a></p>`,
    ],
    ['with markup in the name', `@${EVE}`, `<p>${shown(EVE, '&quot;>&lt;img src=x onerror=alert(1)>&amp;')}</p>`],
    ['of a former member: as text', `@${LEFT}`, `<p>@${LEFT}</p>`],
    ['that is no id: as text', '@usr_123 @Ana', '<p>@usr_123 @Ana</p>'],
    ['in a word: as text', `x@${ANA} @${ANA}x @@${ANA} .@${ANA}`, `<p>x@${ANA} @${ANA}x @@${ANA} .@${ANA}</p>`],
    ['in code: as text', `\`@${ANA}\``, `<p><code>@${ANA}</code></p>`],
    ['in lines of code: as text', `\`\`\`\n@${ANA}\n\`\`\``, `<pre><code>@${ANA}</code></pre>`],
    ['in code without an end: as text', `\`\`\`\n@${ANA}`, `<pre><code>@${ANA}</code></pre>`],
    ['after code', `\`\`\`\na\n\`\`\`\n\`b\` @${ANA}`, `<pre><code>a</code></pre><p><code>b</code> ${ana}</p>`],
    [
      'in an address: as text',
      `https://a.example/@${ANA}`,
      `<p><a href="https://a.example/@${ANA}" rel="noopener noreferrer nofollow">https://a.example/@${ANA}</a></p>`,
    ],
  ])('%s', (_where, text, html) => {
    expect(render(text)).toBe(html)
  })

  test('in a text of names alone, where it has no code', async () => {
    const text = `@${ANA} \`@${ANA}\` https://a.example/@${ANA} [@${ANA}](https://a.example/@${ANA}) @${LEFT}`
    expect(await withNames(text, nameOf)).toBe(
      `@Ana Ruiz \`@${ANA}\` https://a.example/@${ANA} [@Ana Ruiz](https://a.example/@${ANA}) @${LEFT}`,
    )
  })
})

// Who is shown by name is told, and nobody else: the text is read in two ways.
test('a text mentions whom its page shows by name', async () => {
  const ids = Array.from({ length: 5 }, (_, i) => `usr_000000000000000000${String(i).padStart(2, '0')}`)
  const piece = fc.constantFrom(
    ...ids.map((id) => `@${id}`),
    '`',
    '```',
    '\n',
    '\n\n',
    '\r\n',
    '*',
    '**',
    '[',
    ']',
    '](https://a.example/',
    ')',
    'https://b.example/',
    ' ',
    'a',
    '.',
    '# ',
    '- ',
    '> ',
    '1. ',
  )
  const text = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(''))
  await fc.assert(
    fc.asyncProperty(text, async (one) => {
      const html = renderToString(h(Fragment, null, createProse({ nameOf: (id) => id })(one)))
      const named = new Set([...html.matchAll(/<bdi class="mention" title="(usr_\w+)">@\1<\/bdi>/g)].map(([, id]) => id))
      expect([...named].toSorted()).toEqual((await mentionsIn(one)).toSorted())
    }),
    runs(2000),
  )
})

test('a text of many mentions, or of half ones, is read in time that grows with its length', async () => {
  const most = limits.commentBody
  for (const part of [`@${ANA} `, '`', '```\n', '[', '**', 'http://', '@usr_']) {
    const text = `@${LEFT} ${part.repeat(most / part.length)}`
    expect((await mentionsIn(text)).length).toBeLessThanOrEqual(2)
    expect((await withNames(text, nameOf)).length).toBeGreaterThan(0)
  }
})

test('a text that is too long for markup has names, and one of too many names is shown as it is', () => {
  const shownOf = (text: string) => renderToString(h(Fragment, null, createProse({ nameOf })(text)))
  expect(shownOf(`Ask @${ANA}, **now**.${'\n'.repeat(2001)}`).trimEnd()).toContain(`Ask ${shown(ANA, nameOf(ANA)!)}, **now**.`)
  expect(shownOf(`@${ANA} `.repeat(3000) + '\n'.repeat(2001))).not.toContain('<bdi')
})

describe('on pages', async () => {
  const service = await startForSuite()
  let team: BoardTeam
  let ben: Person
  let cardId: string
  const mention = () => `@${ben.id}`
  const openCard = async (query = '') => (await team.visitor.open(`${team.base}/cards/${cardId}${query}`)).text
  const element = () => `<bdi class="mention" title="${ben.id}">@Ben &lt;Hill></bdi>`

  beforeAll(async () => {
    team = await buildTeam(service)
    ben = await service.person(team.owner.workspaceId, 'member', 'Ben <Hill>')
    const created = { column_id: team.columns[0], title: 'Poster', description: `For ${mention()}.` }
    cardId = (await team.api('POST', `/boards/${team.boardId}/cards`, created)).id
    await team.api('POST', `/cards/${cardId}/comments`, { body: `Is it you, ${mention()}?` })
    const agent = startAgent(service, team.owner)
    await agent.fail(cardId, `Not without ${mention()}.`, 0)
    await agent.ask(cardId, `May ${mention()}?`)
  })

  test('descriptions, comments, questions and answers have names', async () => {
    const asked = await openCard()
    for (const text of [`For ${element()}.`, `Is it you, ${element()}?`]) expect(asked).toContain(text)
    // Once at the top, and once among the comments.
    expect(asked.split(`May ${element()}?`).length - 1).toBe(2)
    expect(asked).toContain(`Not without ${element()}.`)
    // The editor has the id.
    expect(asked).toMatch(new RegExp(`<textarea[^>]*>For ${mention()}.</textarea>`))
  })

  test('the history, tiles, lists of cards and their updates have names', async () => {
    expect(await openCard('?history')).toContain('Not without @Ben &lt;Hill>.')
    for (const path of [`boards/${team.boardId}`, 'cards?view=recent'])
      expect((await team.visitor.open(`${team.base}/${path}`)).shown).toContain('Asks: May @Ben <Hill>?')
    const { changes_cursor: after } = await team.api('GET', `/boards/${team.boardId}?include=columns`)
    const update = await team.visitor.request(`${team.base}/boards/${team.boardId}/changes?after=${after}&card=${cardId}`)
    expect(JSON.parse(update.text).tiles[cardId].html).toContain('Asks: <bdi>May @Ben &lt;Hill>?</bdi>')
  })

  test('an answer has names, and so has the inbox', async () => {
    const visitor = await signedIn(service, ben)
    expect((await visitor.open(`${team.base}/notices`)).shown).toContain('mentioned you on "Poster": May @Ben <Hill>?')
    await team.api('POST', `/cards/${cardId}/answer`, { body: `Yes, ${mention()}.` })
    expect(await openCard()).toContain(`Yes, ${element()}.`)
  })

  describe('an editor whose text can mention people', () => {
    const people = () => `${team.base}/boards/${team.boardId}/people`
    const offered = async (from = team.visitor) => {
      const { status, text } = await from.request(people())
      return status === 200 ? JSON.parse(text).people : status
    }

    test('says where their names are, and no other one does', async () => {
      const areas = (text: string) =>
        [...text.matchAll(/<textarea ([^>]*)>/g)].map(([, attributes]) => [
          /name="(\w+)"/.exec(attributes!)![1],
          /data-people="([^"]*)"/.exec(attributes!)?.[1],
        ])
      const form = async (query: string) => areas((await team.visitor.open(`${team.base}/do/${query}`)).text)
      expect(areas(await openCard())).toEqual([
        ['description', people()],
        ['body', people()],
      ])
      expect(await form(`cards.create?board_id=${team.boardId}`)).toContainEqual(['description', people()])
      const [comment] = await team.api('GET', `/cards/${cardId}/comments`)
      expect(await form(`comments.update?comment_id=${comment.id}`)).toEqual([['body', people()]])
      expect(await form(`boards.update?board_id=${team.boardId}`)).toEqual([['description', undefined]])
    })

    test('gets everybody who can read the board, in the order of their names, and not the person', async () => {
      const twin = await service.person(team.owner.workspaceId, 'member', 'Ben <Hill>')
      const adam = await service.person(team.owner.workspaceId, 'member', 'Ádám')
      const all = [adam, ...[ben, twin].map(({ id }) => ({ id }))].map(({ id }) => id)
      expect(new Set((await offered()).map(({ id }: { id: string }) => id))).toEqual(new Set(all))
      const named = (id: string) => `Ben <Hill> (${id.slice(-4)})`
      expect((await offered()).map(({ name }: { name: string }) => name)).toEqual(['Ádám', ...[named(ben.id), named(twin.id)].toSorted()])
      await team.api('PUT', `/boards/${team.boardId}/visibility`, { visibility: 'private' })
      await team.api('PUT', `/boards/${team.boardId}/members/${adam.id}`)
      expect(await offered()).toEqual([{ id: adam.id, name: 'Ádám' }])
      expect(await offered(await signedIn(service, twin))).toBe(404)
      await team.api('PUT', `/boards/${team.boardId}/visibility`, { visibility: 'workspace' })
    })

    test('gets nothing in another workspace, without a session, or for what is no board', async () => {
      const stranger = await signedIn(service, await service.person(await service.workspace('Other'), 'owner'))
      expect(await offered(stranger)).toBe(404)
      expect((await stranger.request(people(), { headers: { cookie: null } })).status).toBe(401)
      expect((await team.visitor.request(`${team.base}/boards/x/people`)).status).toBe(404)
    })
  })

  test('somebody who has left is an id again, on pages and in notices', async () => {
    const zoe = await service.person(team.owner.workspaceId, 'member', 'Zoë')
    const gone = await service.person(team.owner.workspaceId, 'member', 'Gone')
    await team.api('POST', `/cards/${cardId}/comments`, { body: `@${zoe.id} and @${gone.id}` })
    const visitor = await signedIn(service, zoe)
    const inbox = async () => (await visitor.open(`${team.base}/notices`)).shown
    expect(await inbox()).toContain('@Zoë and @Gone')
    await endMembership(service.adminDeps, team.owner.workspaceId, gone.id)
    expect(await inbox()).toContain(`@Zoë and @${gone.id}`)
    expect(await openCard()).toContain(`@Zoë</bdi> and @${gone.id}<`)
  })
})

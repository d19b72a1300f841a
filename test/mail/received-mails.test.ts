import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { createMailer, type Mail } from '../../src/mail/mailer.ts'
import { NoticeMailer } from '../../src/mail/notice-mails.ts'
import { noticeKinds, type NoticeKind } from '../../src/model/notice-kind.ts'
import { DAY, HOUR, MINUTE } from '../../src/model/time.ts'
import { buildTeam, startForSuite, type BoardTeam } from '../support/board-team.ts'
import { expectAccessible, expectFits, openBrowser, openWindow, screenshot } from '../support/chromium.ts'
import { captureLog } from '../support/log.ts'
import { startMailServer } from '../support/mail-server.ts'
import { headerOf, readMails, type ReadMail } from '../support/read-mails.ts'
import type { Person } from '../support/service.ts'
import { giveAccount, Visitor } from '../support/visitor.ts'

// A mail about each kind of notice goes to a mail server, and another library reads it.
const URL_OF_SERVICE = 'https://kanban.example'
const server = await startMailServer()
const captured = captureLog()
const { send } = createMailer({ url: server.url, from: 'Lanekeeper <kanban@example.org>', log: captured.log })
const sentHtml: (string | undefined)[] = []
const mail = (one: Mail): void => {
  sentHtml.push(one.html)
  send(one)
}
const service = await startForSuite({ mail, url: URL_OF_SERVICE, sendDelivery: async () => ({ status: 410 }) })
const services = () => service.app.services
const mailer = () =>
  new NoticeMailer({ ...service.deps, services, send: mail, url: URL_OF_SERVICE, counters: undefined, log: captured.log })
afterAll(async () => {
  service.app.stop()
  await server.close()
})

const NAME = 'Zoë Öztürk 🦊'
const ACTOR = 'שירה כהן'
const TITLE = 'Größe 🎉 <b onclick="x">fett</b> & "quer" مرحبا'
const SCRIPT = '</a></p><script>alert(1)</script><img src="https://evil.example/x.png" onerror="alert(1)">'
const HEADERS = 'So.\r\nBcc: eve@example.org\r\n\r\n.\r\nMAIL FROM:<eve@example.org>'
const OF_MAIL = ['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to']
const ALL_HEADERS = [...OF_MAIL, 'list-unsubscribe', 'list-unsubscribe-post'].toSorted()
const LONG = 'sehr_langes_wort_ohne_leerzeichen_'.repeat(30)

let team: BoardTeam
let zoe: Person
let actor: Person
let email: string
/** What each kind of notice says: the sentence, and the page that its link opens. */
const expected = new Map<NoticeKind, { readonly sentence: string; readonly path: string }>()
const mails: ReadMail[] = []

/** A card of a person. */
async function card(person: Person, title: string, members: object = {}): Promise<string> {
  return (await team.api('POST', `/boards/${team.boardId}/cards`, { column_id: team.columns[0], title, ...members }, person)).id
}
/** An agent of a person takes a card, and ends the claim. */
async function endClaim(person: Person, id: string, how: 'question' | 'failure', body: object): Promise<void> {
  const { epoch } = await team.api('PUT', `/cards/${id}/claim`, {}, person)
  const reply = await service.send(person.admin, 'POST', `/cards/${id}/claim/${how}`, body, { 'if-claim': String(epoch) })
  expect(reply.status).toBeLessThan(300)
}
const pathOf = (id: string) => `${team.base}/cards/${id}`
const expectTold = (kind: NoticeKind, id: string, sentence: string) => void expected.set(kind, { sentence, path: pathOf(id) })
/** Lets time pass. @returns the mails that have arrived then, after those before */
async function arrived(milliseconds: number, count: number): Promise<readonly ReadMail[]> {
  const before = mails.length
  service.now += milliseconds
  await service.app.reminders.look()
  service.now += 3 * MINUTE
  await mailer().look()
  const all = readMails(await server.got(before + count))
  mails.push(...all.slice(before))
  return mails.slice(before)
}
/** The kind whose sentence a mail has. */
const mailOf = (kind: NoticeKind) => mails.find(({ lines }) => lines.includes(expected.get(kind)!.sentence))!

beforeAll(async () => {
  team = await buildTeam(service)
  zoe = await service.person(team.owner.workspaceId, 'member', NAME)
  actor = await service.person(team.owner.workspaceId, 'member', ACTOR)
  email = await giveAccount(service, zoe)
  await service.write(zoe.workspaceId, (tx) =>
    issueToken(tx, { userId: zoe.id, name: 'Nächtlicher Lauf 🌙', scopes: ['kanban:read'], lifetime: 15 * DAY }, service.deps),
  )
  await team.api('PATCH', `/columns/${team.columns[0]}`, { max_attempts: 1 })

  expectTold('assigned', await card(actor, TITLE, { assignee_ids: [zoe.id] }), `test of ${ACTOR} assigned you to "${TITLE}".`)
  const mentioned = await card(actor, 'Mention')
  await team.api('POST', `/cards/${mentioned}/comments`, { body: `@${zoe.id} ${SCRIPT}` }, actor)
  expectTold('mentioned', mentioned, `test of ${ACTOR} mentioned you on "Mention": @${NAME} ${SCRIPT}`)
  const asked = await card(zoe, 'Question')
  // It is ASCII, which is sent as it is, in broken lines.
  await endClaim(team.owner, asked, 'question', { question: HEADERS })
  expectTold('question', asked, `test of Olivia Stone asks on "Question": So. Bcc: eve@example.org . MAIL FROM:<eve@example.org>`)
  const stuck = await card(zoe, 'مرحبا\u202e <i>')
  await endClaim(actor, stuck, 'failure', { reason: 'No.' })
  expectTold('card_stuck', stuck, '"مرحبا\u202e <i>" is stuck: its last attempt has failed.')
  const answered = await card(actor, 'Answer')
  await endClaim(zoe, answered, 'question', { question: 'Blau?' })
  await team.api('POST', `/cards/${answered}/answer`, { body: LONG }, actor)
  expectTold('answered', answered, `test of ${ACTOR} answered your question on "Answer": ${LONG.slice(0, 199)}…`)
  await arrived(0, 5)

  await arrived(2 * DAY, 1)
  const end = new Date(Date.parse('2026-11-20T12:00:00Z') + 15 * DAY).toISOString().slice(0, 10)
  expected.set('token_ending', {
    sentence: `Your token "Nächtlicher Lauf 🌙" ends on ${end} at 12:00 UTC.`,
    path: '/settings/tokens',
  })

  const due_at = new Date(service.now + 12 * HOUR).toISOString()
  const due = await card(zoe, 'Fällig', { due_at })
  expectTold('due', due, `"Fällig" is due on ${due_at.slice(0, 10)} at ${due_at.slice(11, 16)} UTC.`)
  const commented = await card(actor, 'Comment')
  await team.api('POST', `/cards/${commented}/comments`, { body: 'Ich.' }, zoe)
  await team.api('POST', `/cards/${commented}/comments`, { body: '“Grün”\n\n> nicht blau' }, actor)
  expectTold('commented', commented, `test of ${ACTOR} commented on "Comment": “Grün” > nicht blau`)
  await service.app.reminders.look()
  service.now += 3 * MINUTE
  await mailer().look()
  await arrived(DAY, 1)

  service.app.deliverer.start()
  const url = 'https://hooks.example/kanban'
  await team.api('POST', `/boards/${team.boardId}/webhooks`, { url }, zoe)
  await card(actor, 'Change')
  const last = async () => (await service.send(zoe.read, 'GET', '/notices?order=desc&limit=1')).body.data[0].kind
  await vi.waitFor(async () => expect(await last()).toBe('webhook_disabled'), 60_000)
  const sentence = `Your webhook to ${new URL(url).host} on "Spring" was disabled. Its page says why.`
  expected.set('webhook_disabled', { sentence, path: `${team.base}/boards/${team.boardId}/webhooks` })
  await arrived(0, 1)
})

test('each kind of notice has arrived, in one mail, to its person alone', () => {
  expect([...expected.keys()].toSorted()).toEqual(noticeKinds.toSorted())
  for (const [kind, { sentence }] of expected)
    expect([kind, mails.filter(({ lines }) => lines.includes(sentence)).length]).toEqual([kind, 1])
  expect(server.mails.map(({ from, to }) => ({ from, to }))).toEqual(mails.map(() => ({ from: 'kanban@example.org', to: [email] })))
  expect([mails.length, captured.text()]).toEqual([8, ''])
})

test('mails keep to the standards: structure, encodings, and the lengths of lines', () => {
  for (const { source } of server.mails) {
    expect(source).toMatch(/^[\t\r\n\x20-\x7e]*$/)
    expect(source.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
    for (const line of source.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998)
  }
  for (const { defects, type, headers, parts } of mails) {
    expect(defects).toEqual([])
    expect(headers.map(([name]) => name.toLowerCase()).toSorted()).toEqual(ALL_HEADERS)
    expect(parts.map(([part, charset]) => `${part}; ${charset}`)).toEqual(['text/plain; utf-8', 'text/html; utf-8'])
    expect(type).toBe('multipart/alternative')
  }
})

test('the subject is the sentence, or its beginning', () => {
  for (const kind of noticeKinds) {
    const one = mailOf(kind)
    const { sentence } = expected.get(kind)!
    const isDaily = kind === 'due' || kind === 'commented'
    const all = [...sentence]
    const subject = isDaily ? 'Your notices of the day: 2' : all.length <= 120 ? sentence : `${all.slice(0, 119).join('')}…`
    expect([kind, headerOf(one, 'Subject')]).toEqual([kind, subject])
  }
})

describe('plain text and HTML', () => {
  test.each(noticeKinds)('say the same about %s, and have the same links', (kind) => {
    const one = mailOf(kind)
    const { sentence, path } = expected.get(kind)!
    const at = one.lines.indexOf(sentence)
    expect(one.lines[at + 1]).toBe(URL_OF_SERVICE + path)
    const named = path.startsWith('/settings') ? 'Open your tokens' : path.endsWith('/webhooks') ? 'Open the webhooks' : 'Open the card'
    const shownAt = one.shown.indexOf(sentence)
    expect([one.shown.slice(shownAt, shownAt + 2), one.links.find(({ href }) => href === URL_OF_SERVICE + path)?.text]).toEqual([
      [sentence, named],
      named,
    ])
    expect(one.links.map(({ href }) => href)).toEqual(one.lines.filter((line) => line.startsWith('https:')))
    const [sentences, why] = [one.lines.slice(0, one.lines.indexOf('--')), one.lines[one.lines.indexOf('--') + 1]!]
    const told = sentences.filter((line) => line !== '' && !line.startsWith('https:'))
    const ends = one.lines.filter((line) => line.endsWith(':')).map((line) => line.slice(0, -1))
    expect(ends).toHaveLength(2)
    expect(one.shown.filter((line) => line !== named)).toEqual([...told, `${why} ${ends.join(' · ')}`])
  })

  test('have no element, attribute or address that a text of people brings', () => {
    const allowed = ['html', 'head', 'meta', 'title', 'body', 'main', 'p', 'br', 'a', 'hr']
    for (const { elements } of mails)
      for (const [tag, attributes] of elements) {
        expect(allowed).toContain(tag)
        const { href, ...others } = attributes
        if (href !== undefined) expect(href.startsWith(`${URL_OF_SERVICE}/`)).toBe(true)
        for (const name of Object.keys(others)) expect(['lang', 'charset', 'name', 'content', 'style']).toContain(name)
      }
  })

  test('arrive as they were made', () => {
    const received = mails.map(({ parts }) => parts[1]?.[2].replace(/\r?\n$/, ''))
    // They were sent at the same time.
    expect(new Set(received)).toEqual(new Set(sentHtml))
  })
})

test('one click ends the mails of each kind: the address in the header is the one that both texts have', async () => {
  const stranger = new Visitor(service, { origin: URL_OF_SERVICE })
  for (const kind of noticeKinds) {
    const one = mailOf(kind)
    const [, address] = /^<(https:[^<>\s]+)>$/.exec(headerOf(one, 'List-Unsubscribe')!)!
    expect(headerOf(one, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click')
    expect(one.lines).toContain(address)
    expect(one.links.find(({ text }) => text.startsWith('End mails of th'))!.href).toBe(address)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const posted = await stranger.request(address!, { method: 'POST', body: 'List-Unsubscribe=One-Click', headers })
    expect([kind, posted.status, posted.shown.includes('These mails have ended')]).toEqual([kind, 200, true])
  }
})

describe('in a program that shows HTML', () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>
  beforeAll(async () => (browser = await openBrowser()))
  afterAll(() => browser.close())

  test.each([
    [390, 'light'],
    [390, 'dark'],
    [800, 'light'],
    [800, 'dark'],
  ] as const)('a mail of %i pixels fits and can be read, %s', async (width, colorScheme) => {
    const page = await openWindow(browser, URL_OF_SERVICE, { viewport: { width, height: 600 }, colorScheme })
    for (const [i, { parts }] of mails.entries()) {
      const [, html] = parts
      if (html === undefined) continue
      await page.setContent(html[2])
      await screenshot(page, `mail-${i}-${width}-${colorScheme}`)
      await expectAccessible(page, `mail ${i}`, 'color')
      await expectFits(page, `mail ${i}`)
    }
  })
})

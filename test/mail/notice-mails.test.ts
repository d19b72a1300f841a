import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Mail } from '../../src/mail/mailer.ts'
import { endMembership } from '../../src/admin/memberships.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { chooseMails, readMailChoices } from '../../src/mail/mail-choices.ts'
import { NoticeMailer } from '../../src/mail/notice-mails.ts'
import { noticeKinds } from '../../src/model/notice-kind.ts'
import { dailyMailAfter, mailAfter } from '../../src/model/notice-mail.ts'
import { DAY } from '../../src/model/time.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { buildTeam, startForSuite, type BoardTeam } from '../support/board-team.ts'
import { captureLog } from '../support/log.ts'
import { edit } from '../support/other-policy.ts'
import { load, shippedFiles } from '../support/policy.ts'
import type { Person } from '../support/service.ts'
import { formOf, giveAccount, signedIn, Visitor } from '../support/visitor.ts'

const URL_OF_SERVICE = 'https://kanban.example'
const MINUTE = 60_000
const sent: Mail[] = []
const warnings = captureLog()
const service = await startForSuite({ mail: (mail) => void sent.push(mail), url: URL_OF_SERVICE })
const mailer = (send = (mail: Mail): void => void sent.push(mail), more: Partial<ConstructorParameters<typeof NoticeMailer>[0]> = {}) =>
  new NoticeMailer({
    ...service.deps,
    services: () => ({ ...service.app.services, log: warnings.log }),
    send,
    url: URL_OF_SERVICE,
    counters: undefined,
    log: captureLog().log,
    ...more,
  })
let team: BoardTeam

beforeAll(async () => (team = await buildTeam(service)))
afterEach(() => expect(warnings.text()).toBe(''))

/** A person with an address, who has no notices. */
async function somebody(): Promise<{ person: Person; email: string }> {
  const person = await service.person(team.owner.workspaceId, 'member', 'Ben Hill')
  return { person, email: await giveAccount(service, person) }
}
const card = async (title: string, person: Person): Promise<string> =>
  (await team.api('POST', `/boards/${team.boardId}/cards`, { column_id: team.columns[0], title, assignee_ids: [person.id] })).id
const comment = (id: string, body: string) => team.api('POST', `/cards/${id}/comments`, { body })
/** Lets time pass, and sends what is due. @returns the mails */
async function after(milliseconds: number, by = [mailer()]): Promise<readonly Mail[]> {
  service.now += milliseconds
  sent.length = 0
  await Promise.all(by.map((one) => one.look()))
  return sent.splice(0)
}
const linkIn = ({ headers }: Mail) => headers!['List-Unsubscribe']!.slice(1, -1)

test('a mail is due after the end of the next minute, and a daily one at seven', () => {
  const at = (time: string) => Date.parse(`2026-11-20T${time}Z`)
  expect(
    [mailAfter('u', at('12:00:59.999')), mailAfter('u', at('12:01:00.000'))].map(({ from, due_at }) => [
      from.slice(11, 19),
      due_at.slice(11, 19),
    ]),
  ).toEqual([
    ['12:00:00', '12:02:00'],
    ['12:01:00', '12:03:00'],
  ])
  expect([dailyMailAfter('u', at('06:59:59')), dailyMailAfter('u', at('07:00:00'))].map(({ due_at }) => due_at)).toEqual([
    '2026-11-20T07:00:00.000Z',
    '2026-11-21T07:00:00.000Z',
  ])
})

describe('mails about notices', () => {
  test('what happens to one card within a minute is one mail, in plain text and HTML, and another card is another mail', async () => {
    const { person, email } = await somebody()
    // The next minute of the clock begins before the comment.
    service.now += MINUTE / 2 - (service.now % MINUTE)
    const [id, other] = [await card('Sow <b>', person), await card('Reap', person)]
    service.now += MINUTE - 1000
    await comment(id, `@${person.id} Which?`)
    expect(await after(0)).toEqual([])
    const mails = await after(2 * MINUTE)
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
      [email, '2 notices: test of Olivia Stone mentioned you on "Sow <b>": @Ben Hill Which?'],
      [email, 'test of Olivia Stone assigned you to "Reap".'],
    ])
    const [{ text, html, headers }] = mails as [Mail]
    const address = `${URL_OF_SERVICE}${team.base}/cards/${id}`
    for (const part of ['test of Olivia Stone assigned you to "Sow <b>".', address, 'End mails of these kinds (assigned, mentioned):'])
      expect(text).toContain(part)
    // A program for HTML reads quotation marks and > as they are.
    expect(html).toContain(`<p>test of Olivia Stone assigned you to &quot;Sow &lt;b>&quot;.<br/><a href="${address}">Open the card</a></p>`)
    expect(headers!['List-Unsubscribe-Post']).toBe('List-Unsubscribe=One-Click')
    expect(text).not.toContain(other)
    expect(await after(10 * MINUTE)).toEqual([])
  })

  test.each([
    [
      'has read it',
      async (person: Person, _id: string) =>
        void (await service.send(person.admin, 'POST', '/notices/read', { before: '2030-01-01T00:00:00Z' })),
    ],
    [
      'may not read the board any more',
      async () => void (await team.api('PUT', `/boards/${team.boardId}/visibility`, { visibility: 'private' })),
    ],
    ['is no member any more', async ({ id }: Person) => endMembership(service.adminDeps, team.owner.workspaceId, id)],
    [
      'has become a member again',
      async (person: Person) => {
        await endMembership(service.adminDeps, team.owner.workspaceId, person.id)
        await service.rejoin(person)
      },
    ],
    ['would read of a card that is deleted', async (_person: Person, id: string) => void (await team.api('DELETE', `/cards/${id}`))],
  ])('whoever %s gets no mail', async (_what, happens) => {
    const { person } = await somebody()
    const id = await card('Gone', person)
    await happens(person, id)
    const mails = await after(3 * MINUTE)
    await team.api('PUT', `/boards/${team.boardId}/visibility`, { visibility: 'workspace' })
    expect([mails, await after(10 * MINUTE)]).toEqual([[], []])
  })

  test('whoever may not read notices by the policy gets no mail', async () => {
    const { person } = await somebody()
    await card('Policy', person)
    const rule = 'subject: Notice\n    conditions: { caller.membership: active'
    const engine = load(edit(shippedFiles, [['permissions', rule, `${rule}, caller.role: owner`]]))
    expect(await after(3 * MINUTE, [mailer(undefined, { services: () => ({ ...service.app.services, engine }) })])).toEqual([])
    expect(await after(3 * MINUTE)).toEqual([])
  })

  test.each([
    ['a mail server', { send: undefined }],
    ['a public URL', { url: undefined }],
  ])('without %s, nothing is mailed, and what would have been is forgotten', async (_what, more) => {
    const { person } = await somebody()
    await card('Forgotten', person)
    expect([await after(3 * MINUTE, [mailer(undefined, more)]), await after(10 * MINUTE)]).toEqual([[], []])
  })

  test('what was not to be mailed when it happened is not mailed after another choice', async () => {
    const { person } = await somebody()
    await chooseMails(service.deps, person.id, { assigned: 'never' })
    await card('Early', person)
    expect(await after(3 * MINUTE)).toEqual([])
    await chooseMails(service.deps, person.id, { assigned: 'at_once' })
    await card('Late', person)
    expect((await after(3 * MINUTE)).map(({ subject }) => subject)).toEqual(['test of Olivia Stone assigned you to "Late".'])
  })

  test('all that are due are sent at once, however many', async () => {
    const { person } = await somebody()
    await card('Last', person)
    const early = { due_at: new Date(service.now).toISOString(), from: new Date(service.now).toISOString(), is_daily: false }
    await service.write(team.owner.workspaceId, (tx) => {
      for (let i = 0; i < 120; i++) {
        const one = { ...early, id: `${team.owner.id}:${i}`, user_id: team.owner.id }
        tx.putUnread(keys.noticeMail(one.id), one)
      }
    })
    expect(await after(3 * MINUTE)).toHaveLength(1)
  })

  test('each token that ends has a mail of its own', async () => {
    const { person } = await somebody()
    for (const name of ['one', 'two'])
      await service.write(person.workspaceId, (tx) =>
        issueToken(tx, { userId: person.id, name, scopes: ['kanban:read'], lifetime: 15 * DAY }, service.deps),
      )
    service.now += 2 * DAY
    await service.app.reminders.look()
    const mails = await after(3 * MINUTE)
    expect(mails.map(({ subject }) => /^Your token "(\w+)" ends on/.exec(subject)?.[1]).toSorted()).toEqual(['one', 'two'])
    for (const { text } of mails) expect(text).toContain(`\n${URL_OF_SERVICE}/settings/tokens\n`)
  })

  test('while the storage fails, mails wait, and the log says so', async () => {
    const { person } = await somebody()
    await card('Failing', person)
    const captured = captureLog()
    const failing = mailer(undefined, {
      store: undefined as never,
      services: () => ({ ...service.app.services, log: captured.log }),
    })
    expect(await after(3 * MINUTE, [failing])).toEqual([])
    expect(captured.lines).toMatchObject([
      { level: 40, event: 'mail.waiting', workspace_id: team.owner.workspaceId, msg: 'notices are not mailed at present' },
    ])
    expect(await after(0)).toHaveLength(1)
  })

  test('an address that nobody has confirmed gets none, and so does a person without an account', async () => {
    const nobody = await service.person(team.owner.workspaceId, 'member')
    const { person } = await somebody()
    await service.write(GLOBAL, async (tx) => {
      const account = (await tx.get(keys.account(person.id)))!
      tx.put(keys.account(person.id), { ...account, email_confirmed: false })
    })
    for (const one of [nobody, person]) await card('Nobody', one)
    expect(await after(3 * MINUTE)).toEqual([])
  })

  test('of two processes one sends, and what a killed process has marked is not sent again', async () => {
    const { person } = await somebody()
    await card('Once', person)
    expect(await after(3 * MINUTE, [mailer(), mailer(), mailer()])).toHaveLength(1)
    await card('Killed', person)
    const killed = mailer(
      () => {
        throw new Error('killed')
      },
      { services: () => service.app.services },
    )
    expect(await after(3 * MINUTE, [killed])).toEqual([])
    expect(await after(3 * MINUTE)).toEqual([])
  })

  test('comments come once a day, and at most ten mails follow each other', async () => {
    const { person } = await somebody()
    const ids: string[] = []
    for (let i = 0; i < 12; i++) ids.push(await card(`Card ${i}`, person))
    for (const id of ids.slice(0, 2)) await comment(id, 'Hello.')
    const captured = captureLog()
    const one = mailer(undefined, { log: captured.log })
    expect(await after(3 * MINUTE, [one])).toHaveLength(10)
    const leftOut = { level: 20, event: 'mail.left_out', user_id: person.id, reason: 'there were too many' }
    expect(captured.lines).toMatchObject([leftOut, leftOut])
    // It is a limit of each person.
    const { person: other } = await somebody()
    await card('Other', other)
    expect(await after(15 * MINUTE, [one])).toHaveLength(1)
    const mails = await after(24 * 60 * MINUTE, [one])
    expect(mails.map(({ subject }) => subject)).toEqual(['Your notices of the day: 2'])
    expect(mails[0]!.text.match(/commented on/g)).toHaveLength(2)
    expect(await after(24 * 60 * MINUTE, [one])).toEqual([])
  })

  test('a comment alone comes once a day, too', async () => {
    const { person } = await somebody()
    await chooseMails(service.deps, person.id, { assigned: 'never' })
    await comment(await card('Daily', person), 'Hello.')
    expect(await after(3 * MINUTE)).toEqual([])
    expect((await after(24 * 60 * MINUTE)).map(({ subject }) => subject)).toEqual(['Your notices of the day: 1'])
  })

  test('what happens when a minute begins is mailed, and its notice stays unread', async () => {
    const { person } = await somebody()
    service.now += MINUTE - (service.now % MINUTE)
    const id = await card('Sharp', person)
    expect(await after(2 * MINUTE)).toHaveLength(1)
    const { body } = await service.send(person.read, 'GET', '/notices?unread=true')
    expect(body.data.map(({ kind, card_id }: { kind: string; card_id: string }) => [kind, card_id])).toEqual([['assigned', id]])
  })

  test('a process that is told nothing looks again within 15 minutes, and one that was stopped takes nothing', async () => {
    const { person } = await somebody()
    const one = mailer()
    await after(0, [one])
    await card('Quiet', person)
    const stopped = mailer()
    const stopping = mailer(undefined, { services: () => (void stopped.stop(), service.app.services) })
    void stopped.stop()
    void stopping.stop()
    expect(await after(14 * MINUTE, [one, stopped, stopping])).toEqual([])
    expect(await after(MINUTE, [one])).toHaveLength(1)
  })

  test('a link ends the mails of its kinds, and of no others', async () => {
    const { person } = await somebody()
    await comment(await card('Kinds', person), `@${person.id}`)
    const [mail] = await after(3 * MINUTE)
    const link = new URL(linkIn(mail!))
    expect(link.searchParams.get('kinds')).toBe('assigned,mentioned')
    const stranger = new Visitor(service, { origin: URL_OF_SERVICE })
    const nobody = new URLSearchParams(link.search)
    nobody.set('user', `usr_${'0'.repeat(20)}`)
    expect((await stranger.request(`${link.pathname}?${nobody}`, { method: 'POST' })).status).toBe(404)
    const shown = (await stranger.open(link.pathname + link.search)).shown
    expect(shown).toContain('You get no mail of this kind any more: assigned, mentioned.')
    expect((await stranger.request(link.href, { method: 'POST' })).status).toBe(200)
    expect((await readMailChoices(service.deps, person.id))!.mails.choices).toEqual({ assigned: 'never', mentioned: 'never' })
    const before = await service.write(GLOBAL, (tx) => tx.get(keys.account(person.id)))
    service.now += MINUTE
    await readMailChoices(service.deps, person.id)
    expect(await service.write(GLOBAL, (tx) => tx.get(keys.account(person.id)))).toEqual(before)
  })

  test('a person chooses, by kind', async () => {
    const person = await service.person(team.owner.workspaceId, 'member')
    const visitor = await signedIn(service, person, { origin: URL_OF_SERVICE })
    await visitor.open('/settings/account/mails')
    for (const kind of noticeKinds) expect(visitor.page!.text).toContain(`name="${kind}"`)
    await visitor.submit({ assigned: 'never', commented: 'at_once', due: 'x' }, '/settings/account/mails')
    expect(visitor.page!.shown).toContain('Your choices are saved.')
    expect(visitor.page!.text).toMatch(/name="due"><option value="at_once">At once<\/option><option value="daily" selected/)
    const id = await card('Chosen', person)
    await comment(id, 'Hello.')
    expect((await after(3 * MINUTE)).map(({ subject }) => subject)).toEqual(['test of Olivia Stone commented on "Chosen": Hello.'])
  })

  test('the link in a mail shows a button, and its POST ends this kind without a session; a changed link does nothing', async () => {
    const { person } = await somebody()
    await card('Link', person)
    const [mail] = await after(3 * MINUTE)
    const link = linkIn(mail!)
    const stranger = new Visitor(service, { origin: URL_OF_SERVICE })
    const path = link.slice(URL_OF_SERVICE.length)
    const post = (to: string) =>
      stranger.request(to, {
        method: 'POST',
        body: 'List-Unsubscribe=One-Click',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
    for (const changed of [
      path.replace('assigned', 'question'),
      path.replace(person.id, team.owner.id),
      path.slice(0, -1),
      '/settings/mails/end',
      `${path}x`,
    ])
      for (const page of [await post(changed), await stranger.open(changed)]) expect([changed, page.status]).toEqual([changed, 404])
    expect((await stranger.open(path)).text).toContain(formOf(stranger.page!.text, '/settings/mails/end').action.split('?')[0])
    await card('Still', person)
    expect(await after(3 * MINUTE)).toHaveLength(1)
    const ended = await post(path)
    expect([ended.status, ended.shown]).toEqual([200, expect.stringContaining('These mails have ended')])
    await comment(await card('Ended', person), `@${person.id}`)
    expect((await after(3 * MINUTE)).map(({ subject }) => subject)).toEqual([expect.stringContaining('mentioned you')])
  })
})

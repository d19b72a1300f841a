import { beforeEach, describe, expect, test } from 'vitest'
import { addMember } from '../../src/admin/memberships.ts'
import { inviteUser } from '../../src/admin/users.ts'
import type { Mail } from '../../src/mail/mailer.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { captureLog } from '../support/log.ts'
import { startForSuite } from '../support/board-team.ts'
import type { Person } from '../support/service.ts'
import { formOf, giveAccount, PASSWORD, alertsOf, textOf, Visitor, type ReceivedPage } from '../support/visitor.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const NEW = 'another passphrase'
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const captured = captureLog()
const mails: Mail[] = []
let person: Person
let email: string
const service = await startForSuite({ log: captured.log, mail: (one) => void mails.push(one) })
const workspaceId = await service.workspace()
beforeEach(async () => {
  person = await service.person(workspaceId, 'member', 'Ann Lindqvist')
  email = await giveAccount(service, person, `${person.id}@widgets.example`)
})

/** Signs the person in, in another browser each time. */
async function signIn(password = PASSWORD): Promise<Visitor> {
  service.now += 1000
  const visitor = new Visitor(service)
  await visitor.signIn(email, password)
  return visitor
}

const signedInBrowsers = (...visitors: Visitor[]) => Promise.all(visitors.map((visitor) => visitor.isSignedIn()))
/** The alerts that a page shows, and a browser that sends one of them to be dismissed. */
const alertIds = (page: ReceivedPage) => [...alertsOf(page)!.matchAll(/name="alert" value="(alr_\w+)"/g)].map(([, id]) => id!)
const dismiss = (visitor: Visitor, alert: string) => visitor.post('/settings/account/alerts', { form_token: visitor.formToken, alert })

describe('the password', () => {
  const change = async (visitor: Visitor, fields: Record<string, string> = {}) => {
    await visitor.open('/settings/account/password')
    return visitor.submit({ present: PASSWORD, password: NEW, again: NEW, ...fields })
  }

  test('is changed, which ends all other sessions and renews this one', async () => {
    const [visitor, other] = [await signIn(), await signIn()]
    const before = visitor.session!
    expect((await change(visitor)).shown).toContain('Your password is changed, and your other sessions have ended.')
    expect({
      isSignedIn: await visitor.isSignedIn(),
      isOtherSignedIn: await other.isSignedIn(),
      isSameSession: visitor.session === before,
    }).toEqual({ isSignedIn: true, isOtherSignedIn: false, isSameSession: false })
    const thief = new Visitor(service)
    thief.jar.set('lk_session', before)
    expect({
      thief: await thief.isSignedIn(),
      withOld: (await signIn()).session,
      withNew: await (await signIn(NEW)).isSignedIn(),
    }).toStrictEqual({ thief: false, withOld: undefined, withNew: true })
    expect((await service.send(person.read, 'GET', '/account')).status).toBe(200)
    for (const secret of [PASSWORD, NEW]) expect(captured.text()).not.toContain(secret)
  })

  test('is changed in a session that the browser keeps no longer than before', async () => {
    const visitor = await signIn()
    service.now += 3 * DAY
    await visitor.open('/settings/account/password')
    const { action, hidden } = formOf(visitor.page!.text, '/settings/account/password')
    const { cookies } = await visitor.post(action, { ...hidden, present: PASSWORD, password: NEW, again: NEW })
    service.now -= 3 * DAY
    // 30 days from the sign-in on. The pages before have taken seconds at most.
    const [, age] = /; Max-Age=(\d+);/.exec(cookies.get('lk_session')!)!
    expect(Math.round((Number(age) * 1000) / DAY)).toBe(27)
  })

  const both = (password: string) => ({ password, again: password })
  // test/auth/accounts/new-password.test.ts has the rules of a new one.
  test.each<[string, Record<string, string>, number, string]>([
    ['without the right present one', { present: 'wrong password' }, 403, 'present'],
    ['if it is too short', both('short'), 422, 'password'],
    ['if it is repeated wrongly', { again: `${NEW}!` }, 422, 'again'],
    ['if it is the present one', both(PASSWORD), 422, 'password'],
    ["if it is the person's name", both('Ann-Lindqvist-1'), 422, 'password'],
  ])('is not changed %s', async (_name, fields, status, field) => {
    const [visitor, other] = [await signIn(), await signIn()]
    const page = await change(visitor, fields)
    expect({ status: page.status, text: page.text }).toEqual({ status, text: expect.stringContaining(`id="${field}-error"`) })
    for (const value of [PASSWORD, ...Object.values(fields)]) expect(page.text).not.toContain(value)
    expect(await signedInBrowsers(visitor, other, await signIn())).toEqual([true, true, true])
  })

  test('guesses of the present password are throttled', async () => {
    const visitor = await signIn()
    for (let i = 0; i < 8; i++) expect((await change(visitor, { present: `guess number ${i}` })).status).toBe(403)
    expect({ status: (await change(visitor)).status, signsIn: await (await signIn()).isSignedIn() }).toEqual({ status: 429, signsIn: true })
  })

  test('a sign-up link that was not used no longer works after the change', async () => {
    const { sign_up_link } = await inviteUser(service.deps, person.id, 'http://localhost')
    await change(await signIn())
    expect((await new Visitor(service).open(sign_up_link)).status).toBe(404)
  })
})

describe('the list of sessions', () => {
  test('names browser and network, and marks this session', async () => {
    const visitor = new Visitor(service, { address: '2001:db8:1:2:3::4' })
    await visitor.open('/settings/sign-in')
    const { action, hidden } = formOf(visitor.page!.text)
    await visitor.post(action, { ...hidden, email, password: PASSWORD }, { headers: { 'user-agent': FIREFOX } })
    await signIn()
    const items = [...(await visitor.open('/settings/account')).text.matchAll(/<li><div><strong>.*?<\/li>/gs)].map(([item]) => textOf(item))
    expect(items).toEqual([
      expect.stringMatching(
        /^Unknown browser 10\.0\.\d+\.\d+, begun 2026-11-20 12:\d\d UTC, last seen .* End the session of Unknown browser/,
      ),
      expect.stringMatching(/^Firefox on Linux this session 2001:db8:1:2, begun 2026-11-20 12:\d\d UTC, last seen/),
    ])
    expect(items[1]).not.toContain('End')
  })

  test('ends one session or all others, and never one of another person', async () => {
    const [visitor, one, two, three] = [await signIn(), await signIn(), await signIn(), await signIn()]
    const ids = async () =>
      [...(await visitor.open('/settings/account')).text.matchAll(/name="end" value="(ses_\w+)"/g)].map(([, id]) => id!)
    const newest = (await ids())[0]!
    await visitor.submit({ end: newest }, '/settings/account/sessions')
    expect(await signedInBrowsers(three, two, one)).toEqual([false, true, true])
    person = await service.person(workspaceId)
    email = await giveAccount(service, person)
    const stranger = await signIn()
    await stranger.open('/settings/account')
    for (const end of [(await ids())[0]!, '', 'x', 'ses_00000000000000000000']) await stranger.submit({ end }, '/settings/account/sessions')
    expect(await signedInBrowsers(one, two)).toEqual([true, true])
    await visitor.submit({ end: 'others' }, '/settings/account/sessions')
    expect(await signedInBrowsers(visitor, one, two, stranger)).toEqual([true, false, false, true])
  })

  test('asks for the password if it was not entered a short time ago', async () => {
    const [visitor, other] = [await signIn(), await signIn()]
    service.now += 11 * MINUTE
    await visitor.open('/settings/account')
    const asked = await visitor.submit({ end: 'others' }, '/settings/account/sessions')
    expect({ status: asked.status, text: asked.text, isOtherSignedIn: await other.isSignedIn() }).toEqual({
      status: 200,
      text: expect.stringContaining('Your password'),
      isOtherSignedIn: true,
    })
    expect({ status: (await visitor.submit({ password: 'wrong' })).status, isOtherSignedIn: await other.isSignedIn() }).toEqual({
      status: 403,
      isOtherSignedIn: true,
    })
    await visitor.submit({ password: PASSWORD })
    expect(await signedInBrowsers(visitor, other)).toEqual([true, false])
  })
})

test('all tokens of a person are revoked in all workspaces, and no token of another person', async () => {
  const second = await service.workspace('Globex')
  const colleague = await service.person(workspaceId)
  const user = await service.write(GLOBAL, (tx) => tx.get(keys.user(person.id)))
  await addMember(service.deps, second, user!, 'member')
  const elsewhere = await service.token(second, person.id, ['kanban:read'])
  const visitor = await signIn()
  expect((await visitor.open('/settings/account/revoke-tokens')).shown).toContain('5 active tokens in 2 workspaces.')
  expect((await service.send(elsewhere, 'GET', '/account')).status).toBe(200)
  expect((await visitor.submit()).shown).toContain('All your tokens are revoked.')
  for (const token of [person.read, person.write, person.admin, elsewhere])
    expect((await service.send(token, 'GET', '/account')).status).toBe(401)
  expect((await service.send(colleague.read, 'GET', '/account')).status).toBe(200)
  expect((await visitor.open('/settings/account/revoke-tokens')).shown).toContain('You have no active token.')
})

describe('alerts', () => {
  test('a sign-in from an unknown browser is shown in other sessions and later ones until it is dismissed, and mailed', async () => {
    mails.length = 0
    const first = await signIn()
    expect(mails).toEqual([])
    const second = await signIn()
    const seen = alertsOf(await first.open('/settings/account'))
    expect(textOf(seen!)).toContain('Someone signed in from a browser that was not known before. 2026-11-20')
    // The session that did it can neither see nor dismiss it.
    expect(alertsOf(await second.open('/settings/account'))).toBeUndefined()
    await dismiss(second, alertIds(first.page!)[0]!)
    expect(alertsOf(await first.open('/settings/tokens'))).toBeDefined()
    await first.submit({}, '/settings/account/alerts')
    expect(alertsOf(await first.open('/settings/account'))).toBeUndefined()
    expect(mails).toMatchObject([{ to: email, subject: 'Lanekeeper: Someone signed in from a browser that was not known before.' }])
    // The same browser signs in again.
    await second.submit({ where: 'here' }, '/settings/sign-out')
    await second.signIn(email)
    expect(mails).toHaveLength(1)
  })

  test('two sessions of a thief cannot dismiss the alerts of each other', async () => {
    const known = await signIn()
    const thieves = [await signIn(), await signIn()]
    const ids = alertIds(await known.open('/settings/account'))
    expect(ids).toHaveLength(2)
    for (const thief of thieves) {
      expect((await thief.open('/settings/account')).text).toContain('This browser is new.')
      for (const alert of ids) await dismiss(thief, alert)
    }
    const shown = (await known.open('/settings/account')).text
    for (const id of ids) expect(shown).toContain(id)
    // A browser sends both; this visitor sends one field of each name.
    for (const alert of ids) await known.submit({ alert }, '/settings/account/alerts')
    expect(alertsOf(await known.open('/settings/account'))).toBeUndefined()
  })

  test('a new token, a rotated one and a new password are notified, without any secret', async () => {
    const [visitor, other] = [await signIn(), await signIn()]
    await visitor.open('/settings/account')
    await visitor.submit({}, '/settings/account/alerts')
    mails.length = 0
    const plaintext = await visitor.create(workspaceId, { name: 'Nightly <build>' })
    expect(textOf(alertsOf(await other.open('/settings/tokens'))!)).toContain('The token "Nightly <build>" was created.')
    await visitor.open('/settings/account/password')
    await visitor.submit({ present: PASSWORD, password: NEW, again: NEW })
    expect(mails.map(({ subject }) => subject)).toEqual([
      'Lanekeeper: The token "Nightly <build>" was created.',
      'Lanekeeper: Your password was changed.',
    ])
    expect(mails[1]!.text).toMatch(
      /^Your password was changed\.\n\nTime: 2026-11-20 12:\d\d UTC\nBrowser: Unknown browser\nNetwork: [\d.]+\n\nIf this/,
    )
    for (const secret of [plaintext, PASSWORD, NEW, visitor.session!]) expect(JSON.stringify(mails)).not.toContain(secret)
  })
})

import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { inviteUser } from '../../src/admin/users.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import type { Mail } from '../../src/mail/mailer.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { entriesOf, startWithAudit } from '../support/audit-trail.ts'
import { captureLog } from '../support/log.ts'
import { memory } from '../support/memory.ts'
import { codeAt, giveAuthenticator, TOTP_SECRET } from '../support/second-factor.ts'
import type { Person } from '../support/service.ts'
import { formOf, giveAccount, alertsOf, signedIn, textOf, Visitor } from '../support/visitor.ts'

const NEW = 'an entirely different one'
const mails: Mail[] = []
const captured = captureLog()
let person: Person
let email: string
const options = { log: captured.log, mail: (one: Mail) => void mails.push(one) }
const { service, recorder } = await startWithAudit(memory, options)
afterAll(() => service.stop())
beforeEach(async () => {
  person = await service.person(await service.workspace(), 'member', 'Nora <b>Lindqvist</b>')
  email = `${person.id}@example.org`
  mails.length = 0
})

const browser = () => new Visitor(service)
const heading = (text: string) => /<h1>([^<]*)/.exec(text)?.[1]

/** Opens a sign-up link and chooses a password. @returns the response to the form, which is not followed */
async function signUp(visitor: Visitor, password = NEW, address = email) {
  await visitor.open(await link())
  const { action, hidden } = formOf(visitor.page!.text, '/settings/sign-up')
  return visitor.post(action, { ...hidden, email: address, password, again: password })
}

const link = async (userId = person.id) => (await inviteUser(service.deps, userId, 'http://localhost')).sign_up_link

describe('a person without an account', () => {
  test('is signed in by a link that leaves the address bar and works once, on the page of their tokens, without an alert', async () => {
    const address = await link()
    const code = new URL(address).searchParams.get('code')!
    const [visitor, late] = [browser(), browser()]
    const first = await visitor.request(address)
    expect({ status: first.status, location: first.location, text: first.text }).toEqual({
      status: 303,
      location: '/settings/sign-up',
      text: '',
    })
    const form = await visitor.open('/settings/sign-up')
    expect({ status: form.status, text: form.text, shown: form.shown }).toEqual({
      status: 200,
      text: expect.not.stringContaining(code),
      shown: expect.stringContaining('Nora <b>Lindqvist</b>'),
    })
    // A mail scanner may open it before.
    const { action, hidden } = formOf((await late.open(address)).text)
    const fields = { email, password: NEW, again: NEW }
    const page = await visitor.submit(fields)
    expect({ heading: heading(page.text), alerts: alertsOf(page), mails }).toStrictEqual({
      heading: 'API tokens',
      alerts: undefined,
      mails: [],
    })
    expect({ session: visitor.session, hasSignUp: visitor.jar.has('lk_sign_up') }).toEqual({
      session: expect.stringMatching(/^[\w-]{43}$/),
      hasSignUp: false,
    })
    const session = await service.write(GLOBAL, (tx) => tx.get(keys.session(sha256Hex(visitor.session!))))
    expect(session).toMatchObject({ user_id: person.id, email, address: expect.stringMatching(/^10\.0\./) as string })
    // A token can be created at once: the password was chosen a moment ago.
    expect(await visitor.create(person.workspaceId)).toMatch(/^lk_pat_/)
    expect({ got: (await visitor.open(address)).status, posted: (await late.post(action, { ...hidden, ...fields })).status }).toEqual({
      got: 404,
      posted: 404,
    })
    for (const secret of [code, NEW]) expect(captured.text()).not.toContain(secret)
  })

  test('is told what is wrong with the form, which keeps only the address, begins no session and does not use up the link', async () => {
    const visitor = browser()
    const taken = await giveAccount(service, await service.person(person.workspaceId))
    await visitor.open(await link())
    for (const [wrong, field] of [
      [{ email: 'not an address' }, 'email'],
      [{ email: taken }, 'email'],
      // test/auth/accounts/new-password.test.ts has the rules of a password.
      [{ password: 'Lindqvist2026', again: 'Lindqvist2026' }, 'password'],
      [{ again: `${NEW}!` }, 'again'],
    ] as const) {
      const fields = { email, password: NEW, again: NEW, ...wrong }
      const page = await visitor.submit(fields)
      expect({ status: page.status, text: page.text, session: visitor.session }).toStrictEqual({
        status: 422,
        text: expect.stringContaining(`id="${field}-error"`),
        session: undefined,
      })
      for (const secret of [fields.password, fields.again]) expect(page.text).not.toContain(secret)
    }
    expect((await visitor.submit({ email, password: NEW, again: NEW })).status).toBe(200)
  })

  test('finds the form throttled, so that it cannot be used to find out who has an account', async () => {
    const visitor = browser()
    const taken = await giveAccount(service, await service.person(person.workspaceId))
    const { action, hidden } = formOf((await visitor.open(await link())).text)
    const statuses = []
    for (let i = 0; i < 22; i++) statuses.push((await visitor.post(action, { ...hidden, email: taken, password: NEW, again: NEW })).status)
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 422), 429, 429])
  })

  test('has a known browser: the next sign-in there is no alert, and one elsewhere is', async () => {
    const visitor = browser()
    await signUp(visitor)
    await visitor.signIn(email, NEW)
    expect(mails).toEqual([])
    await browser().signIn(email, NEW)
    expect(mails.map(({ subject }) => subject)).toEqual(['Lanekeeper: Someone signed in from a browser that was not known before.'])
  })

  test('leaves entries of the sign-up and the sign-in in the audit trail', async () => {
    const entries = await entriesOf(service, recorder, GLOBAL, () => signUp(browser()))
    expect(entries.map(({ operation, user_id, outcome }) => [operation, user_id, outcome])).toEqual([
      ['web.sign_up', person.id, 'done'],
      ['web.sign_in', person.id, 'done'],
    ])
  })
})

test('the session of another person in the same browser ends, and its cookie is not reused', async () => {
  const bob = await service.person(person.workspaceId)
  const visitor = await signedIn(service, bob)
  const before = visitor.session!
  await signUp(visitor)
  expect(visitor.session).not.toBe(before)
  const stored = (secret: string) => service.write(GLOBAL, (tx) => tx.get(keys.session(sha256Hex(secret))))
  expect({ old: await stored(before), userId: (await stored(visitor.session!))?.user_id }).toStrictEqual({
    old: undefined,
    userId: person.id,
  })
})

describe('a person who has lost their password', () => {
  beforeEach(async () => {
    await giveAccount(service, person)
    await service.write(GLOBAL, async (tx) =>
      tx.put(keys.account(person.id), { ...(await tx.get(keys.account(person.id)))!, devices: ['known'] }),
    )
  })

  test('is signed in, and learns by mail and in later sessions that it was done, and from an unknown browser', async () => {
    const earlier = browser()
    await earlier.signIn(email)
    mails.length = 0
    const visitor = browser()
    await signUp(visitor, NEW, `new.${email}`)
    expect({ visitor: await visitor.isSignedIn(), earlier: await earlier.isSignedIn() }).toEqual({ visitor: true, earlier: false })
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
      // The address that was replaced: its owner must learn of it.
      [email, 'Lanekeeper: Your password was changed.'],
      [`new.${email}`, 'Lanekeeper: Someone signed in from a browser that was not known before.'],
    ])
    const other = browser()
    await other.signIn(`new.${email}`, NEW)
    const shown = textOf(alertsOf(await other.open('/settings/account'))!)
    expect(shown).toMatch(/(?=.*Your password was changed\.).*Someone signed in from a browser that was not known before\./)
  })

  test('is asked for the code of their authenticator app, as at a sign-in, and has no session before it', async () => {
    await giveAuthenticator(service, person)
    const visitor = browser()
    const entries = await entriesOf(service, recorder, GLOBAL, async () => {
      const response = await signUp(visitor)
      expect({
        location: response.location,
        session: visitor.session,
        hasDevice: visitor.jar.has('lk_device'),
        hasSignUp: visitor.jar.has('lk_sign_up'),
      }).toStrictEqual({ location: '/settings/sign-in/second-factor', session: undefined, hasDevice: false, hasSignUp: false })
    })
    expect(entries.map(({ operation }) => operation)).toEqual(['web.sign_up', 'web.sign_in.password'])
    expect(await visitor.isSignedIn()).toBe(false)
    // The challenge is worth nothing in another browser.
    const thief = browser()
    thief.jar.set('lk_second_factor', visitor.jar.get('lk_second_factor')!)
    await thief.open('/settings/sign-in/second-factor')
    await thief.submit({ code: codeAt(TOTP_SECRET, service.now) })
    expect(await thief.isSignedIn()).toBe(false)

    await visitor.open('/settings/sign-in/second-factor')
    expect((await visitor.submit({ code: '000000' })).status).toBe(401)
    await visitor.submit({ code: codeAt(TOTP_SECRET, service.now) })
    expect(await visitor.isSignedIn()).toBe(true)
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([[email, 'Lanekeeper: Your password was changed.']])
  })
})

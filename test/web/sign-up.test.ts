import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { inviteUser } from '../../src/admin/users.ts'
import type { AuditRecorder } from '../../src/audit/recorder.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import type { Mail } from '../../src/mail/mailer.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { entriesOf, startWithAudit } from '../support/audit-trail.ts'
import { memory } from '../support/memory.ts'
import { codeAt, giveAuthenticator, TOTP_SECRET } from '../support/second-factor.ts'
import type { Person, Service } from '../support/service.ts'
import { formOf, giveAccount, signedIn, textOf, Visitor } from '../support/visitor.ts'

const NEW = 'an entirely different one'
const mails: Mail[] = []
let service: Service
let recorder: AuditRecorder
let person: Person
let email: string
let addresses = 0
beforeAll(async () => void ({ service, recorder } = await startWithAudit(memory, { proxies: 1, mail: (one) => void mails.push(one) })))
afterAll(() => service.stop())
beforeEach(async () => {
  person = await service.person(await service.workspace())
  email = `${person.id}@example.org`
  mails.length = 0
})

const browser = () => new Visitor(service, { address: `203.0.113.${addresses++ % 250}` })
const isSignedIn = async (visitor: Visitor) => (await visitor.request('/settings/account')).status === 200
const heading = (text: string) => /<h1>([^<]*)/.exec(text)?.[1]
const noticesIn = (text: string) => textOf(/<section class="card notices".*?<\/section>/s.exec(text)?.[0] ?? '')

/** Opens a sign-up link and chooses a password. @returns the response to the form, which is not followed */
async function signUp(visitor: Visitor, password = NEW, address = email) {
  const { sign_up_link } = await inviteUser(service.deps, person.id, 'http://localhost')
  await visitor.open(sign_up_link)
  const { action, hidden } = formOf(visitor.page!.text, '/settings/sign-up')
  return visitor.post(action, { ...hidden, email: address, password, again: password })
}

describe('a person without an account', () => {
  test('is signed in after the sign-up, on the page of their tokens, without a notice', async () => {
    const visitor = browser()
    const response = await signUp(visitor)
    expect([response.status, response.location]).toEqual([303, '/settings/tokens'])
    const page = await visitor.open(response.location!)
    expect([heading(page.text), noticesIn(page.text), mails]).toEqual(['API tokens', '', []])
    expect(visitor.session).toMatch(/^[\w-]{43}$/)
    expect(visitor.jar.has('lk_sign_up')).toBe(false)
    const session = await service.write(GLOBAL, (tx) => tx.get(keys.session(sha256Hex(visitor.session!))))
    expect(session).toMatchObject({ user_id: person.id, email, address: expect.stringMatching(/^203\.0\.113\./) as string })
    // A token can be created at once: the password was chosen a moment ago.
    expect(await visitor.create(person.workspaceId)).toMatch(/^lk_pat_/)
  })

  test('has a known browser: the next sign-in there is no notice, and one elsewhere is', async () => {
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
  expect([await stored(before), (await stored(visitor.session!))?.user_id]).toEqual([undefined, person.id])
})

test('a refused sign-up begins no session', async () => {
  const taken = await giveAccount(service, await service.person(person.workspaceId))
  for (const [password, address] of [
    ['short', email],
    [NEW, taken],
  ] as const) {
    const visitor = browser()
    expect([(await signUp(visitor, password, address)).status, visitor.session]).toEqual([422, undefined])
  }
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
    expect([await isSignedIn(visitor), await isSignedIn(earlier)]).toEqual([true, false])
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
      // The address that was replaced: its owner must learn of it.
      [email, 'Lanekeeper: Your password was changed.'],
      [`new.${email}`, 'Lanekeeper: Someone signed in from a browser that was not known before.'],
    ])
    const other = browser()
    await other.signIn(`new.${email}`, NEW)
    const shown = noticesIn((await other.open('/settings/account')).text)
    expect(shown).toContain('Your password was changed.')
    expect(shown).toContain('Someone signed in from a browser that was not known before.')
  })

  test('is asked for the code of their authenticator app, as at a sign-in, and has no session before it', async () => {
    await giveAuthenticator(service, person)
    const visitor = browser()
    const entries = await entriesOf(service, recorder, GLOBAL, async () => {
      const response = await signUp(visitor)
      expect([response.location, visitor.session, visitor.jar.has('lk_device'), visitor.jar.has('lk_sign_up')]).toEqual([
        '/settings/sign-in/second-factor',
        undefined,
        false,
        false,
      ])
    })
    expect(entries.map(({ operation }) => operation)).toEqual(['web.sign_up', 'web.sign_in.password'])
    expect(await isSignedIn(visitor)).toBe(false)
    // The challenge is worth nothing in another browser.
    const thief = browser()
    thief.jar.set('lk_second_factor', visitor.jar.get('lk_second_factor')!)
    await thief.open('/settings/sign-in/second-factor')
    await thief.submit({ code: codeAt(TOTP_SECRET, service.now) })
    expect(await isSignedIn(thief)).toBe(false)

    await visitor.open('/settings/sign-in/second-factor')
    expect((await visitor.submit({ code: '000000' })).status).toBe(401)
    await visitor.submit({ code: codeAt(TOTP_SECRET, service.now) })
    expect(await isSignedIn(visitor)).toBe(true)
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([[email, 'Lanekeeper: Your password was changed.']])
  })
})

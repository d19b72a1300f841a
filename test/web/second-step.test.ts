import { beforeEach, describe, expect, test } from 'vitest'
import { resetSecondFactor } from '../../src/admin/users.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { captureLog } from '../support/log.ts'
import { startForSuite } from '../support/board-team.ts'
import { codeAt, giveAuthenticator, RECOVERY_CODE, SoftwareAuthenticator, TOTP_SECRET } from '../support/second-factor.ts'
import type { Person } from '../support/service.ts'
import { formOf, giveAccount, PASSWORD, Visitor, type ReceivedPage } from '../support/visitor.ts'

const MINUTE = 60_000
const STEP = 30_000
const ASKED = /^\/settings\/sign-in\/second-factor/

describe('the second step of a sign-in', async () => {
  const captured = captureLog()
  let person: Person
  let email: string
  const service = await startForSuite({ log: captured.log })
  const workspaceId = await service.workspace()
  beforeEach(async () => {
    service.now += 10 * STEP
    person = await service.person(workspaceId)
    email = await giveAccount(service, person)
  })
  const browser = () => new Visitor(service)
  const code = () => codeAt(TOTP_SECRET, service.now)
  /** Enters the password. @returns the browser on the page that asks for a code */
  const halfway = async (visitor = browser()) => {
    await visitor.signIn(email)
    return visitor
  }

  describe('with an authenticator app', () => {
    beforeEach(() => giveAuthenticator(service, person))

    test('the password alone begins no session, and a code does', async () => {
      const visitor = browser()
      await visitor.open('/settings/sign-in')
      const { action, hidden } = formOf(visitor.page!.text)
      const page = await visitor.post(action, { ...hidden, email, password: PASSWORD })
      expect({ location: page.location, session: visitor.session, cookies: [...page.cookies.keys()] }).toStrictEqual({
        location: expect.stringMatching(ASKED),
        session: undefined,
        cookies: ['lk_second_factor'],
      })
      expect(await visitor.isSignedIn()).toBe(false)
      await visitor.open(page.location!)
      await visitor.submit({ code: code() })
      expect({ isSignedIn: await visitor.isSignedIn(), hasSecondFactor: visitor.jar.has('lk_second_factor') }).toEqual({
        isSignedIn: true,
        hasSecondFactor: false,
      })
      for (const secret of [code(), TOTP_SECRET, page.cookies.get('lk_second_factor')!.slice(17, 60)])
        expect(captured.text()).not.toContain(secret)
    })

    test('a recovery code signs in once, which its person is notified of', async () => {
      const [one, two] = [await halfway(), await halfway()]
      await one.submit({ code: RECOVERY_CODE.toUpperCase() })
      expect({ isSignedIn: await one.isSignedIn(), status: (await two.submit({ code: RECOVERY_CODE })).status }).toEqual({
        isSignedIn: true,
        status: 401,
      })
      const stored = await service.write(GLOBAL, (tx) => tx.get(keys.alerts(person.id)))
      expect(stored?.alerts.map(({ kind }) => kind)).toEqual(['recovery_code_used'])
    })

    test('six wrong codes are the most that strangers can try, and a known browser still signs in', async () => {
      const known = await halfway()
      await known.submit({ code: code() })
      await known.open('/settings/account')
      await known.submit({ where: 'here' }, '/settings/sign-out')
      const statuses = []
      for (let i = 0; i < 8; i++) statuses.push((await (await halfway()).submit({ code: '000000' })).status)
      expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429, 429])
      service.now += STEP
      const refused = await (await halfway()).submit({ code: code() })
      expect({ status: refused.status, retryAfter: refused.headers.get('retry-after') }).toEqual({ status: 429, retryAfter: '1770' })
      await halfway(known)
      await known.submit({ code: code() })
      expect(await known.isSignedIn()).toBe(true)
    })

    test.each<[string, (visitor: Visitor) => Promise<unknown> | void]>([
      ['after five minutes', () => void (service.now += 5 * MINUTE)],
      ['after the password was changed', () => giveAccountWith(`${PASSWORD}!`)],
      ['without its cookie', (visitor) => void visitor.jar.delete('lk_second_factor')],
      ['with another cookie', (visitor) => void visitor.jar.set('lk_second_factor', 'x'.repeat(43))],
    ])('%s, the right code leads back to the sign-in page', async (_name, change) => {
      const visitor = await halfway()
      await change(visitor)
      const { action, hidden } = formOf(visitor.page!.text)
      const page = await visitor.post(action, { ...hidden, code: code() })
      expect({ location: page.location, session: visitor.session }).toStrictEqual({
        location: expect.stringMatching(/^\/settings\/sign-in\?late=/),
        session: undefined,
      })
      expect((await visitor.open(page.location!)).shown).toContain('The sign-in took too long, or your password was changed')
    })
    const giveAccountWith = async (password: string) => {
      const passwordHash = await service.app.passwords.hash(password)
      await service.write(GLOBAL, async (tx) =>
        tx.put(keys.account(person.id), { ...(await tx.get(keys.account(person.id)))!, password_hash: passwordHash }),
      )
    }

    test('kanban:admin and changes of the account ask for a code too, if none was entered a short time ago', async () => {
      const visitor = await halfway()
      await visitor.submit({ code: code() })
      service.now += 11 * MINUTE
      for (const page of ['authenticator', 'authenticator/remove', 'recovery-codes', 'passkeys/new']) {
        const path = `/settings/account/${page}`
        expect([path, (await visitor.open(path)).text.includes('name="code"')]).toEqual([path, true])
        expect([path, (await visitor.submit({ password: PASSWORD }, path)).status]).toEqual([path, 403])
        expect([path, (await visitor.submit({ code: code() }, path)).status]).toEqual([path, 403])
      }
      await visitor.choose(workspaceId, { scope: 'kanban:admin' })
      const confirm = formOf(visitor.page!.text, '/settings/confirm').action
      for (const fields of [{ password: PASSWORD }, { password: 'wrong', code: code() }] as Record<string, string>[]) {
        await visitor.open(confirm)
        expect((await visitor.submit(fields, '/settings/confirm')).status).toBe(403)
      }
      service.now += 10 * MINUTE
      await visitor.open(confirm)
      expect((await visitor.submit({ password: PASSWORD, code: code() }, '/settings/confirm')).text).toContain('lk_pat_')
    })
  })

  describe('with a passkey', () => {
    let authenticator: SoftwareAuthenticator
    beforeEach(async () => {
      authenticator = new SoftwareAuthenticator()
      authenticator.counter = 1
      await authenticator.giveTo(service, person)
    })
    /** Gets a challenge on the sign-in page. @returns its options */
    const challenge = async (visitor: Visitor): Promise<any> => {
      await visitor.open('/settings/sign-in')
      const { hidden } = formOf(visitor.page!.text, '/settings/sign-in/passkey')
      return JSON.parse((await visitor.post('/settings/sign-in/passkey-challenge', { form_token: hidden['form_token']! })).text)
    }
    const answer = (visitor: Visitor, passkey: string): Promise<ReceivedPage> => visitor.submit({ passkey }, '/settings/sign-in/passkey')

    test('a person signs in, without a password and a code', async () => {
      await giveAuthenticator(service, person)
      const visitor = browser()
      const options = await challenge(visitor)
      expect({
        rpId: options.rpId,
        userVerification: options.userVerification,
        allowCredentials: options.allowCredentials ?? [],
        challenge: options.challenge.length,
      }).toEqual({ rpId: 'localhost', userVerification: 'required', allowCredentials: [], challenge: 43 })
      await answer(visitor, authenticator.get(options, visitor.origin))
      expect(await visitor.isSignedIn()).toBe(true)
      expect((await visitor.open('/settings/account')).shown).toContain(`Laptop added`)
    })

    /** What is wrong with an answer: it gets the options of the challenge and the browser. */
    const wrong: Record<string, (options: any, visitor: Visitor) => string | Promise<string>> = {
      'without a verified user': (options, { origin }) => ((authenticator.flags = 1), authenticator.get(options, origin)),
      'of an authenticator whose counter went back': (options, { origin }) => {
        authenticator.counter = 0
        return authenticator.get(options, origin)
      },
      'to another challenge': (options, { origin }) => authenticator.get({ ...options, challenge: 'x'.repeat(43) }, origin),
      'of an unknown passkey': (options, { origin }) =>
        Object.assign(new SoftwareAuthenticator(), { userHandle: authenticator.userHandle }).get(options, origin),
      'that names another person': async (options, { origin }) => {
        authenticator.userHandle = Buffer.from((await service.person(workspaceId)).id).toString('base64url')
        return authenticator.get(options, origin)
      },
      'of a passkey that was removed': async (options, { origin }) => {
        await resetSecondFactor(service.deps, person.id)
        return authenticator.get(options, origin)
      },
      'with a changed signature': (options, { origin }) => {
        const changed = JSON.parse(authenticator.get(options, origin))
        changed.response.authenticatorData = changed.response.authenticatorData.replace(/.$/, (last: string) => (last === 'A' ? 'Q' : 'A'))
        return JSON.stringify(changed)
      },
      'that is not JSON': () => '{',
    }
    test.each(Object.keys(wrong))('an answer %s is refused with the same page', async (name) => {
      const visitor = browser()
      const options = await challenge(visitor)
      const page = await answer(visitor, await wrong[name]!(options, visitor))
      expect({ status: page.status, shown: page.shown, session: visitor.session }).toStrictEqual({
        status: 401,
        shown: expect.stringContaining('The passkey was not accepted.'),
        session: undefined,
      })
    })
  })
})

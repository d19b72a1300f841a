import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { sha256Hex } from '../../../src/auth/secrets.ts'
import type { Entry } from '../../../src/auth/accounts/entry.ts'
import type { Passwords } from '../../../src/auth/accounts/passwords.ts'
import { resumeSession } from '../../../src/auth/accounts/sessions.ts'
import { SignIn, type SignInAttempt } from '../../../src/auth/accounts/sign-in.ts'
import { MINUTE } from '../../../src/model/time.ts'
import { decorateStore } from '../../../src/store/port.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { drivers } from '../../support/drivers.ts'
import { effort } from '../../support/effort.ts'
import { memory } from '../../support/memory.ts'
import { codeAt, giveAuthenticator, TOTP_SECRET } from '../../support/second-factor.ts'
import { cheapPasswords, Service, type Person } from '../../support/service.ts'
import { TokenBuckets } from '../../support/token-bucket.ts'
import { giveAccount, PASSWORD } from '../../support/visitor.ts'

/** An attempt with the right password. */
const VISIT = {
  password: PASSWORD,
  formToken: 'token',
  agent: 'A browser',
  network: '192.0.2.1',
  device: undefined,
  currentSession: undefined,
}

/** Passwords that record for each check whether there was a stored hash. */
class CountingPasswords implements Passwords {
  readonly checked: boolean[] = []
  hash = cheapPasswords.hash
  verify(password: string, storedHash: string | undefined): Promise<boolean> {
    this.checked.push(storedHash !== undefined)
    return cheapPasswords.verify(password, storedHash)
  }
}

describe.each(drivers)('sign-in, on $name', async (driver) => {
  let passwords: CountingPasswords
  let signIn: SignIn
  const service = await Service.forSuite(driver)
  const person = await service.person(await service.workspace())
  const email = await giveAccount(service, person)
  beforeEach(() => {
    passwords = new CountingPasswords()
    signIn = new SignIn(service.deps, passwords)
  })

  const attempt = (more: Partial<SignInAttempt> = {}) => signIn.attempt({ ...VISIT, email, ...more })
  /** Signs in. @throws {Error} if the attempt fails */
  const signedIn = async (more: Partial<SignInAttempt> = {}) => {
    const result = await attempt(more)
    if (result.result !== 'signed_in') throw new Error(result.result)
    return result
  }
  const wrong = (more: Partial<SignInAttempt> = {}) => attempt({ password: 'wrong', ...more })

  test('the session that the browser had ends when the new one begins, however long it takes to read', async () => {
    const { secret, session } = await signedIn()
    const resume = () => service.write(GLOBAL, (tx) => resumeSession(tx, secret, service.deps))
    const store = decorateStore(service.store, {
      async read(partition, request) {
        if (request.records.includes(keys.session(session.hash))) for (let i = 0; i < 100; i++) await nextTurn()
        return service.store.read(partition, request)
      },
    })
    const before = await resume()
    signIn = new SignIn({ ...service.deps, store }, passwords)
    await signedIn({ currentSession: session.hash })
    expect({ before, after: await resume() }).toStrictEqual({ before: session, after: undefined })
  })

  test('an unknown e-mail address and a wrong password have the same result for the same work', async () => {
    const work = async (more: Partial<SignInAttempt>) => {
      passwords.checked.length = service.store.trips = service.store.touched.length = 0
      // The user id is for the log only.
      const { userId: _logged, ...result } = (await wrong(more)) as { userId?: string }
      return { result, checks: passwords.checked.length, trips: service.store.trips }
    }
    const known = await work({})
    expect(known).toEqual({ result: { result: 'refused' }, checks: 1, trips: 1 })
    expect(passwords.checked).toEqual([true])
    expect(await work({ email: 'nobody@example.org' })).toEqual(known)
    expect(passwords.checked).toEqual([false])
    expect(await work({ email: '' })).toEqual(known)
    expect(await work({ device: 'invented' })).toEqual(known)
    expect(await work({ email: 'nobody@example.org', device: 'invented' })).toEqual(known)
  })

  test('the device cookie of another account does not make a browser known', async () => {
    const other = await service.person(person.workspaceId)
    const { device } = await signedIn({ email: await giveAccount(service, other), network: '192.0.2.9' })
    expect((await signedIn({ device })).device).not.toBe(device)
  })

  test('an account remembers ten browsers, as hashes, and one that signs in again replaces no other one', async () => {
    const account = async () => (await service.write(GLOBAL, (tx) => tx.get(keys.account(person.id))))!
    const devices: string[] = []
    for (let i = 0; i < 11; i++) devices.push((await signedIn()).device)
    const before = (await account()).devices
    expect(before).toEqual(devices.slice(1).toReversed().map(sha256Hex))
    for (let i = 0; i < 12; i++) await signedIn({ device: devices[10]! })
    expect((await account()).devices).toEqual(before)
    await signedIn({ device: devices[9]! })
    expect((await account()).devices).toEqual([before[1], before[0], ...before.slice(2)])
  })

  test.each(['removed', 'given another password'])(
    'if the account is %s while its password is checked, no session begins',
    async (change) => {
      const other = await service.person(person.workspaceId)
      const address = await giveAccount(service, other)
      service.store.beforeCommit = async () => {
        if (change === 'removed') await removeAccount(other)
        else await giveAccount(service, other)
      }
      expect(await attempt({ email: address })).toEqual({ result: 'refused', userId: other.id })
    },
  )
  const removeAccount = ({ id }: Person) =>
    service.write(GLOBAL, async (tx) => {
      await tx.get(keys.account(id))
      tx.remove(keys.account(id))
    })

  describe('re-authentication', () => {
    test('is throttled per session', async () => {
      const [one, two] = [await signedIn(), await signedIn()]
      const verify = (password: string, { session } = one) => signIn.verifyPassword(session, password, '')
      const results: unknown[] = []
      for (let i = 0; i < 9; i++) results.push(await verify('wrong'))
      const throttled = { retryAfterMs: 2 * MINUTE }
      expect(results).toEqual([...Array.from({ length: 8 }, () => 'refused'), throttled])
      expect([await verify(PASSWORD), await verify(PASSWORD, two)]).toEqual([throttled, 'verified'])
    })

    test('is not throttled if it succeeds, and refuses the password of a removed account', async () => {
      const other = await service.person(person.workspaceId)
      const { session } = await signedIn({ email: await giveAccount(service, other) })
      for (let i = 0; i < 20; i++) expect(await signIn.verifyPassword(session, PASSWORD, '')).toBe('verified')
      await removeAccount(other)
      expect(await signIn.verifyPassword(session, PASSWORD, '')).toBe('refused')
    })

    test('asks a person with an authenticator app for a code too, unless they entered one a short time ago', async () => {
      const other = await service.person(person.workspaceId)
      const { session } = await signedIn({ email: await giveAccount(service, other) })
      await giveAuthenticator(service, other)
      const code = codeAt(TOTP_SECRET, service.now)
      const results = []
      for (const one of ['', code, code, null]) results.push(await signIn.verifyPassword(session, PASSWORD, one))
      expect(results).toEqual(['code_refused', 'verified', 'code_refused', 'verified'])
    })
  })
})

test('several processes count an attempt by the network, by both and by the account, or by the browser that the account knows', async () => {
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const service = await Service.start(memory)
  const person = await service.person(await service.workspace())
  const email = await giveAccount(service, person)
  const counted: string[] = []
  const counters = { add: async (key: string) => counted.push(key), close: async () => undefined }
  const signIn = new SignIn(service.deps, cheapPasswords, counters)
  const entered = (await signIn.attempt({ ...VISIT, email })) as Entry
  for (const device of [undefined, entered.device]) await signIn.attempt({ ...VISIT, email, device, password: 'wrong' })
  await signIn.verifyPassword(entered.session, 'wrong', null)
  await vi.runAllTimersAsync()
  await service.stop()
  const account = sha256Hex(email)
  expect(counted.toSorted()).toEqual(
    [
      'sign-in-network:192.0.2.1',
      `sign-in-account-network:${account} 192.0.2.1`,
      `sign-in-account:${account}`,
      `sign-in-account-network:${account} ${sha256Hex(entered.device)}`,
      `sign-in-account-network:session ${entered.session.hash}`,
    ].toSorted(),
  )
})

/** Wrong or right attempts, one after the other or all at once. `spread` is another one each time. */
const step = fc.record({
  email: fc.constantFrom('ann', 'nobody', 'spread'),
  network: fc.constantFrom('192.0.2.1', '192.0.2.2', 'spread'),
  browser: fc.constantFrom('unknown', 'invented', 'known'),
  isRight: fc.constantFrom(false, false, true),
  isAtOnce: fc.boolean(),
  count: fc.constantFrom(1, 3, 9, 60),
  pause: fc.constantFrom(0, MINUTE / 4 - 1, MINUTE / 4, 2 * MINUTE - 1, 2 * MINUTE),
})

const attempt = { email: 'ann', network: '192.0.2.1', browser: 'unknown', isRight: false, isAtOnce: false, count: 1, pause: 0 }
/** Each limit is reached, until the millisecond when it allows one more. */
const examples = [
  [{ count: 9 }, { pause: 2 * MINUTE - 1 }, { pause: 1, isRight: true }],
  [{ browser: 'known', count: 9 }, { browser: 'known', isRight: true }, { isRight: true }, { browser: 'known', pause: 2 * MINUTE }],
  [{ email: 'spread', count: 60 }, { pause: MINUTE / 2 - 1 }, { pause: 1, count: 3 }],
  [
    { network: 'spread', count: 110 },
    { network: '192.0.2.2', pause: MINUTE / 4 - 1 },
    { network: '192.0.2.2', pause: 1, count: 3 },
  ],
].map((steps) => steps.map((members) => ({ ...attempt, ...members })))

test('attempts are throttled by network, by account and network, and by account, or by known browser', async () => {
  const service = await Service.start(memory)
  const ann = await service.person(await service.workspace())
  await giveAccount(service, ann, 'ann@example.org')
  let checked = 0
  const passwords = {
    hash: cheapPasswords.hash,
    verify: async (password: string, hash?: string) => (checked++, hash !== undefined && password === PASSWORD),
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const signIn = new SignIn(service.deps, passwords)
      const networks = new TokenBuckets(50, MINUTE / 2)
      const accounts = new TokenBuckets(100, MINUTE / 4)
      const pairs = new TokenBuckets(8, 2 * MINUTE)
      let known: string | undefined
      for (const { email, network, browser, isRight, isAtOnce, count, pause } of steps) {
        service.now += pause
        const person = email === 'ann' ? ann : undefined
        const address = (i: number) => `${email === 'spread' ? `stranger${i}` : email}@example.org`
        // The browser stays known, by throttles of its own: this sign-in is no attempt of the model.
        const visit = { ...VISIT, email: 'ann@example.org', network: '192.0.2.9', device: known }
        const own = await new SignIn(service.deps, passwords).attempt(visit)
        known = own.result === 'signed_in' ? own.device : undefined
        const device = browser === 'known' ? known : undefined
        const networkOf = (i: number) => (network === 'spread' ? `198.51.100.${i}` : network)
        const charges = (i: number): [TokenBuckets, string][] => {
          if (device !== undefined && person !== undefined) return [[pairs, `${address(i)} known`]]
          const from = networkOf(i)
          return [
            [networks, from],
            [pairs, `${address(i)} ${from}`],
            [accounts, address(i)],
          ]
        }
        // Right attempts at once would take from the buckets of each other for a moment.
        const size = isRight ? Math.min(count, 3) : count
        const expected = Array.from({ length: size }, (_, i) => {
          const wait = charges(i)
            .map(([buckets, key]) => buckets.waitOf(key, service.now))
            .find((one) => one > 0)
          if (wait !== undefined) return { result: 'throttled', userId: person?.id, retryAfterMs: wait }
          if (isRight && person !== undefined) return { result: 'signed_in', userId: person.id }
          for (const [buckets, key] of charges(i)) buckets.take(key, service.now)
          return { result: 'refused', userId: person?.id }
        })
        const attempt = (i: number) =>
          signIn.attempt({
            ...VISIT,
            email: address(i),
            password: isRight ? PASSWORD : 'wrong',
            network: networkOf(i),
            device: browser === 'invented' ? 'invented' : device,
          })
        checked = 0
        const results = []
        for (let i = 0; i < size; i++) results.push(isAtOnce && !isRight ? attempt(i) : await attempt(i))
        expect(await Promise.all(results)).toMatchObject(expected)
        // A throttled attempt checks no password.
        expect(checked).toBe(expected.filter(({ result }) => result !== 'throttled').length)
      }
    }),
    { numRuns: effort(15), examples: examples.map((steps) => [steps]) },
  )
  await service.stop()
})

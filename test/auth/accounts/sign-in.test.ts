import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sha256Hex } from '../../../src/auth/secrets.ts'
import type { Passwords } from '../../../src/auth/accounts/passwords.ts'
import { resumeSession } from '../../../src/auth/accounts/sessions.ts'
import { SignIn, type SignInAttempt } from '../../../src/auth/accounts/sign-in.ts'
import { MINUTE } from '../../../src/model/time.ts'
import { decorateStore } from '../../../src/store/port.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { drivers } from '../../support/drivers.ts'
import { cheapPasswords, Service, type Person } from '../../support/service.ts'
import { giveAccount, PASSWORD } from '../../support/visitor.ts'

/** Passwords that record for each check whether there was a stored hash. */
class CountingPasswords implements Passwords {
  readonly checked: boolean[] = []
  hash = cheapPasswords.hash
  verify(password: string, storedHash: string | undefined): Promise<boolean> {
    this.checked.push(storedHash !== undefined)
    return cheapPasswords.verify(password, storedHash)
  }
}

describe.each(drivers)('sign-in, on $name', (driver) => {
  let service: Service
  let person: Person
  let email: string
  let passwords: CountingPasswords
  let signIn: SignIn
  beforeAll(async () => {
    service = await Service.start(driver)
    person = await service.person(await service.workspace())
    email = await giveAccount(service, person)
  })
  afterAll(() => service.stop())
  beforeEach(() => {
    passwords = new CountingPasswords()
    signIn = new SignIn(service.deps, passwords)
  })

  const attempt = (more: Partial<SignInAttempt> = {}) =>
    signIn.attempt({
      email,
      password: PASSWORD,
      agent: 'A browser',
      network: '192.0.2.1',
      device: undefined,
      currentSession: undefined,
      ...more,
    })
  /** Signs in. @throws {Error} if the attempt fails */
  const signedIn = async (more: Partial<SignInAttempt> = {}) => {
    const result = await attempt(more)
    if (result.result !== 'signed_in') throw new Error(result.result)
    return result
  }
  const wrong = (more: Partial<SignInAttempt> = {}) => attempt({ password: 'wrong', ...more })

  test('the right password begins a session', async () => {
    const { userId, secret, session } = await signedIn()
    expect(userId).toBe(person.id)
    expect(await service.write(GLOBAL, (tx) => resumeSession(tx, secret, service.deps.clock))).toEqual(session)
  })

  test('the session that the browser had ends when the new one begins, however long it takes to read', async () => {
    const { secret, session } = await signedIn()
    const resume = () => service.write(GLOBAL, (tx) => resumeSession(tx, secret, service.deps.clock))
    const store = decorateStore(service.store, {
      async read(partition, request) {
        if (request.records.includes(keys.session(session.hash))) for (let i = 0; i < 100; i++) await nextTurn()
        return service.store.read(partition, request)
      },
    })
    const before = await resume()
    signIn = new SignIn({ ...service.deps, store }, passwords)
    await signedIn({ currentSession: session.hash })
    expect([before, await resume()]).toEqual([session, undefined])
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

  test('unknown addresses are throttled like accounts, and a throttled attempt checks no password', async () => {
    for (const address of [email, 'nobody@example.org']) {
      passwords.checked.length = 0
      const results: unknown[] = []
      for (let i = 0; i < 10; i++) {
        results.push(await wrong({ email: address, network: `192.0.2.${address.length}` }))
      }
      // The user id is for the log only.
      const userId = address === email ? person.id : undefined
      const throttled = { result: 'throttled', userId, retryAfterMs: 2 * MINUTE }
      expect(results).toEqual([...Array.from({ length: 8 }, () => ({ result: 'refused', userId })), throttled, throttled])
      expect(passwords.checked).toHaveLength(8)
    }
  })

  test('while throttled, even the right password is refused, until the announced time', async () => {
    const at = service.now
    for (let i = 0; i < 8; i++) await wrong()
    const results = [await attempt()]
    service.now = at + 2 * MINUTE - 1
    results.push(await attempt())
    service.now = at + 2 * MINUTE
    results.push(await attempt())
    service.now = at
    expect(results.map(({ result }) => result)).toEqual(['throttled', 'throttled', 'signed_in'])
  })

  test('concurrent attempts are counted separately', async () => {
    const results = await Promise.all(Array.from({ length: 30 }, () => wrong()))
    expect(results.filter(({ result }) => result === 'refused')).toHaveLength(8)
    expect(passwords.checked).toHaveLength(8)
  })

  test('successful attempts are not throttled', async () => {
    for (let i = 0; i < 30; i++) expect((await attempt()).result).toBe('signed_in')
  })

  test('a network that tries many accounts is throttled, and no other network is', async () => {
    const results: string[] = []
    for (let i = 0; i < 52; i++) results.push((await wrong({ email: `somebody${i}@example.org` })).result)
    expect(results.indexOf('throttled')).toBe(50)
    expect(await attempt()).toMatchObject({ result: 'throttled', retryAfterMs: MINUTE / 2 })
    expect((await attempt({ network: '192.0.2.2' })).result).toBe('signed_in')
  })

  test('an attempt that the account refuses does not count against its network', async () => {
    for (let i = 0; i < 100; i++) await wrong()
    const results: string[] = []
    for (let i = 0; i < 43; i++) results.push((await wrong({ email: `stranger${i}@example.org` })).result)
    expect(results.indexOf('throttled')).toBe(50 - 8)
  })

  test('each known browser of an account is throttled separately', async () => {
    const [one, two] = [await signedIn(), await signedIn()]
    for (let i = 0; i < 10; i++) await wrong({ device: one.device })
    const results = [await attempt({ device: one.device }), await attempt({ device: two.device })]
    expect(results.map(({ result }) => result)).toEqual(['throttled', 'signed_in'])
  })

  test('an attacker in one network cannot lock a person out who signs in from another network', async () => {
    for (let i = 0; i < 500; i++) await wrong({ network: '198.51.100.1' })
    expect((await attempt()).result).toBe('signed_in')
  })

  test('an account that many networks try is closed to strangers, and open to known browsers', async () => {
    const { device } = await signedIn()
    const results: string[] = []
    for (let i = 0; i < 102; i++) results.push((await wrong({ network: `198.51.100.${i}` })).result)
    expect(results.indexOf('throttled')).toBe(100)
    expect(await attempt({ network: '192.0.2.3' })).toMatchObject({ result: 'throttled', retryAfterMs: MINUTE / 4 })
    expect(await attempt({ device })).toMatchObject({ result: 'signed_in', device })
    expect((await attempt({ device: 'invented' })).result).toBe('throttled')
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
    test('is throttled per session, until the millisecond that was announced', async () => {
      const at = service.now
      const [one, two] = [await signedIn(), await signedIn()]
      const verify = (password: string, { session } = one) => signIn.verifyPassword(session, password)
      const results: unknown[] = []
      for (let i = 0; i < 9; i++) results.push(await verify('wrong'))
      const throttled = { retryAfterMs: 2 * MINUTE }
      expect(results).toEqual([...Array.from({ length: 8 }, () => 'refused'), throttled])
      expect([await verify(PASSWORD), await verify(PASSWORD, two)]).toEqual([throttled, 'verified'])
      service.now = at + 2 * MINUTE - 1
      const late = [await verify(PASSWORD)]
      service.now = at + 2 * MINUTE
      late.push(await verify(PASSWORD))
      service.now = at
      expect(late).toEqual([{ retryAfterMs: 1 }, 'verified'])
    })

    test('is not throttled if it succeeds, and refuses the password of a removed account', async () => {
      const other = await service.person(person.workspaceId)
      const { session } = await signedIn({ email: await giveAccount(service, other) })
      for (let i = 0; i < 20; i++) expect(await signIn.verifyPassword(session, PASSWORD)).toBe('verified')
      await removeAccount(other)
      expect(await signIn.verifyPassword(session, PASSWORD)).toBe('refused')
    })
  })
})

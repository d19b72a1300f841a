import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Passwords } from '../../../src/auth/accounts/passwords.ts'
import { resumeSession } from '../../../src/auth/accounts/sessions.ts'
import { networkOf, SignIn, type SignInAttempt } from '../../../src/auth/accounts/sign-in.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { drivers } from '../../support/drivers.ts'
import { cheapPasswords, Service, type Person } from '../../support/service.ts'
import { giveAccount, PASSWORD } from '../../support/visitor.ts'

const MINUTE = 60_000

/** Passwords that tell how often one was checked, and against what. */
class CountingPasswords implements Passwords {
  readonly checked: boolean[] = []
  hash = cheapPasswords.hash
  fits(password: string, kept: string | undefined): Promise<boolean> {
    this.checked.push(kept !== undefined)
    return cheapPasswords.fits(password, kept)
  }
}

describe.each(drivers)('signing in, on $name', (driver) => {
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
    signIn.attempt({ email, password: PASSWORD, address: '192.0.2.1', device: undefined, present: undefined, ...more })
  const wrong = (more: Partial<SignInAttempt> = {}) => attempt({ password: 'wrong', ...more })

  test('with the right password a session begins', async () => {
    const came = await attempt()
    if (came.result !== 'signed_in') throw new Error(came.result)
    expect(came.userId).toBe(person.id)
    expect(await service.write(GLOBAL, (tx) => resumeSession(tx, came.secret, service.deps.clock))).toEqual(came.session)
  })

  test('an unknown person and a wrong password: the same answer for the same work', async () => {
    const work = async (more: Partial<SignInAttempt>) => {
      passwords.checked.length = service.store.trips = service.store.touched.length = 0
      // Whose account it was is for the log alone.
      const { userId: _logged, ...answer } = (await wrong(more)) as { userId?: string }
      return { answer, checks: passwords.checked.length, trips: service.store.trips }
    }
    const known = await work({})
    expect(known).toEqual({ answer: { result: 'refused' }, checks: 1, trips: 1 })
    expect(passwords.checked).toEqual([true])
    expect(await work({ email: 'nobody@example.org' })).toEqual(known)
    expect(passwords.checked).toEqual([false])
    expect(await work({ email: '' })).toEqual(known)
    expect(await work({ device: 'made up' })).toEqual(known)
    expect(await work({ email: 'nobody@example.org', device: 'made up' })).toEqual(known)
  })

  test('both are throttled alike, and a throttled attempt looks at no password', async () => {
    for (const address of [email, 'nobody@example.org']) {
      passwords.checked.length = 0
      const came: unknown[] = []
      for (let i = 0; i < 10; i++) {
        const { userId: _logged, ...answer } = (await wrong({ email: address, address: `192.0.2.${address.length}` })) as {
          userId?: string
        }
        came.push(answer)
      }
      expect(came).toEqual([
        ...Array.from({ length: 8 }, () => ({ result: 'refused' })),
        { result: 'throttled', milliseconds: 2 * MINUTE },
        { result: 'throttled', milliseconds: 2 * MINUTE },
      ])
      expect(passwords.checked).toHaveLength(8)
    }
  })

  test('throttled, even the right password is not looked at, until the time that was said', async () => {
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

  test('attempts at the same time count each', async () => {
    const came = await Promise.all(Array.from({ length: 30 }, () => wrong()))
    expect(came.filter(({ result }) => result === 'refused')).toHaveLength(8)
    expect(passwords.checked).toHaveLength(8)
  })

  test('who signs in rightly is not throttled', async () => {
    for (let i = 0; i < 30; i++) expect((await attempt()).result).toBe('signed_in')
  })

  test('an address that tries many accounts is stopped, and nobody else', async () => {
    const came: string[] = []
    for (let i = 0; i < 52; i++) came.push((await wrong({ email: `somebody${i}@example.org` })).result)
    expect(came.indexOf('throttled')).toBe(50)
    expect((await attempt()).result).toBe('throttled')
    expect((await attempt({ address: '192.0.2.2' })).result).toBe('signed_in')
  })

  test('a victim elsewhere is not locked out by one attacker, however long that one tries', async () => {
    for (let i = 0; i < 500; i++) await wrong({ address: '198.51.100.1' })
    expect((await attempt()).result).toBe('signed_in')
  })

  test('an account that many addresses try is closed to strangers, and open to browsers that its person used before', async () => {
    const before = await attempt()
    if (before.result !== 'signed_in') throw new Error(before.result)
    const came: string[] = []
    for (let i = 0; i < 102; i++) came.push((await wrong({ address: `198.51.100.${i}` })).result)
    expect(came.indexOf('throttled')).toBe(100)
    expect((await attempt({ address: '192.0.2.3' })).result).toBe('throttled')
    expect(await attempt({ device: before.device })).toMatchObject({ result: 'signed_in', device: before.device })
    expect((await attempt({ device: 'made up' })).result).toBe('throttled')
  })

  test('a browser that was used before cannot guess without end either', async () => {
    const before = await attempt()
    if (before.result !== 'signed_in') throw new Error(before.result)
    const came: string[] = []
    for (let i = 0; i < 9; i++) came.push((await wrong({ device: before.device })).result)
    expect(came.indexOf('throttled')).toBe(8)
  })

  test("a browser that another account knows is a stranger's", async () => {
    const other = await service.person(person.workspaceId)
    const device = await signIn.attempt({
      email: await giveAccount(service, other),
      password: PASSWORD,
      address: '192.0.2.9',
      device: undefined,
      present: undefined,
    })
    if (device.result !== 'signed_in') throw new Error(device.result)
    const came = await attempt({ device: device.device })
    expect(came.result === 'signed_in' && came.device !== device.device).toBe(true)
  })

  test('ten browsers are known, and only as hashes', async () => {
    const devices: string[] = []
    for (let i = 0; i < 11; i++) {
      const came = await attempt()
      if (came.result === 'signed_in') devices.push(came.device)
    }
    const account = (await service.write(GLOBAL, (tx) => tx.get(keys.account(person.id))))!
    expect(account.devices).toHaveLength(10)
    for (const device of devices) expect(JSON.stringify(account)).not.toContain(device)
  })

  test('a password that is changed between its check and the session begins none', async () => {
    service.store.beforeCommit = async () => {
      await service.write(GLOBAL, async (tx) => {
        const account = (await tx.get(keys.account(person.id)))!
        tx.put(keys.account(person.id), { ...account, password_hash: await cheapPasswords.hash('another password') })
      })
    }
    expect((await attempt()).result).toBe('refused')
    await giveAccount(service, person)
  })

  test('giving the password again is throttled for each session', async () => {
    const [one, two] = [await attempt(), await attempt()]
    if (one.result !== 'signed_in' || two.result !== 'signed_in') throw new Error('refused')
    const came: unknown[] = []
    for (let i = 0; i < 9; i++) came.push(await signIn.verifyPassword(one.session, 'wrong'))
    expect(came).toEqual([...Array.from({ length: 8 }, () => 'refused'), { milliseconds: 2 * MINUTE }])
    expect(await signIn.verifyPassword(one.session, PASSWORD)).toEqual({ milliseconds: 2 * MINUTE })
    expect(await signIn.verifyPassword(two.session, PASSWORD)).toBe('proved')
  })
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['2001:db8::', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  [undefined, 'unknown'],
])('the network of %s is %s', (address, expected) => expect(networkOf(address)).toBe(expected))

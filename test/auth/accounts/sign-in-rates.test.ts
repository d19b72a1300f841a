import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { SignIn, type SignInAttempt } from '../../../src/auth/accounts/sign-in.ts'
import { MINUTE } from '../../../src/model/time.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { memory } from '../../support/memory.ts'
import { cheapPasswords, Service, type Person } from '../../support/service.ts'
import { giveAccount, PASSWORD } from '../../support/visitor.ts'

let service: Service
let person: Person
let email: string
let signIn: SignIn
beforeAll(async () => {
  service = await Service.start(memory)
})
afterAll(() => service.stop())
beforeEach(async () => {
  person = await service.person(await service.workspace())
  email = await giveAccount(service, person)
  signIn = new SignIn(service.deps, cheapPasswords)
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
const wrong = (more: Partial<SignInAttempt> = {}) => attempt({ password: 'wrong', ...more })
const signedIn = async (more: Partial<SignInAttempt> = {}) => {
  const result = await attempt(more)
  if (result.result !== 'signed_in') throw new Error(result.result)
  return result
}
const account = () => service.write(GLOBAL, (tx) => tx.get(keys.account(person.id)))
const removeAccount = () =>
  service.write(GLOBAL, async (tx) => {
    await tx.get(keys.account(person.id))
    tx.remove(keys.account(person.id))
  })

describe('sign-in', () => {
  test('a throttled network may try again after 30 seconds, and a throttled account after 15 seconds', async () => {
    for (let i = 0; i < 50; i++) await wrong({ email: `stranger${i}@example.org` })
    expect(await attempt()).toMatchObject({ result: 'throttled', retryAfterMs: 30_000 })
    for (let i = 0; i < 100; i++) await wrong({ network: `198.51.100.${i}` })
    expect(await attempt({ network: '203.0.113.1' })).toMatchObject({ result: 'throttled', retryAfterMs: 15_000 })
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
    expect([(await attempt({ device: one.device })).result, (await attempt({ device: two.device })).result]).toEqual([
      'throttled',
      'signed_in',
    ])
  })

  test('a failed attempt states the owner of the address for the log', async () => {
    const results: unknown[] = []
    for (let i = 0; i < 9; i++) results.push(await wrong())
    expect([results[0], results[8]]).toEqual([
      { result: 'refused', userId: person.id },
      { result: 'throttled', userId: person.id, retryAfterMs: 2 * MINUTE },
    ])
  })

  test('a known browser that signs in again replaces no other one', async () => {
    const devices = [(await signedIn()).device, (await signedIn()).device]
    const before = (await account())!.devices
    for (let i = 0; i < 12; i++) await signedIn({ device: devices[1]! })
    expect((await account())!.devices).toEqual(before)
    await signedIn({ device: devices[0]! })
    expect((await account())!.devices).toEqual(before.toReversed())
  })

  test.each(['removed', 'given another password'])(
    'if the account is %s while its password is checked, no session begins',
    async (change) => {
      service.store.beforeCommit = async () => {
        if (change === 'removed') await removeAccount()
        else await giveAccount(service, person)
      }
      expect(await attempt()).toEqual({ result: 'refused', userId: person.id })
    },
  )
})

describe('re-authentication', () => {
  test('successful attempts are not throttled', async () => {
    const { session } = await signedIn()
    for (let i = 0; i < 20; i++) expect(await signIn.verifyPassword(session, PASSWORD)).toBe('verified')
  })

  test('a throttled session waits until the millisecond that was announced', async () => {
    const { session } = await signedIn()
    for (let i = 0; i < 8; i++) await signIn.verifyPassword(session, 'wrong')
    service.now += 2 * MINUTE - 1
    expect(await signIn.verifyPassword(session, PASSWORD)).toEqual({ retryAfterMs: 1 })
    service.now += 1
    expect(await signIn.verifyPassword(session, PASSWORD)).toBe('verified')
  })

  test('the password of a removed account is refused', async () => {
    const { session } = await signedIn()
    await removeAccount()
    expect(await signIn.verifyPassword(session, PASSWORD)).toBe('refused')
  })
})

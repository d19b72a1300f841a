import { beforeEach, describe, expect, test } from 'vitest'
import { createChallenge } from '../../../src/auth/accounts/challenges.ts'
import {
  assertionOptions,
  changePasskey,
  readAnswer,
  registerPasskey,
  registrationOptions,
  relyingParty,
  verifyAssertion,
} from '../../../src/auth/accounts/passkeys.ts'
import { secondFactorOf } from '../../../src/auth/accounts/second-factor.ts'
import type { Session } from '../../../src/model/account.ts'
import { systemRandom } from '../../../src/model/ids.ts'
import type { Passkey } from '../../../src/model/second-factor.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { setUpRecords } from '../../support/memory-records.ts'
import { SoftwareAuthenticator } from '../../support/second-factor.ts'

const USER = 'usr_00000000000000000000'
const ORIGIN = 'https://kanban.example:8443'
const PARTY = { origin: ORIGIN, id: 'kanban.example' }
const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const CHALLENGE = 'c'.repeat(42) + 'A'
const base64url = (text: string) => Buffer.from(text).toString('base64url')
const user = { id: base64url(USER) }

/** A passkey as it is stored. */
const passkey = (number = 0, members: Partial<Passkey> = {}): Passkey => ({
  id: `pky_0000000000000000000${number}`,
  name: 'Laptop',
  credential_id: `credential${number}`,
  public_key: 'key',
  counter: 0,
  transports: ['usb', 'nfc'],
  added_at: '2026-11-19T12:00:00.000Z',
  used_at: null,
  ...members,
})

describe('the relying party', () => {
  test.each([
    [ORIGIN, 'kanban.example'],
    ['http://localhost:3000', 'localhost'],
    ['http://127.0.0.1:3000', undefined],
    ['http://[2001:db8::1]:3000', undefined],
  ])('of %s has the id %s', (origin, id) => expect(relyingParty(origin)).toEqual(id && { origin, id }))
})

describe('the answer of a passkey', () => {
  const data = (text: string) => ({ clientDataJSON: base64url(text) })
  const json = { id: 'credential', response: { ...data(`{"challenge":"${CHALLENGE}"}`), userHandle: user.id, signature: 'x' } }
  const read = (value: unknown, origin = ORIGIN) => readAnswer(JSON.stringify(value), origin)

  test('is read with its statements about the passkey', () => {
    const expected = { party: PARTY, credentialId: 'credential', userId: USER, challenge: CHALLENGE, json }
    expect(read(json)).toEqual(expected)
    for (const userHandle of [null, undefined])
      expect(read({ ...json, response: { ...json.response, userHandle } })).toMatchObject({ userId: '', challenge: CHALLENGE })
  })

  test.each<[string, unknown, string?]>([
    ['at an IP address', json, 'http://127.0.0.1:3000'],
    ['that is no object', null],
    ['without an id', { response: json.response }],
    ['without a response', { id: 'credential' }],
    ['with members of other types', { id: 1, response: [] }],
    ['without data of the browser', { ...json, response: {} }],
    ['with data that are not JSON', { ...json, response: data('{') }],
    ['with data without a challenge', { ...json, response: data('{}') }],
  ])('%s is malformed', (_what, value, origin) => expect(read(value, origin)).toBeUndefined())

  test('that is not JSON is malformed', () => expect(['', '{'].map((text) => readAnswer(text, ORIGIN))).toEqual([undefined, undefined]))
})

describe('the options of a challenge', () => {
  const credentials = [{ id: 'credential0', type: 'public-key', transports: ['usb', 'nfc'] }]
  const request = { rpId: 'kanban.example', challenge: CHALLENGE, timeout: 5 * 60_000, userVerification: 'required' }

  test('for a new passkey ask for a verified user, store the person in it, and exclude the passkeys that the person has', async () => {
    const person = { userId: USER, email: 'ann@example.org', name: 'Ann', passkeys: [passkey()] }
    expect(await registrationOptions(PARTY, CHALLENGE, person)).toEqual({
      rp: { name: 'Lanekeeper', id: 'kanban.example' },
      user: { ...user, name: 'ann@example.org', displayName: 'Ann' },
      challenge: CHALLENGE,
      timeout: 5 * 60_000,
      attestation: 'none',
      excludeCredentials: credentials,
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      pubKeyCredParams: expect.arrayContaining([{ alg: -7, type: 'public-key' }]),
      extensions: { credProps: true },
      hints: [],
    })
  })

  test("name no passkey if anyone may answer, and a person's passkeys if only that person may", async () => {
    expect(await assertionOptions(PARTY, CHALLENGE)).toEqual(request)
    expect(await assertionOptions(PARTY, CHALLENGE, [passkey()])).toEqual({ ...request, allowCredentials: credentials })
    expect(await assertionOptions(PARTY, CHALLENGE, [])).toEqual({ ...request, allowCredentials: [] })
  })
})

describe('the passkeys of a person', () => {
  const session = { user_id: USER, form_token: 'token' } as Session
  const records = setUpRecords(GLOBAL)
  let authenticator: SoftwareAuthenticator
  beforeEach(() => void (authenticator = new SoftwareAuthenticator()))
  const deps = () => ({ store: records.store, clock: () => NOW, random: systemRandom })
  const factor = () => records.work((tx) => secondFactorOf(tx, USER))
  const stored = async () => (await factor()).passkeys
  const give = async (...passkeys: readonly Passkey[]) => records.put(keys.secondFactor(USER), { ...(await factor()), passkeys })
  /** Registers the passkey of the authenticator. @param changed the answer of the browser, and the person who got the challenge */
  const register = async (changed?: (answer: any) => unknown, user_id = USER) => {
    const members = { purpose: 'register', user_id, credential: null, formToken: session.form_token } as const
    return send(await records.work((tx) => createChallenge(tx, members, deps())), changed)
  }
  const send = (challenge: string, changed = (answer: any): unknown => answer) => {
    const answer = changed(JSON.parse(authenticator.create({ user, challenge, rp: { id: PARTY.id } }, ORIGIN)))
    return registerPasskey(deps(), { session, attestation: readAnswer(JSON.stringify(answer), ORIGIN)!, name: 'Phone' })
  }

  test('a new passkey is stored with its key, after the existing ones', async () => {
    await give(passkey())
    authenticator.counter = 7
    const added = await register()
    expect(added).toEqual({
      id: expect.stringMatching(/^pky_\w{20}$/),
      name: 'Phone',
      credential_id: authenticator.credentialId.toString('base64url'),
      public_key: authenticator.publicKey.toString('base64url'),
      counter: 7,
      transports: ['internal'],
      added_at: new Date(NOW).toISOString(),
      used_at: null,
    })
    expect(await stored()).toEqual([passkey(), added])
  })

  test('a new passkey may say nothing about its transports', async () => {
    const silent = (answer: any) => ({ ...answer, response: { ...answer.response, transports: undefined } })
    expect(await register(silent)).toMatchObject({ transports: [] })
  })

  test.each<[string, () => Promise<unknown>]>([
    ['whose user was not verified', () => ((authenticator.flags = 1), register())],
    ['that is malformed', () => register((answer) => ({ ...answer, type: 'password' }))],
    ['whose challenge the service did not make', () => send(CHALLENGE)],
    ['whose challenge another person got', () => register(undefined, 'usr_00000000000000000001')],
  ])('a passkey %s is refused', async (_what, registered) => {
    expect(await registered()).toBeUndefined()
    expect(await stored()).toEqual([])
  })

  test('a passkey is stored only once, and only if the person has fewer than ten', async () => {
    const credential_id = authenticator.credentialId.toString('base64url')
    const others = Array.from({ length: 8 }, (_, i) => passkey(i))
    await give(...others, passkey(8, { credential_id }))
    expect(await register()).toBeUndefined()
    await give(...others, passkey(8))
    expect(await register()).toMatchObject({ credential_id })
    authenticator = new SoftwareAuthenticator()
    expect(await register()).toBeUndefined()
    expect(await stored()).toHaveLength(10)
  })

  test('an answer is accepted from the user who was verified, with the counter that follows', async () => {
    const { credentialId, publicKey } = authenticator
    const own = passkey(0, {
      credential_id: credentialId.toString('base64url'),
      public_key: publicKey.toString('base64url'),
      counter: (authenticator.counter = 1),
    })
    const verify = () => {
      const answer = authenticator.get({ challenge: CHALLENGE, rpId: PARTY.id }, ORIGIN)
      return verifyAssertion(readAnswer(answer, ORIGIN)!, own)
    }
    expect(await verify()).toBe(2)
    authenticator.flags = 1
    expect(await verify()).toBeUndefined()
  })

  test('one passkey is changed or removed, and the others stay as they are', async () => {
    const [first, second] = [passkey(1), passkey(2)]
    await give(first, second)
    const change = (id: string, changed: (one: Passkey) => Passkey | undefined) => changePasskey(deps(), USER, id, changed)
    expect(await change(second.id, (one) => ({ ...one, name: 'Phone' }))).toEqual(second)
    expect(await stored()).toEqual([first, { ...second, name: 'Phone' }])
    expect(await change(first.id, () => undefined)).toEqual(first)
    expect(await change(first.id, () => first)).toBeUndefined()
    expect(await stored()).toEqual([{ ...second, name: 'Phone' }])
  })
})

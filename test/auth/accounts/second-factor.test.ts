import { hash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { createChallenge, takeChallenge } from '../../../src/auth/accounts/challenges.ts'
import { addAlert, dismissAlerts } from '../../../src/auth/accounts/alerts.ts'
import * as factors from '../../../src/auth/accounts/second-factor.ts'
import { SecretKeys } from '../../../src/auth/secret-keys.ts'
import { systemRandom } from '../../../src/model/ids.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { setUpRecords } from '../../support/memory-records.ts'
import { codeAt, RECOVERY_CODE, TOTP_SECRET } from '../../support/second-factor.ts'

const USER = 'usr_00000000000000000000'
const SESSION = { user_id: USER, id: 'ses_00000000000000000001' }
const STEP = 30_000
const records = setUpRecords(GLOBAL)
const run = records.work
let now: number
const clock = () => now
const secretKeys = SecretKeys.random()
const deps = () => ({ store: records.store, clock, random: systemRandom, secretKeys })
beforeEach(() => {
  now = Date.parse('2026-11-20T12:00:00.000Z')
})

describe('a code of an authenticator app', () => {
  // RFC 6238, appendix B: the last six digits of the codes with SHA-1.
  test.each([
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ])('at second %i the code of the RFC is accepted, and the suites compute the same one', async (second, code) => {
    expect(codeAt(TOTP_SECRET, second * 1000, 8)).toBe(code)
    expect(await factors.stepOfCode(TOTP_SECRET, code.slice(2), second * 1000, 0)).toBe(Math.floor(second / 30))
  })

  test('is accepted one step early and one step late, and no further', async () => {
    const at = Math.floor(now / STEP)
    const steps = [-2, -1, 0, 1, 2].map((offset) => factors.stepOfCode(TOTP_SECRET, codeAt(TOTP_SECRET, now + offset * STEP), now, 0))
    expect(await Promise.all(steps)).toEqual([undefined, at - 1, at, at + 1, undefined])
  })

  test('may have spaces, and is refused if it is anything but six digits', async () => {
    const code = codeAt(TOTP_SECRET, now)
    const accepted = async (text: string) => (await factors.stepOfCode(TOTP_SECRET, text, now, 0)) !== undefined
    expect(await accepted(` ${code.slice(0, 3)} ${code.slice(3)} `)).toBe(true)
    for (const text of ['', code.slice(1), `${code}0`, `+${code.slice(1)}`, `${code.slice(0, 5)}x`, '１２３４５６'])
      expect([text, await accepted(text)]).toEqual([text, false])
  })

  test('a new secret has 160 random bits, and its address names the service and the person', async () => {
    const bytes = Uint8Array.from({ length: 20 }, (_one, i) => 0x31 + (i % 10) - (i % 10 === 9 ? 10 : 0))
    expect(await factors.newTotpSecret(() => bytes)).toBe(TOTP_SECRET)
    const uri = new URL(await factors.totpUri(TOTP_SECRET, 'ann@example.org'))
    expect({ path: decodeURIComponent(uri.pathname), query: Object.fromEntries(uri.searchParams) }).toEqual({
      path: expect.stringMatching(/Lanekeeper:ann@example\.org$/),
      query: { issuer: 'Lanekeeper', secret: TOTP_SECRET, algorithm: 'SHA1', digits: '6', period: '30' },
    })
  })
})

describe('recovery codes', () => {
  test('are ten different ones of 120 random bits', () => {
    const codes = factors.newRecoveryCodes(systemRandom)
    expect({ count: codes.length, distinct: new Set(codes).size }).toEqual({ count: 10, distinct: 10 })
    for (const code of codes) expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){5}[0-9a-hjkmnp-tv-z]{4}$/)
  })

  test('are accepted once each, however they are written', () => {
    const hashes = [RECOVERY_CODE, 'zzzz-zzzz-zzzz-zzzz-zzzz-zzzz'].map(factors.hashRecoveryCode)
    for (const written of [RECOVERY_CODE, RECOVERY_CODE.toUpperCase(), RECOVERY_CODE.replaceAll('-', ' '), 'OL23456789ABCDEFGHJKMNPQ'])
      expect([written, factors.withoutCode(hashes, written)]).toEqual([written, [hashes[1]]])
    expect(factors.withoutCode([hashes[1]!], RECOVERY_CODE)).toBeUndefined()
    for (const wrong of ['', '0123', RECOVERY_CODE.slice(1), `${RECOVERY_CODE}0`])
      expect(factors.withoutCode(hashes, wrong)).toBeUndefined()
  })
})

describe('the second factor of a person', () => {
  const stored = () => run((tx) => factors.secondFactorOf(tx, USER))
  const offer = () => factors.offerAuthenticator(deps(), SESSION)
  const confirm = (code: string, session = SESSION) => factors.addAuthenticator(deps(), session, code)
  const add = async () => {
    const secret = await offer()
    return { secret, codes: (await confirm(codeAt(secret, now))).codes! }
  }
  const use = (code: string) => run((tx) => factors.useCode(tx, USER, code, { clock, secretKeys }))

  test('an authenticator app counts from its first code on, which is not accepted again', async () => {
    expect(await confirm('000000')).toEqual({})
    const secret = await offer()
    expect(await use(codeAt(secret, now))).toBeUndefined()
    expect(await confirm('000000')).toEqual({ secret })
    const { codes } = await confirm(codeAt(secret, now))
    expect({ codes: codes?.length, pending: (await stored()).pending }).toEqual({ codes: 10, pending: null })
    expect(await use(codeAt(secret, now))).toBeUndefined()
    now += STEP
    expect(await use(codeAt(secret, now))).toBe('app')
  })

  test('a secret is neither shown to another session nor completed by it', async () => {
    const secret = await offer()
    const other = { ...SESSION, id: 'ses_00000000000000000002' }
    for (const code of [codeAt(secret, now), '000000']) expect(await confirm(code, other)).toEqual({})
    expect((await confirm(codeAt(secret, now))).codes).toHaveLength(10)
  })

  test('a secret whose first code comes after five minutes is refused', async () => {
    const secret = await offer()
    now += 5 * 60_000
    expect(await confirm(codeAt(secret, now))).toEqual({})
  })

  test('each code is accepted once, even if it is sent several times at the same time', async () => {
    const { secret, codes } = await add()
    now += STEP
    for (const code of [codeAt(secret, now), codes[3]!]) {
      const results = await Promise.all(Array.from({ length: 5 }, () => use(code)))
      expect(results.filter((one) => one !== undefined)).toHaveLength(1)
      expect(await use(code)).toBeUndefined()
    }
    expect((await stored()).recovery_hashes).toHaveLength(9)
  })

  test('new recovery codes replace the earlier ones, and nothing that was shown is stored', async () => {
    const { codes } = await add()
    const next = (await factors.renewRecoveryCodes(deps(), USER))!
    expect([await use(codes[0]!), await use(next[0]!)]).toEqual([undefined, 'recovery'])
    const text = JSON.stringify(await stored())
    for (const code of [...codes, ...next]) expect(text).not.toContain(code.replaceAll('-', ''))
  })

  test('no code is accepted after the authenticator app was removed, and nothing remains of the app', async () => {
    const { secret, codes } = await add()
    expect(await factors.removeAuthenticator(deps(), USER)).toBe(true)
    now += STEP
    for (const code of [codeAt(secret, now), codes[0]!]) expect(await use(code)).toBeUndefined()
    expect(await records.read(keys.secondFactor(USER))).toBeUndefined()
    expect(await factors.removeAuthenticator(deps(), USER)).toBe(false)
    expect(await factors.renewRecoveryCodes(deps(), USER)).toBeUndefined()
  })

  test('is removed as a whole, and without its authenticator app it has the passkeys', async () => {
    const none = { user_id: USER, authenticator: null, pending: null, recovery_hashes: [], passkeys: [] }
    expect(await stored()).toEqual(none)
    await add()
    const passkey = { id: 'pky_00000000000000000000', name: 'Phone', credential_id: 'c', public_key: 'k', counter: 0, transports: [] }
    const passkeys = [{ ...passkey, added_at: new Date(now).toISOString(), used_at: null }]
    await records.edit(keys.secondFactor(USER), { passkeys })
    await factors.removeAuthenticator(deps(), USER)
    expect(await stored()).toEqual({ ...none, passkeys })
    const remove = () => run((tx) => factors.removeSecondFactor(tx, USER))
    expect({ removed: await remove(), stored: await records.read(keys.secondFactor(USER)), removedAgain: await remove() }).toStrictEqual({
      removed: true,
      stored: undefined,
      removedAgain: false,
    })
  })
})

describe('a challenge', () => {
  const members = { purpose: 'prove', user_id: USER, credential: null, formToken: 'token' } as const
  const create = () => run((tx) => createChallenge(tx, members, deps()))
  const take = (secret: string) => run((tx) => takeChallenge(tx, { secret, ...members }, clock))

  test('is taken once, even at the same time', async () => {
    const secret = await create()
    const results = await Promise.all(Array.from({ length: 5 }, () => take(secret)))
    expect(results.filter((one) => one !== undefined)).toMatchObject([{ user_id: USER }])
    expect(await take(secret)).toBeUndefined()
  })

  test('is removed after five minutes, when others are created', async () => {
    const secret = await create()
    now += 5 * 60_000 + 1
    const next = await create()
    const stored = [secret, next].map((one) => records.read(keys.challenge(hash('sha256', one))))
    expect(await Promise.all(stored)).toEqual([undefined, expect.anything()])
  })
})

describe('alerts', () => {
  const members = { kind: 'token_created', agent: 'Firefox', address: '192.0.2.1', session_id: null, name: 'CI' } as const
  const add = () => run((tx) => addAlert(tx, USER, members, deps()))
  const stored = async () => (await records.read(keys.alerts(USER)))?.alerts.map(({ id }) => id)

  test('are at most ten of a kind: the oldest are dropped', async () => {
    const ids: string[] = []
    for (let i = 0; i < 12; i++) ids.push((await add()).id)
    expect(await stored()).toEqual(ids.slice(2))
  })

  test('remain until they are dismissed one by one', async () => {
    const [first, second] = [(await add()).id, (await add()).id]
    await run((tx) => dismissAlerts(tx, USER, new Set([first, 'alr_00000000000000000000'])))
    expect(await stored()).toEqual([second])
    await run((tx) => dismissAlerts(tx, USER, new Set([second])))
    expect(await stored()).toBeUndefined()
  })
})

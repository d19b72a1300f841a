import { describe, expect, test } from 'vitest'
import { createPasswords } from '../../../src/auth/accounts/passwords.ts'
import { emailAddress, newPassword } from '../../../src/model/account.ts'
import { cheapPasswords as passwords } from '../../support/service.ts'

describe('passwords', () => {
  test('are kept as argon2id with a salt of their own, at what OWASP asks for', async () => {
    const { hash } = createPasswords()
    const [first, second] = await Promise.all([hash('correct horse battery'), hash('correct horse battery')])
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22,}\$[\w+/]{43}$/)
    expect(first).not.toBe(second)
  })

  test('fit themselves alone', async () => {
    const kept = await passwords.hash('correct horse battery')
    const tries = ['correct horse battery', 'correct horse batterz', 'Correct horse battery', ' correct horse battery', '', kept]
    expect(await Promise.all(tries.map((text) => passwords.fits(text, kept)))).toEqual([true, false, false, false, false, false])
  })

  test('are the same however a keyboard composes them', async () => {
    expect(await passwords.fits('cafe\u0301 au lait', await passwords.hash('caf\u00e9 au lait'))).toBe(true)
  })

  test('what only looks alike is another one', async () => {
    expect(await passwords.fits('\ufb01rst of many', await passwords.hash('first of many'))).toBe(false)
  })

  test('a crowd waits for its turn, and beyond that is sent away at once: the disk needs threads too', async () => {
    const { fits } = createPasswords({ memoryCost: 8, timeCost: 1, parallelism: 1 })
    const crowd = await Promise.allSettled(Array.from({ length: 300 }, () => fits('x', undefined)))
    const sentAway = crowd.filter(({ status }) => status === 'rejected')
    expect([sentAway.length, (sentAway[0] as PromiseRejectedResult).reason.code]).toEqual([198, 'unavailable'])
    expect(await fits('x', undefined)).toBe(false)
  })

  test('a long one counts to its end', async () => {
    const long = 'x'.repeat(199)
    expect(await passwords.fits(`${long}b`, await passwords.hash(`${long}a`))).toBe(false)
  })

  test('nobody has a password: not even the one that is checked in his place', async () => {
    for (const text of ['nobody has this password', '', 'x']) expect(await passwords.fits(text, undefined)).toBe(false)
  })

  test('what is no hash fits nothing, and throws nothing', async () => {
    for (const kept of ['', 'x', '$argon2id$', '$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA']) expect(await passwords.fits('x', kept)).toBe(false)
    expect(await passwords.fits('a lone \ud800 surrogate', await passwords.hash('another'))).toBe(false)
  })

  test.each([
    ['elevenchars', false],
    ['twelve chars', true],
    ['x'.repeat(200), true],
    ['x'.repeat(201), false],
    ['a lone \ud800 surrogate', false],
  ])('%j may be a new one: %s', (text, may) => expect(newPassword.safeParse(text).success).toBe(may))

  test.each([
    [' Ann@Example.ORG ', 'ann@example.org'],
    ['ann', undefined],
    ['ann@example.org\nbcc: bob', undefined],
    [`${'a'.repeat(250)}@example.org`, undefined],
    ['', undefined],
  ])('the e-mail address %j is %j', (text, kept) => expect(emailAddress.safeParse(text).data).toBe(kept))
})

import { describe, expect, test } from 'vitest'
import { createPasswords } from '../../../src/auth/accounts/passwords.ts'
import { emailAddress, newPassword } from '../../../src/model/account.ts'
import { cheapPasswords as passwords } from '../../support/service.ts'

describe('passwords', () => {
  test('a password is stored as argon2id with a random salt, at the cost that OWASP requires', async () => {
    const { hash } = createPasswords()
    const [first, second] = await Promise.all([hash('correct horse battery'), hash('correct horse battery')])
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22,}\$[\w+/]{43}$/)
    expect(first).not.toBe(second)
  })

  test('a hash matches only its own password', async () => {
    const hash = await passwords.hash('correct horse battery')
    const tries = ['correct horse battery', 'correct horse batterz', 'Correct horse battery', ' correct horse battery', '', hash]
    expect(await Promise.all(tries.map((text) => passwords.verify(text, hash)))).toEqual([true, false, false, false, false, false])
  })

  test('a password matches in every Unicode composition of its characters', async () => {
    expect(await passwords.verify('cafe\u0301 au lait', await passwords.hash('caf\u00e9 au lait'))).toBe(true)
  })

  test('a password with a compatibility character (the ligature fi) is a different password', async () => {
    expect(await passwords.verify('\ufb01rst of many', await passwords.hash('first of many'))).toBe(false)
  })

  test('when 100 calls are waiting, further calls are refused immediately', async () => {
    const { verify } = createPasswords({ memoryCost: 8, timeCost: 1, parallelism: 1 })
    const results = await Promise.allSettled(Array.from({ length: 300 }, () => verify('x', undefined)))
    const rejected = results.filter(({ status }) => status === 'rejected')
    expect([rejected.length, (rejected[0] as PromiseRejectedResult).reason.code]).toEqual([198, 'unavailable'])
    expect(await verify('x', undefined)).toBe(false)
  })

  test('every character of a long password counts', async () => {
    const long = 'x'.repeat(199)
    expect(await passwords.verify(`${long}b`, await passwords.hash(`${long}a`))).toBe(false)
  })

  test('without an account no password matches, not even that of the placeholder hash', async () => {
    for (const text of ['placeholder for accounts that do not exist', '', 'x']) expect(await passwords.verify(text, undefined)).toBe(false)
  })

  test('a malformed hash matches nothing and throws nothing', async () => {
    for (const hash of ['', 'x', '$argon2id$', '$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA'])
      expect(await passwords.verify('x', hash)).toBe(false)
    expect(await passwords.verify('a lone \ud800 surrogate', await passwords.hash('another'))).toBe(false)
  })

  test.each([
    ['elevenchars', false],
    ['twelve chars', true],
    ['x'.repeat(200), true],
    ['x'.repeat(201), false],
    ['a lone \ud800 surrogate', false],
  ])('the new password %j is accepted: %s', (text, accepted) => expect(newPassword.safeParse(text).success).toBe(accepted))

  test.each([
    [' Ann@Example.ORG ', 'ann@example.org'],
    ['ann', undefined],
    ['ann@example.org\nbcc: bob', undefined],
    [`${'a'.repeat(250)}@example.org`, undefined],
    ['', undefined],
  ])('the e-mail address %j is normalized to %j', (text, normalized) => expect(emailAddress.safeParse(text).data).toBe(normalized))
})

test('a placeholder that could not be computed is computed again by the next verification', async () => {
  let failures = 1
  const algorithm = {
    hash: async () => (failures-- > 0 ? Promise.reject(new Error('out of memory')) : 'placeholder'),
    verify: async () => true,
  }
  const { verify } = createPasswords(undefined, algorithm)
  await expect(verify('password', 'stored')).rejects.toThrow('out of memory')
  expect([await verify('password', 'stored'), await verify('password', undefined)]).toEqual([true, false])
})

test('each verification does the same work, whether or not there is an account', async () => {
  const worksOf = async (...storedHashes: (string | undefined)[]) => {
    const calls: string[] = []
    const algorithm = {
      hash: async () => (calls.push('hash'), 'placeholder'),
      verify: async () => (calls.push('verify'), true),
    }
    const { verify } = createPasswords(undefined, algorithm)
    for (const storedHash of storedHashes) await verify('password', storedHash)
    return calls
  }
  const expected = ['hash', 'verify', 'verify']
  expect([await worksOf(undefined, 'stored'), await worksOf('stored', undefined)]).toEqual([expected, expected])
})

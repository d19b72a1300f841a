import { describe, expect, test } from 'vitest'
import { createPasswords } from '../../../src/auth/accounts/passwords.ts'
import { emailAddress, newPassword } from '../../../src/model/account.ts'
import { cheapPasswords as passwords } from '../../support/service.ts'

const ARGON = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/

describe('passwords', () => {
  test('a password is stored as argon2id with a random salt, at the cost that OWASP requires', async () => {
    const { hash } = createPasswords()
    const [first, second] = await Promise.all([hash('correct horse battery'), hash('correct horse battery')])
    expect(first).toMatch(ARGON)
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

  test('every character of a long password counts', async () => {
    const long = 'x'.repeat(199)
    expect(await passwords.verify(`${long}b`, await passwords.hash(`${long}a`))).toBe(false)
  })

  test('without an account no password matches, not even an empty one', async () => {
    for (const text of ['', 'x']) expect(await passwords.verify(text, undefined)).toBe(false)
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

/** An algorithm that takes no processor time. `load` counts the hashes that are being computed, and `verified` has those that were compared. */
function createObserved() {
  const load = { now: 0, max: 0 }
  const verified: string[] = []
  const run = async <T>(result: T): Promise<T> => {
    load.max = Math.max(load.max, ++load.now)
    await new Promise((resolve) => setTimeout(resolve, 1))
    load.now--
    return result
  }
  const algorithm = { hash: () => run('hash'), verify: (hash: string | Buffer) => (verified.push(String(hash)), run(true)) }
  return { load, verified, ...createPasswords(undefined, algorithm as never) }
}

test('without an account, a hash of the same cost is compared, and whatever it matches is refused', async () => {
  const { verify, verified } = createObserved()
  expect([await verify('password', undefined), await verify('password', 'stored')]).toEqual([false, true])
  expect(verified).toEqual([expect.stringMatching(ARGON), 'stored'])
})

test('two passwords are hashed at the same time, and the others wait', async () => {
  const { hash, load } = createObserved()
  expect(await Promise.all(Array.from({ length: 20 }, (_, i) => hash(`password ${i}`)))).toHaveLength(20)
  expect(load.max).toBe(2)
})

test('when 100 passwords wait, the next one is refused at once, with the time to try again', async () => {
  const { hash } = createObserved()
  const results = await Promise.allSettled(Array.from({ length: 103 }, () => hash('x')))
  const [rejected, ...others] = results.filter((result) => result.status === 'rejected')
  expect(others).toEqual([])
  expect(rejected!.reason).toMatchObject({
    code: 'unavailable',
    message: 'Too many people are signing in at the moment. Try again in a few seconds.',
    details: { headers: { 'retry-after': '2' } },
  })
})

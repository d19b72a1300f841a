import { describe, expect, test } from 'vitest'
import { isCommonPassword, weaknessOf } from '../../../src/auth/accounts/new-password.ts'
import { newPassword } from '../../../src/model/account.ts'
import { readText } from '../../lint/syntax.ts'

const list = readText('fixtures/common-passwords.txt')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('# '))
const ann = { email: 'ann.lindqvist@widgets.example', name: 'Ann Lindqvist' }
const EASY = /^is too easy to guess/
const COMMON = /^is one of the most common/

describe('the list of common passwords', () => {
  // ASVS 5.0, 6.2.4 asks for the 3,000 most common ones that the policy of new passwords accepts.
  test('has more than 40,000 passwords that are long enough to be chosen, each once and in lower case', () => {
    expect(list.length).toBeGreaterThan(40_000)
    expect(list.filter((one) => !newPassword.safeParse(one).success || one !== one.toLowerCase())).toEqual([])
    expect(new Set(list).size).toBe(list.length)
  })

  test('is refused from its first to its last one', async () => {
    const sample = [list[0]!, list.at(-1)!, ...Array.from({ length: 40 }, (_one, i) => list[i * 1000]!)]
    for (const one of sample) expect([one, await isCommonPassword(one)]).toEqual([one, true])
    for (const one of sample) expect([one, await isCommonPassword(`${one}~`)]).toEqual([one, false])
  })
})

test.each<[string, RegExp | undefined]>([
  ['123456789987654321', COMMON],
  ['QWERTY123456', COMMON],
  ['qwerty123456', COMMON],
  ['123qweasdzxc', COMMON],
  ['1qaz2wsx3edc', COMMON],
  ['PasswordPassword', COMMON],
  ['unbelievable', COMMON],
  ['manchesterunited', COMMON],
  ['ann.lindqvist@widgets.example', EASY],
  ['AnnLindqvist2026', EASY],
  ['Lindqvist-Widgets!', EASY],
  ['lanekeeper123', EASY],
  ['Kanban-Lanekeeper-1', EASY],
  ['correct horse battery', undefined],
  ['my kanban is in the cellar', undefined],
  ['planning with anna', undefined],
  ['qwerty123456 and more', undefined],
  ['passwörter sind lang', undefined],
])('the new password %j has the weakness: %s', async (password, reason) => {
  const weakness = await weaknessOf(password, ann)
  if (reason === undefined) expect(weakness).toBeUndefined()
  else expect(weakness).toMatch(reason)
})

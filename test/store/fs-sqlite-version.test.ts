import { expect, test, vi } from 'vitest'
import { losesCommits } from '../../src/store/fs/sqlite-version.ts'
import { builtinModule, sqliteVersion } from '../../src/store/fs/sqlite.ts'

/** From the release notes of SQLite: the mistake came with the log in 3.7.0, and was mended in 3.44.6, 3.50.7 and 3.51.3. */
const versions: readonly (readonly [version: string | undefined, isAffected: boolean])[] = [
  ['3.6.23', false],
  ['3.7.0', true],
  ['3.43.9', true],
  ['3.44.0', true],
  ['3.44.5', true],
  ['3.44.6', false],
  ['3.44.10', false],
  ['3.45.0', true],
  ['3.46.1', true],
  ['3.49.9', true],
  ['3.50.4', true],
  ['3.50.6', true],
  ['3.50.7', false],
  ['3.50.12', false],
  ['3.51.0', true],
  ['3.51.2', true],
  ['3.51.3', false],
  ['3.52.0', false],
  ['3.53.4', false],
  ['3.100.0', false],
  ['4.0.0', false],
  // What cannot be read is not trusted.
  [undefined, true],
  ['', true],
  ['3.51', true],
  ['unknown', true],
]

test.each(versions)('whether SQLite %s can lose commits: %s', (version, isAffected) => {
  expect(losesCommits(version)).toBe(isAffected)
})

test('a SQLite of Node.js that can lose commits is not used, and one that cannot is', () => {
  const builtin = { DatabaseSync: null }
  const get = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(builtin as never)
  try {
    expect([builtinModule('3.50.4'), builtinModule(undefined), builtinModule('3.53.4')]).toEqual([undefined, undefined, builtin])
  } finally {
    get.mockRestore()
  }
})

test('the SQLite that is used does not lose commits', () => {
  expect(sqliteVersion()).toMatch(/^\d+\.\d+\.\d+$/)
  expect(losesCommits(sqliteVersion())).toBe(false)
})

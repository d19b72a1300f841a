import { cpSync, mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PolicyError } from '../../src/policy/diagnostic.ts'
import { readPolicyFolder } from '../../src/policy/folder.ts'
import { readSource } from '../../src/policy/source.ts'

/** A folder with the shipped policy, and a file beside it that is not of the policy. */
let place: string
let folder: string
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'lanekeeper-strange-'))
  folder = join(place, 'policy')
  cpSync(new URL('../../policies', import.meta.url), folder, { recursive: true })
  writeFileSync(join(place, 'secret'), 'API_KEY=topsecret-123\n')
})
afterEach(() => rmSync(place, { recursive: true }))

describe('the folder of a policy', () => {
  test.each<[string, () => void]>([
    ['links to a file outside of it', () => symlinkSync(join(place, 'secret'), join(folder, 'scopes.yaml'))],
    [
      'links to a link that leads outside',
      () => {
        symlinkSync('../secret', join(folder, 'other'))
        symlinkSync('other', join(folder, 'scopes.yaml'))
      },
    ],
    ['links to a device', () => symlinkSync('/dev/zero', join(folder, 'scopes.yaml'))],
    ['has a file of more than 128 KiB', () => writeFileSync(join(folder, 'scopes.yaml'), '#'.repeat(128 * 1024 + 1))],
  ])('that %s is refused, and nothing of that is shown', (_what, change) => {
    unlinkSync(join(folder, 'scopes.yaml'))
    change()
    const read = () => readPolicyFolder(folder, 'theirs')
    expect(read).toThrow(
      /^theirs\/scopes\.yaml cannot be read: it is (?:a link to a file outside of the folder|not a file of at most 128 KiB)$/,
    )
  })

  test('can have links that stay in it, as a mounted one has, and can be a link itself', () => {
    cpSync(join(folder, 'scopes.yaml'), join(folder, '..data', 'scopes.yaml'))
    unlinkSync(join(folder, 'scopes.yaml'))
    symlinkSync(join('..data', 'scopes.yaml'), join(folder, 'scopes.yaml'))
    symlinkSync('policy', join(place, 'link'))
    expect(readPolicyFolder(join(place, 'link'), 'theirs').scopes.text).toContain('version: 1')
  })
})

describe('a file that is full of errors is refused in a message of bounded size', () => {
  const size = 120 * 1024
  test.each<[string, string]>([
    ['hidden characters in one line', '\u202e'.repeat(size / 3)],
    ['letters that look like others', 'а\n'.repeat(size / 3)],
    ['tags', `a: [${'!x a,'.repeat(size / 5 - 2)}]`],
    ['aliases', `a: &a x\nb: [${'*a,'.repeat(size / 3 - 8)}]`],
    ['brackets', '['.repeat(size / 8)],
    ['duplicate keys', '"a": 1\n'.repeat(size / 40)],
  ])('%s', (_what, text) => {
    let message = ''
    try {
      readSource({ path: 'scopes.yaml', text })
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error
      message = error.message
    }
    expect(message.split('\n\n').at(-1)).toMatch(/^and \d+ more$/)
    expect(message.split('\n\n')).toHaveLength(101)
    expect(message.length).toBeLessThan(150_000)
    expect(message).not.toContain('\u202e')
  })
})

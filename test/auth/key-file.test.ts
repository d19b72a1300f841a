import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { keyFileIn, makeKeyFile, readKeyFile } from '../../src/auth/key-file.ts'
import { SecretKeyError } from '../../src/auth/secret-keys.ts'
import { newFolder } from '../support/run.ts'

const KEY = 'q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k='
const OTHER = 'EjRWeJq83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vA='

/** A file of keys. @returns its path */
function fileWith(text: string, mode = 0o600): string {
  const path = keyFileIn(newFolder())
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

describe('a file of keys', () => {
  test.each([0o600, 0o400, 0o640, 0o440])('is read with the permissions %o', (mode) => {
    expect(readKeyFile(fileWith(`${KEY}\n${OTHER}\n`, mode))!.ids).toHaveLength(2)
  })

  test.each<[string, () => string, string]>([
    ['that every user can read', () => fileWith(KEY, 0o604), 'every user of the machine has access to it; run: chmod 600 '],
    ['that every user can write', () => fileWith(KEY, 0o602), 'every user of the machine has access to it; run: chmod 600 '],
    ['with a key that is too short', () => fileWith(KEY.slice(4)), 'key 1 is not 32 bytes in base64 or hex'],
    ['with a second key that is too long', () => fileWith(`${KEY}\n${OTHER}${OTHER}`), 'key 2 is not 32 bytes in base64 or hex'],
    ['that is empty', () => fileWith(''), 'there is no key'],
    ['that is a folder', () => folder(), 'it cannot be read (EISDIR)'],
    ['that leads to itself', () => loop(), 'it cannot be read (ELOOP)'],
    ['below a file', () => `${fileWith(KEY)}/x`, 'it cannot be read (ENOTDIR)'],
    ['without permission', () => fileWith(KEY, 0), process.getuid?.() === 0 ? '' : 'it cannot be read (EACCES)'],
  ])('%s is refused, with its path and without its content', (_name, make, message) => {
    const path = make()
    // Root reads what nobody may.
    if (message === '') return expect(readKeyFile(path)!.ids).toHaveLength(1)
    const read = () => readKeyFile(path)
    expect(read).toThrow(SecretKeyError)
    expect(read).toThrow(`${path}: ${message}`)
    for (const key of [KEY, OTHER]) expect(read).not.toThrow(key.slice(4, 20))
  })
  const folder = () => {
    const path = keyFileIn(newFolder())
    mkdirSync(path, { mode: 0o700 })
    return path
  }
  const loop = () => {
    const path = keyFileIn(newFolder())
    symlinkSync(path, path)
    return path
  }

  test('that is missing has no keys', () => {
    expect(readKeyFile(keyFileIn(newFolder()))).toBeUndefined()
  })

  test('is made with a random key, for its owner alone, and nothing else remains', async () => {
    const [one, other] = [newFolder(), newFolder()]
    const { ids } = await makeKeyFile(one)
    expect({ ids: readKeyFile(keyFileIn(one))!.ids, files: readdirSync(one) }).toEqual({ ids, files: ['secret.key'] })
    expect(statSync(keyFileIn(one)).mode & 0o777).toBe(0o600)
    expect((await makeKeyFile(other)).ids).not.toEqual(ids)
    expect(Buffer.from(readFileSync(keyFileIn(one), 'utf8'), 'base64')).toHaveLength(32)
  })
})

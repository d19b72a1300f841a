import { createHmac, randomBytes, webcrypto } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { SecretKeyError, SecretKeys, sealIn } from '../../src/auth/secret-keys.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { setUpRecords } from '../support/memory-records.ts'

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const OWNER = 'second_factor:usr_00000000000000000000'
const [first, second] = [randomBytes(32), randomBytes(32)]
const of = (...all: Uint8Array[]) => new SecretKeys(all)
const idOf = (key: Uint8Array) => of(key).ids[0]!
const sealed = of(first).seal(SECRET, OWNER, idOf(first))
const [version, id, body] = sealed.split('.') as [string, string, string]
const bytes = Buffer.from(body, 'base64url')
const withBody = (other: Uint8Array) => `${version}.${id}.${Buffer.from(other).toString('base64url')}`
/** With one bit changed. */
const changedAt = (at: number) => withBody(bytes.map((byte, i) => (i === at ? byte ^ 1 : byte)))

describe('a sealed secret', () => {
  test('is opened with its key for its record, and by another implementation', async () => {
    expect(of(first).open(sealed, OWNER)).toBe(SECRET)
    const key = await webcrypto.subtle.importKey('raw', first, 'AES-GCM', false, ['decrypt'])
    const algorithm = { name: 'AES-GCM', iv: bytes.subarray(0, 12), additionalData: Buffer.from(`sealed1.${id}.${OWNER}`), tagLength: 128 }
    expect(Buffer.from(await webcrypto.subtle.decrypt(algorithm, key, bytes.subarray(12))).toString()).toBe(SECRET)
    expect(id).toBe(createHmac('sha256', first).update('lanekeeper key id').digest('hex').slice(0, 8))
  })

  test('differs each time, because its nonce differs', () => {
    const all = Array.from({ length: 100 }, () => of(first).seal(SECRET, OWNER, id).split('.')[2]!)
    expect(new Set(all.map((text) => text.slice(0, 16))).size).toBe(100)
  })

  test('may be empty, long, and of any characters', () => {
    for (const text of ['', 'ü\0🗝', 'x'.repeat(2000)]) expect(of(first).open(of(first).seal(text, OWNER, id), OWNER)).toBe(text)
  })

  const DAMAGED = `the secret of ${OWNER} is damaged, or belongs to another record`
  const missing = (present: string) =>
    `the stored secrets need the key ${id}, and LANEKEEPER_SECRET_KEY (or the file secret.key of a folder) ${present}`
  test.each<[string, string, SecretKeys, string]>([
    ['with a changed nonce', changedAt(0), of(first), DAMAGED],
    ['with a changed text', changedAt(12), of(first), DAMAGED],
    ['with a changed tag', changedAt(bytes.length - 1), of(first), DAMAGED],
    ['of another version', sealed.replace('sealed1', 'sealed2'), of(first), DAMAGED],
    ['that names another key', sealed.replace(id, idOf(second)), of(first, second), DAMAGED],
    ['that is cut at its end', withBody(bytes.subarray(0, -1)), of(first), DAMAGED],
    ['that is cut at its beginning', withBody(bytes.subarray(1)), of(first), DAMAGED],
    ['that is cut to nonce and tag', withBody(bytes.subarray(0, 28)), of(first), DAMAGED],
    ['that is cut to less', withBody(bytes.subarray(0, 20)), of(first), DAMAGED],
    ['with something after it', `${sealed}A`, of(first), DAMAGED],
    ['with another last character', sealed.replace(/.$/, nextCharacter), of(first), DAMAGED],
    ['that is plain', SECRET, of(first), DAMAGED],
    ['that is empty', '', of(first), DAMAGED],
    ['with another key', sealed, of(second), missing(`has only ${idOf(second)}`)],
    ['without a key', sealed, of(), missing('is missing')],
  ])('%s is refused', (_name, text, secretKeys, message) => {
    expect(() => secretKeys.open(text, OWNER)).toThrow(new SecretKeyError(message))
    expect(message).not.toContain(SECRET)
  })

  test('is refused for every other record', () => {
    for (const owner of ['second_factor:usr_00000000000000000001', '', `${OWNER} `, OWNER.slice(0, -1)])
      expect(() => of(first).open(sealed, owner)).toThrow(SecretKeyError)
  })

  test('is refused with any bit changed', () => {
    for (let at = 0; at < bytes.length; at++) expect(() => of(first).open(changedAt(at), OWNER)).toThrow(SecretKeyError)
  })
})

/** The character of base64url whose lowest bit is the other one. */
function nextCharacter(last: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return alphabet[alphabet.indexOf(last) ^ 1]!
}

describe('keys', () => {
  const base64 = first.toString('base64')
  test.each([
    ['base64', base64],
    ['base64 without padding', base64.replace('=', '')],
    ['base64url', first.toString('base64url')],
    ['hex', first.toString('hex')],
    ['upper-case hex', first.toString('hex').toUpperCase()],
    ['with a line break', `${base64}\n`],
  ])('are read from %s', (_name, text) => {
    expect(SecretKeys.parse(text).open(sealed, OWNER)).toBe(SECRET)
  })

  test('are several with commas, spaces or lines, the newest first, and open what any of them has sealed', () => {
    for (const separator of [',', ' ', '\n', ', ', '\r\n']) {
      const both = SecretKeys.parse([second.toString('hex'), base64].join(separator))
      expect({ ids: both.ids, opened: both.open(sealed, OWNER) }).toEqual({ ids: [idOf(second), idOf(first)], opened: SECRET })
    }
  })

  test.each([
    ['', 'there is no key'],
    [' ,\n', 'there is no key'],
    [base64.slice(1), 'key 1 is not 32 bytes in base64 or hex; make one with: openssl rand -base64 32'],
    [`${base64},${base64}A`, 'key 2 is not 32 bytes in base64 or hex; make one with: openssl rand -base64 32'],
    [first.toString('hex').slice(2), 'key 1 is not 32 bytes in base64 or hex; make one with: openssl rand -base64 32'],
    [randomBytes(31).toString('base64'), 'key 1 is not 32 bytes in base64 or hex; make one with: openssl rand -base64 32'],
    ['correct horse battery staple', 'key 1 is not 32 bytes in base64 or hex; make one with: openssl rand -base64 32'],
  ])('%j is refused, and not repeated', (text, message) => {
    expect(() => SecretKeys.parse(text)).toThrow(new SecretKeyError(message))
  })

  test('do not appear when they are converted to text', () => {
    const shown = [of(first), { secretKeys: of(first) }].flatMap((one) => [
      inspect(one, { depth: 9, showHidden: true }),
      JSON.stringify(one),
    ])
    for (const text of shown)
      for (const encoding of ['hex', 'base64', 'base64url', 'latin1'] as const)
        expect(text).not.toContain(first.toString(encoding).slice(0, 20))
    expect(() => of(randomBytes(16))).toThrow(RangeError)
  })
})

describe('the key that the storage records', () => {
  const records = setUpRecords(GLOBAL)
  const seal = (secretKeys: SecretKeys) => records.work((tx) => sealIn(tx, secretKeys, SECRET, OWNER))
  const recorded = () => records.read(keys.secretKey())

  test('is the key that sealed the first secret, and a process without this key cannot seal', async () => {
    expect((await seal(of(first))).split('.')[1]).toBe(id)
    expect(await recorded()).toEqual({ key_id: id, has_secrets: true, complete: false })
    await expect(seal(of(second))).rejects.toThrow(`need the key ${id}`)
    await expect(seal(of())).rejects.toThrow('is missing')
    expect((await seal(of(second, first))).split('.')[1]).toBe(id)
  })

  test('can be replaced until it has sealed a secret', async () => {
    await records.put(keys.secretKey(), { key_id: id, has_secrets: false, complete: true })
    expect((await seal(of(second))).split('.')[1]).toBe(idOf(second))
    expect(await recorded()).toEqual({ key_id: idOf(second), has_secrets: true, complete: true })
  })

  test('is needed: without a key nothing is stored', async () => {
    await expect(seal(of())).rejects.toThrow('LANEKEEPER_SECRET_KEY is not set: no secret can be stored without it')
    expect(await recorded()).toBeUndefined()
  })

  test('is the same for secrets that are sealed at the same time with different keys', async () => {
    const results = await Promise.allSettled([seal(of(first)), seal(of(second)), seal(of(first)), seal(of(second))])
    const used = new Set(results.flatMap((result) => (result.status === 'fulfilled' ? result.value.split('.')[1] : [])))
    expect([...used]).toEqual([(await recorded())!.key_id])
  })
})

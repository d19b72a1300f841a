import { describe, expect, test } from 'vitest'
import { mintToken, parseToken } from '../../../src/auth/tokens/format.ts'
import { sha256Hex } from '../../../src/auth/secrets.ts'
import { limits } from '../../../src/model/limits.ts'
import { newId, systemRandom } from '../../../src/model/ids.ts'
import { checksumOf } from '../../support/checksum.ts'

const workspaceId = newId('workspace', systemRandom)
const minted = mintToken(workspaceId, systemRandom).plaintext
/** The workspace tag and the random part of a token. */
const body = minted.slice('lk_pat_'.length, -6)
const withChecksum = (text: string) => text + checksumOf(text)

describe('parsing a token', () => {
  test('a text between the prefix and the workspace tag is refused, even with a right checksum', () => {
    expect(parseToken(withChecksum(`lk_pat_${body}`), [])).toBeDefined()
    for (const extra of ['0', 'lk_pat_', body])
      expect([extra, parseToken(withChecksum(`lk_pat_${extra}${body}`), [])]).toEqual([extra, undefined])
  })

  test.each([
    [limits.tokenLength, true],
    [limits.tokenLength + 1, false],
  ])('a token of %d characters is accepted: %s', (length, accepted) => {
    const prefix = 'x'.repeat(length - minted.length + 'lk'.length)
    const token = withChecksum(`${prefix}_pat_${body}`)
    expect(token).toHaveLength(length)
    expect(parseToken(token, [prefix])).toEqual(accepted ? { workspaceId, hash: sha256Hex(token) } : undefined)
  })

  test('a prefix has at least one character', () => {
    const [none, one] = [withChecksum(`_pat_${body}`), withChecksum(`x_pat_${body}`)]
    expect([parseToken(none, ['']), parseToken(one, ['x'])]).toEqual([undefined, { workspaceId, hash: sha256Hex(one) }])
  })
})

test('a random byte from 248 on is left out of a token: it would make the first characters more likely', () => {
  const batches = [Uint8Array.from([255, 249, 248, ...Array.from({ length: 24 }, (_, i) => i)]), Uint8Array.from([247, 246, 245, 61])]
  const { plaintext } = mintToken(workspaceId, () => batches.shift()!)
  expect(plaintext.slice(27, -6)).toBe('0123456789ABCDEFGHIJKLMNzyx')
})

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newId, systemRandom } from '../../../src/model/ids.ts'
import { limits } from '../../../src/model/limits.ts'
import { sha256Hex } from '../../../src/auth/secrets.ts'
import { mintToken, parseToken } from '../../../src/auth/tokens/format.ts'
import { checksumOf } from '../../support/checksum.ts'

const workspaceId = newId('workspace', systemRandom)
const minted = mintToken(workspaceId, systemRandom).plaintext
/** The workspace tag and the random part of a token. */
const body = minted.slice('lk_pat_'.length, -6)
const withChecksum = (text: string) => text + checksumOf(text)

describe('the token format', () => {
  test('a token has a prefix, a workspace tag, 160 random bits and a checksum that anyone can verify', () => {
    const { plaintext } = mintToken(workspaceId, systemRandom)
    expect(plaintext).toMatch(/^lk_pat_[0-9a-z]{20}[0-9A-Za-z]{27}[0-9A-Za-z]{6}$/)
    expect(plaintext.slice(-6)).toBe(checksumOf(plaintext.slice(0, -6)))
    expect(27 * Math.log2(62)).toBeGreaterThan(160)
  })

  test('a token is parsed to its workspace and its hash', () => {
    const { plaintext, hash } = mintToken(workspaceId, systemRandom)
    expect(hash).toBe(createHash('sha256').update(plaintext).digest('hex'))
    expect(parseToken(plaintext, [])).toEqual({ workspaceId, hash })
  })

  test('a text is parsed as a token only if its checksum is right', () => {
    fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => parseToken(text, ['old']) === undefined))
    fc.assert(
      fc.property(fc.stringMatching(/^lk_pat_[0-9a-hjkmnp-tv-z]{20}[0-9A-Za-z]{33}$/), (text) => {
        const genuine = checksumOf(text.slice(0, -6)) === text.slice(-6)
        return (parseToken(text, []) !== undefined) === genuine
      }),
    )
  })

  test('a text between the prefix and the workspace tag is refused, even with a right checksum', () => {
    expect(parseToken(withChecksum(`lk_pat_${body}`), [])).toBeDefined()
    for (const extra of ['0', 'lk_pat_', body])
      expect([extra, parseToken(withChecksum(`lk_pat_${extra}${body}`), [])]).toEqual([extra, undefined])
  })

  test.each([
    ['that is configured', 'oldname', ['other', 'oldname'], true],
    ['that is not configured', 'oldname', [], false],
    ['of one character', 'x', ['x'], true],
    ['of none', '', [''], false],
    ['that makes it as long as it may be', 'x'.repeat(limits.tokenLength - minted.length + 2), undefined, true],
    ['that makes it longer', 'x'.repeat(limits.tokenLength - minted.length + 3), undefined, false],
  ])('a token with a legacy prefix %s', (_what, prefix, legacy, accepted) => {
    const token = withChecksum(`${prefix}_pat_${body}`)
    expect(parseToken(token, legacy ?? [prefix])).toEqual(accepted ? { workspaceId, hash: sha256Hex(token) } : undefined)
  })

  test('a random byte from 248 on is left out of a token: it would make the first characters more likely', () => {
    const batches = [Uint8Array.from([255, 249, 248, ...Array.from({ length: 24 }, (_, i) => i)]), Uint8Array.from([247, 246, 245, 61])]
    const { plaintext } = mintToken(workspaceId, () => batches.shift()!)
    expect(plaintext.slice(27, -6)).toBe('0123456789ABCDEFGHIJKLMNzyx')
  })
})

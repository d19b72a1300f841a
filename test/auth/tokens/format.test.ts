import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newId, systemRandom } from '../../../src/model/ids.ts'
import { sha256Hex } from '../../../src/auth/secrets.ts'
import { mintToken, parseToken } from '../../../src/auth/tokens/format.ts'
import { checksumOf } from '../../support/checksum.ts'

const workspaceId = newId('workspace', systemRandom)

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

  test('1000 minted tokens are all different', () => {
    expect(new Set(Array.from({ length: 1000 }, () => mintToken(workspaceId, systemRandom).plaintext)).size).toBe(1000)
  })

  test('the random part uses all 62 characters about equally often', () => {
    const counts = new Map<string, number>()
    for (let i = 0; i < 4000; i++)
      for (const letter of mintToken(workspaceId, systemRandom).plaintext.slice(27, 54)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    const mean = (4000 * 27) / 62
    expect(counts.size).toBe(62)
    for (const count of counts.values()) expect(Math.abs(count - mean)).toBeLessThan(mean / 4)
  })

  test('a token with any one character changed is refused', () => {
    const { plaintext } = mintToken(workspaceId, systemRandom)
    for (let i = 0; i < plaintext.length; i++) {
      for (const letter of 'aZ0_-') {
        if (letter !== plaintext[i]) expect(parseToken(plaintext.slice(0, i) + letter + plaintext.slice(i + 1), [])).toBeUndefined()
      }
    }
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

  test('a token with a legacy prefix is accepted only if that prefix is configured', () => {
    const body = `oldname_pat_${mintToken(workspaceId, systemRandom).plaintext.slice(7, -6)}`
    const token = body + checksumOf(body)
    expect(parseToken(token, [])).toBeUndefined()
    expect(parseToken(token, ['other', 'oldname'])).toEqual({ workspaceId, hash: sha256Hex(token) })
  })
})

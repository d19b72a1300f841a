import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newId, systemRandom } from '../../../src/model/ids.ts'
import { hashToken, mintToken, parseToken } from '../../../src/auth/tokens/secret.ts'
import { checksumOf } from '../../support/checksum.ts'

const workspaceId = newId('workspace', systemRandom)

describe('a token', () => {
  test('has a prefix, a tag, 160 random bits and a checksum that anyone can check', () => {
    const { plaintext } = mintToken(workspaceId, systemRandom)
    expect(plaintext).toMatch(/^lk_pat_[0-9a-z]{20}[0-9A-Za-z]{27}[0-9A-Za-z]{6}$/)
    expect(plaintext.slice(-6)).toBe(checksumOf(plaintext.slice(0, -6)))
    expect(27 * Math.log2(62)).toBeGreaterThan(160)
  })

  test('leads to its workspace and to its hash', () => {
    const { plaintext, hash } = mintToken(workspaceId, systemRandom)
    expect(hash).toBe(createHash('sha256').update(plaintext).digest('hex'))
    expect(parseToken(plaintext, [])).toEqual({ workspaceId, hash })
  })

  test('is another one each time', () => {
    expect(new Set(Array.from({ length: 1000 }, () => mintToken(workspaceId, systemRandom).plaintext)).size).toBe(1000)
  })

  test('uses every letter about as often as any other', () => {
    const seen = new Map<string, number>()
    for (let i = 0; i < 4000; i++)
      for (const letter of mintToken(workspaceId, systemRandom).plaintext.slice(27, 54)) seen.set(letter, (seen.get(letter) ?? 0) + 1)
    const mean = (4000 * 27) / 62
    expect(seen.size).toBe(62)
    for (const count of seen.values()) expect(Math.abs(count - mean)).toBeLessThan(mean / 4)
  })

  test('with any one letter changed is none', () => {
    const { plaintext } = mintToken(workspaceId, systemRandom)
    for (let i = 0; i < plaintext.length; i++) {
      for (const letter of 'aZ0_-') {
        if (letter !== plaintext[i]) expect(parseToken(plaintext.slice(0, i) + letter + plaintext.slice(i + 1), [])).toBeUndefined()
      }
    }
  })

  test('is nothing that just looks like one', () => {
    fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => parseToken(text, ['old']) === undefined))
    fc.assert(
      fc.property(fc.stringMatching(/^lk_pat_[0-9a-hjkmnp-tv-z]{20}[0-9A-Za-z]{33}$/), (text) => {
        const genuine = checksumOf(text.slice(0, -6)) === text.slice(-6)
        return (parseToken(text, []) !== undefined) === genuine
      }),
    )
  })

  test('of an old prefix is one only where that prefix is known', () => {
    const body = `oldname_pat_${mintToken(workspaceId, systemRandom).plaintext.slice(7, -6)}`
    const token = body + checksumOf(body)
    expect(parseToken(token, [])).toBeUndefined()
    expect(parseToken(token, ['other', 'oldname'])).toEqual({ workspaceId, hash: hashToken(token) })
  })
})

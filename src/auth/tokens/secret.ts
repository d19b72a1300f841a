import { createHash, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { idPrefixes, type RandomSource } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'

/**
 * The plaintext of a personal access token:
 *
 *     lk_pat_ + workspace tag (20) + random (27, base62: 160 bits) + checksum (6, base62)
 *
 * The tag leads to the workspace's partition, so one read finds the record. The checksum is the CRC32 of all
 * before it: a mistyped or made-up token is refused before storage is asked, and a scanner can tell a token
 * from noise offline. The prefix names the service, so that a leaked token can be recognised (spec §5).
 */
const BODY = /^([0-9a-hjkmnp-tv-z]{20})([0-9A-Za-z]{27})([0-9A-Za-z]{6})$/
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 27

/** The prefix of tokens that are issued now, without `_pat_`. */
export const SERVICE_PREFIX = 'lk'

/** What a token tells before storage is asked. */
export interface ParsedToken {
  readonly workspaceId: string
  /** SHA-256 of the plaintext, in hex: the key of its record */
  readonly hash: string
}

/** Mints a token for a workspace. The plaintext is to be shown once and kept nowhere. */
export function mintToken(workspaceId: string, random: RandomSource): { plaintext: string; hash: string } {
  const tag = workspaceId.slice(idPrefixes.workspace.length + 1)
  const body = `${SERVICE_PREFIX}_pat_${tag}${base62(random)}`
  const plaintext = body + checksum(body)
  return { plaintext, hash: hashToken(plaintext) }
}

/**
 * Reads a token without asking storage.
 * @param prefixes accepted besides the service's own: those of tokens issued before a rename (spec §5)
 * @returns undefined where it is malformed or its checksum does not fit
 */
export function parseToken(plaintext: string, prefixes: readonly string[]): ParsedToken | undefined {
  if (plaintext.length > limits.tokenLength) return undefined
  const end = plaintext.indexOf('_pat_')
  if (end < 1) return undefined
  const prefix = plaintext.slice(0, end)
  if (prefix !== SERVICE_PREFIX && !prefixes.includes(prefix)) return undefined
  const match = BODY.exec(plaintext.slice(end + 5))
  if (match === null || checksum(plaintext.slice(0, -6)) !== match[3]) return undefined
  return { workspaceId: `${idPrefixes.workspace}_${match[1]}`, hash: hashToken(plaintext) }
}

/** SHA-256 in hex: all that is stored of a token (spec §2). */
export function hashToken(plaintext: string): string {
  return createHash('sha256').update(plaintext).digest('hex')
}

/** Compares two hashes in constant time. */
export function sameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

function checksum(text: string): string {
  let value = crc32(text)
  let digits = ''
  for (let i = 0; i < 6; i++) {
    digits = BASE62[value % 62] + digits
    value = Math.floor(value / 62)
  }
  return digits
}

function base62(random: RandomSource): string {
  let text = ''
  while (text.length < RANDOM_LENGTH) {
    // 248 = 4 × 62: greater bytes would make the first letters likelier.
    for (const byte of random(RANDOM_LENGTH)) if (byte < 248 && text.length < RANDOM_LENGTH) text += BASE62[byte % 62]
  }
  return text
}

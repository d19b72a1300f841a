import { crc32 } from 'node:zlib'
import { idPrefixes, type RandomSource } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { sha256Hex } from '../secrets.ts'

/**
 * The plaintext of a personal access token:
 *
 *     lk_pat_ + workspace tag (20) + random (27, base62: 160 bits) + checksum (6, base62)
 *
 * The tag names the workspace's partition, so one read finds the record. The checksum is the CRC-32 of everything
 * before it: a mistyped or invented token is refused without a storage read, and a secret scanner can verify a
 * match offline. The prefix names the service, so that a leaked token can be recognized (spec §5).
 */
const BODY = /^([0-9a-hjkmnp-tv-z]{20})([0-9A-Za-z]{27})([0-9A-Za-z]{6})$/
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 27
const CHECKSUM_LENGTH = 6

/** The prefix of new tokens, without `_pat_`. */
const SERVICE_PREFIX = 'lk'

/** What the plaintext of a token contains. */
interface ParsedToken {
  readonly workspaceId: string
  /** SHA-256 of the plaintext, in hex: the key of the token's record */
  readonly hash: string
}

/** Mints a token for a workspace. The plaintext is shown once and not stored. */
export function mintToken(workspaceId: string, random: RandomSource): { plaintext: string; hash: string } {
  const tag = workspaceId.slice(idPrefixes.workspace.length + 1)
  const body = `${SERVICE_PREFIX}_pat_${tag}${randomBase62(random)}`
  const plaintext = body + checksumOf(body)
  return { plaintext, hash: sha256Hex(plaintext) }
}

/**
 * Parses a token without a storage read.
 * @param legacyPrefixes prefixes accepted in addition to the current one: tokens issued before a rename (spec §5)
 * @returns undefined if the token is malformed or its checksum is wrong
 */
export function parseToken(plaintext: string, legacyPrefixes: readonly string[]): ParsedToken | undefined {
  if (plaintext.length > limits.tokenLength) return undefined
  const prefixEnd = plaintext.indexOf('_pat_')
  if (prefixEnd < 1) return undefined
  const prefix = plaintext.slice(0, prefixEnd)
  if (prefix !== SERVICE_PREFIX && !legacyPrefixes.includes(prefix)) return undefined
  const match = BODY.exec(plaintext.slice(prefixEnd + '_pat_'.length))
  if (match === null || checksumOf(plaintext.slice(0, -CHECKSUM_LENGTH)) !== match[3]) return undefined
  return { workspaceId: `${idPrefixes.workspace}_${match[1]}`, hash: sha256Hex(plaintext) }
}

function checksumOf(text: string): string {
  let value = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[value % 62] + digits
    value = Math.floor(value / 62)
  }
  return digits
}

function randomBase62(random: RandomSource): string {
  let text = ''
  while (text.length < RANDOM_LENGTH) {
    // 248 is 4 × 62. Greater bytes would make the first characters of the alphabet more likely.
    for (const byte of random(RANDOM_LENGTH)) if (byte < 248 && text.length < RANDOM_LENGTH) text += BASE62[byte % 62]
  }
  return text
}

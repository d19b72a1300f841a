import { hash, timingSafeEqual } from 'node:crypto'
import type { RandomSource } from '../model/ids.ts'

/** Returns 256 random bits in base64url: 43 characters that fit in a cookie, a form field and a link. */
export function newSecret(random: RandomSource): string {
  return Buffer.from(random(32)).toString('base64url')
}

/**
 * SHA-256 in hex. Only this hash of a token, a cookie or a sign-up code is stored (spec §2). A slow hash would add
 * nothing, because each of them has at least 160 random bits.
 */
export function sha256Hex(text: string): string {
  return hash('sha256', text)
}

/** Compares two texts in a time that depends only on their lengths. */
export function equalInConstantTime(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

import { createHash, timingSafeEqual } from 'node:crypto'
import type { RandomSource } from '../../model/ids.ts'

/** 256 random bits, as text that fits in a cookie, a form and a link. */
export function newSecret(random: RandomSource): string {
  return Buffer.from(random(32)).toString('base64url')
}

/** All that is kept of a secret. It has too many random bits for anything slower to be of use. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** Compares in constant time. */
export function equalInConstantTime(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(hashOf(a), 'hex'), Buffer.from(hashOf(b), 'hex'))
}

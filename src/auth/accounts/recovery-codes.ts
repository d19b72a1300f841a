import { randomText, type RandomSource } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { equalInConstantTime, sha256Hex } from '../secrets.ts'

/** Characters of a code: 120 random bits, so that a fast hash is enough (ASVS 5.0, 6.5.2). */
const LENGTH = 24

/** Returns new recovery codes, in groups of four characters. Only their hashes are stored. */
export function newRecoveryCodes(random: RandomSource): string[] {
  return Array.from({ length: limits.recoveryCodes }, () => randomText(random, LENGTH).replaceAll(/(.{4})(?=.)/g, '$1-'))
}

/** What is stored of a code. Case, spaces and hyphens do not count, and the letters O, I and L are read as the digits 0, 1 and 1. */
export function hashRecoveryCode(code: string): string {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, '')
  return sha256Hex(plain.replaceAll('o', '0').replaceAll(/[il]/g, '1'))
}

/** The hashes that remain when a code is used; undefined if it is not one of them. */
export function withoutCode(hashes: readonly string[], code: string): string[] | undefined {
  const hash = hashRecoveryCode(code)
  const rest = hashes.filter((one) => !equalInConstantTime(one, hash))
  return rest.length === hashes.length ? undefined : rest
}

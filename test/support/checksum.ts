import { crc32 } from 'node:zlib'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Computes the checksum of a token independently of the service, as a secret scanner would. */
export function checksumOf(body: string): string {
  let rest = BigInt(crc32(body))
  let text = ''
  while (text.length < 6) {
    text = DIGITS[Number(rest % 62n)]! + text
    rest /= 62n
  }
  return text
}

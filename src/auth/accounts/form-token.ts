import { hash } from 'node:crypto'
import type { RandomSource } from '../../model/ids.ts'
import { newSecret } from '../secrets.ts'

/** The characters of a form token that nobody can guess: 192 bits. The rest says whose it is. */
const SECRET = 32

/**
 * A form token for the sessions of a person: the CSRF token of their forms. It also says whose it is, so that a form of a session that
 * has ended is not lost when the same person signs in again. That proves nothing: a form is accepted with the token of its session only.
 * @returns 43 characters of base64url
 */
export function newFormToken(userId: string, random: RandomSource): string {
  const secret = newSecret(random).slice(0, SECRET)
  return secret + ownerOf(secret, userId)
}

/** Whether a form token was made for a person, in whichever session. */
export function isFormTokenOf(token: string, userId: string): boolean {
  const secret = token.slice(0, SECRET)
  return token === secret + ownerOf(secret, userId)
}

function ownerOf(secret: string, userId: string): string {
  return hash('sha256', `${secret}.${userId}`, 'base64url').slice(0, 43 - SECRET)
}

/** How a form token is written in one page: in base64url, as many random bytes as the token has characters, and what both make. */
const MASKED = /^[\w-]{115}$/

/**
 * Writes a form token in another way for each page. A page is compressed, and its size tells what is repeated in it: so a text that
 * somebody else has put there could be compared with the token, character by character, if that were the same in the next page (the
 * attack is called BREACH).
 */
export function maskFormToken(token: string, random: RandomSource): string {
  const pad = Buffer.from(random(token.length))
  return Buffer.concat([pad, combine(pad, Buffer.from(token, 'latin1'))]).toString('base64url')
}

/** The form token that a form was sent with. What is written in another way is returned as it is. */
export function unmaskFormToken(text: string): string {
  if (!MASKED.test(text)) return text
  const bytes = Buffer.from(text, 'base64url')
  const half = bytes.length / 2
  return combine(bytes.subarray(0, half), bytes.subarray(half)).toString('latin1')
}

function combine(pad: Uint8Array, text: Uint8Array): Buffer {
  return Buffer.from(text.map((byte, i) => byte ^ pad[i]!))
}

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

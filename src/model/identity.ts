import { z } from 'zod'
import { at, hash, id } from './fields.ts'

/** The longest `sub` of a provider, in characters (OpenID Connect Core §2). */
export const SUBJECT = 255

/** What a person is called by an identity provider. A name of it belongs to one person, and a person has one. */
export const identity = z.strictObject({
  /** SHA-256 of issuer and subject: its key */
  hash,
  user_id: id('user'),
  issuer: z.string().max(2000),
  subject: z.string().min(1).max(SUBJECT),
  bound_at: at,
})
export type Identity = Readonly<z.infer<typeof identity>>

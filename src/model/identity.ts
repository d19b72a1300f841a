import { z } from 'zod'
import { timestamp, hash, idOf } from './fields.ts'

/** The `sub` of a provider (OpenID Connect Core §2). Text that is no Unicode would be stored as another one. */
export const subject = z
  .string()
  .min(1)
  .max(255)
  .refine((text) => text.isWellFormed(), 'must be Unicode text')

/** What a person is called by an identity provider. A name of it belongs to one person, and a person has one. */
export const identity = z.strictObject({
  /** SHA-256 of issuer and subject: its key */
  hash,
  user_id: idOf('user'),
  issuer: z.string().max(2000),
  subject,
  bound_at: timestamp,
})
export type Identity = Readonly<z.infer<typeof identity>>

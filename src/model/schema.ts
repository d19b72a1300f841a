import { z } from 'zod'
import { keyId, amount } from './fields.ts'

/**
 * The version of the records: the number of the last migration that was applied to them. The record of the partition `global`
 * is the version of the whole storage. Another partition has one from its first migration on.
 */
export const schema = z.strictObject({
  version: amount,
  /** partitions that could not be read when the others were migrated, with their versions */
  pending: z.record(z.string(), amount).optional(),
})
export type SchemaRecord = Readonly<z.infer<typeof schema>>

/** The key that secrets are sealed with. */
export const secretKey = z.strictObject({
  key_id: keyId,
  /** whether a secret was ever sealed with it: until then, another key may take its place */
  has_secrets: z.boolean(),
  /** whether the last start found every secret sealed with it */
  complete: z.boolean(),
})
export type SecretKeyRecord = Readonly<z.infer<typeof secretKey>>

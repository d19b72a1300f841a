import { z } from 'zod'
import { emailAddress } from '../model/account.ts'
import { limits } from '../model/limits.ts'
import { noticeKinds } from '../model/second-factor.ts'
import { line } from '../model/text.ts'
import type { Value } from '../store/port.ts'
import { audit } from './audit-records.ts'
import { readRecordOf, user } from './import-records.ts'
import { at, hash, id, times, type Kind } from './record-fields.ts'

const base32 = z.string().regex(/^[A-Z2-7]{16,104}$/, 'must be a secret in base32')
const base64url = z.string().regex(/^[\w-]{1,4096}$/, 'must be base64url')
/** A hash states what it costs to compute it, and a sign-in computes it: a backup must not be able to stop the service with one. */
const MOST: Readonly<Record<string, number>> = { m: 64 * 1024, t: 4, p: 4 }
const passwordHash = z
  .string()
  .regex(/^\$argon2id\$[!-~]{1,200}$/, 'must be a hash of argon2id')
  .refine(
    (hash) => [...hash.matchAll(/\b([mtp])=([^,$]*)/g)].every(([, name, cost]) => Number(cost) <= MOST[name!]!),
    'must be a hash of argon2id with at most 64 MiB, 4 passes and 4 lanes',
  )
const text = z.string().max(200)
const passkey = z.strictObject({
  id: id('passkey'),
  name: line(limits.passkeyName),
  credential_id: base64url,
  public_key: base64url,
  counter: z.int().min(0),
  transports: z.array(text).max(20),
  added_at: at,
  used_at: at.nullable(),
})
const notice = z.strictObject({
  id: id('notice'),
  kind: z.enum(noticeKinds),
  at,
  agent: text,
  address: text,
  session_id: id('session').nullable(),
  name: text.nullable(),
})

/** Records that belong to no workspace, by the first word of their key. */
export const globalKinds: Readonly<Record<string, Kind>> = {
  user: { shape: user, key: (value) => value.id },
  account: {
    shape: z.strictObject({
      user_id: id('user'),
      email: emailAddress,
      password_hash: passwordHash,
      devices: z.array(hash).max(100),
      ...times,
    }),
    key: ({ user_id }) => user_id,
  },
  second_factor: {
    shape: z.strictObject({
      user_id: id('user'),
      authenticator: z.strictObject({ secret: base32, added_at: at, last_step: z.int().min(0) }).nullable(),
      pending: z.strictObject({ secret: base32, session_id: id('session').nullable(), expires_at: at }).nullable(),
      recovery_hashes: z.array(hash).max(limits.recoveryCodes),
      passkeys: z.array(passkey).max(limits.passkeysPerPerson),
    }),
    key: ({ user_id }) => user_id,
  },
  notices: {
    shape: z.strictObject({ user_id: id('user'), notices: z.array(notice).max(limits.noticesPerPerson) }),
    key: ({ user_id }) => user_id,
  },
  workspace_link: {
    shape: z.strictObject({ user_id: id('user'), workspace_id: id('workspace') }),
    key: ({ user_id, workspace_id }) => `${user_id}:${workspace_id}`,
  },
  audit,
  tombstone: {
    shape: z.strictObject({
      id: id('tombstone'),
      kind: z.literal('audit'),
      target: z.literal('self'),
      not_before: at,
      again: z.literal(true).optional(),
    }),
    key: (value) => value.id,
  },
  demo: { shape: z.strictObject({ begun_at: at, finished_at: at.nullable() }), key: () => 'self' },
}

/**
 * Validates a record of a backup that belongs to no workspace.
 * @returns the same record
 * @throws {AdminError} `invalid`
 */
export function readGlobalRecord(key: string, value: Value): Value {
  return readRecordOf(globalKinds, key, value)
}

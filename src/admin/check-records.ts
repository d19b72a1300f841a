import { z } from 'zod'
import { limits } from '../model/limits.ts'
import { challengePurposes } from '../model/second-factor.ts'
import { GLOBAL } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import { readRecord, readRecordOf } from './import-records.ts'
import { at, hash, id, type Kind } from './record-fields.ts'
import { globalKinds } from './restore-records.ts'

const text = z.string()
const days = z.int().min(1)
const secret = z.string().regex(/^[\w-]{43}$/, 'must be a secret in base64url')
const self = () => 'self'
const schema: Kind = {
  shape: z.strictObject({
    version: z.int().min(0),
    pending: z.record(text, z.int().min(0)).optional(),
    lease: z.strictObject({ id: text, until: at }).optional(),
  }),
  key: self,
}

/** The records that belong to no workspace, by the first word of their key: those of a backup, and the others. */
const ofInstallation: Readonly<Record<string, Kind>> = {
  ...globalKinds,
  schema,
  account_email: { shape: z.strictObject({ user_id: id('user') }), key: (_value, rest) => hash.safeParse(rest).success },
  sign_up: {
    shape: z.strictObject({ user_id: id('user'), hash, expires_at: at, email: z.string().max(limits.email).optional() }),
    key: ({ user_id }) => user_id,
  },
  session: {
    shape: z.strictObject({
      hash,
      user_id: id('user'),
      email: text,
      begun_at: at,
      seen_at: at,
      proved_at: at,
      form_token: secret,
      confirmations: z.array(
        z.strictObject({ id: id('confirmation'), workspace_id: id('workspace'), name: text, scopes: z.array(text), days }),
      ),
      id: id('session').optional(),
      agent: text.optional(),
      address: text.optional(),
    }),
    key: (value) => value.hash,
  },
  challenge: {
    shape: z.strictObject({
      hash,
      purpose: z.enum(challengePurposes),
      user_id: id('user').nullable(),
      bound_to: hash,
      credential: hash.nullable(),
      expires_at: at,
    }),
    key: (value) => value.hash,
  },
  workspace_entry: { shape: z.strictObject({ id: id('workspace') }), key: (value) => value.id },
  bytes_mount: { shape: z.strictObject({ id: text }), key: self },
  restoring: { shape: z.strictObject({ id: text, begun_at: at }), key: self },
  restored_workspace: { shape: z.strictObject({ workspace_id: id('workspace') }), key: ({ workspace_id }) => workspace_id },
}

/** The records of a workspace that are not part of its export. */
const ofPartition: Readonly<Record<string, Kind>> = {
  schema,
  importing: { shape: z.strictObject({ id: text, begun_at: at }), key: self },
  imported_bytes: { shape: z.strictObject({ blob_id: id('blob') }), key: ({ blob_id }) => blob_id },
}

/**
 * Checks a stored record with the schemas with which an import and a restore check it.
 * @returns what is wrong with it, or undefined
 */
export function invalidityOf(partition: string, key: string, value: Value): string | undefined {
  const kind = key.slice(0, key.indexOf(':'))
  try {
    if (partition === GLOBAL) readRecordOf(ofInstallation, key, value)
    else if (Object.hasOwn(ofPartition, kind)) readRecordOf(ofPartition, key, value)
    else readRecord(key, value)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

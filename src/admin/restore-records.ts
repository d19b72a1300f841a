import { z } from 'zod'
import { emailAddress } from '../model/account.ts'
import type { Value } from '../store/port.ts'
import { at, hash, id, readRecordOf, times, user, type Kind } from './import-records.ts'

/** Records that belong to no workspace, by the first word of their key. */
export const globalKinds: Readonly<Record<string, Kind>> = {
  user: { shape: user, key: (value) => value.id },
  account: {
    shape: z.strictObject({
      user_id: id('user'),
      email: emailAddress,
      password_hash: z.string().regex(/^\$argon2id\$[!-~]{1,200}$/, 'must be a hash of argon2id'),
      devices: z.array(hash).max(100),
      ...times,
    }),
    key: ({ user_id }) => user_id,
  },
  workspace_link: {
    shape: z.strictObject({ user_id: id('user'), workspace_id: id('workspace') }),
    key: ({ user_id, workspace_id }) => `${user_id}:${workspace_id}`,
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

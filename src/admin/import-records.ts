import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { color, visibilities } from '../model/board.ts'
import { MAX_TOKEN_DAYS } from '../model/account.ts'
import { changedKinds } from '../model/change.ts'
import { fileVisibilities } from '../model/file.ts'
import { anyIdPattern, isId, type IdKind } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { line, prose } from '../model/text.ts'
import { avatarUrl, roles, type User } from '../model/workspace.ts'
import type { Value } from '../store/port.ts'
import { audit } from './audit-records.ts'
import { AdminError } from './deps.ts'
import { at, byId, entry, hash, id, size, times, type Kind } from './record-fields.ts'

/** The ids of the lists that have an order. */
const LISTS: readonly IdKind[] = ['board', 'column', 'card']
const position = z.string().regex(/^[0-9A-Za-z]{1,100}$/, 'must be a position')
/** The hour of a time. */
const hour = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}$/, 'must be an hour as 2026-11-20T12')
/** What tombstones refer to that is not of their own kind. */
const tombstoneTargets: Readonly<Record<string, z.ZodType | undefined>> = {
  responses: hour,
  references: z.union([id('label'), id('user'), id('board'), id('file')]),
  changes: id('board'),
  audit: z.literal('self'),
}

const pending = { id: id('tombstone'), step: z.int().min(0), after: entry.nullable() }
const removal = z.discriminatedUnion('kind', [
  z.strictObject({ ...pending, kind: z.literal('label'), label_id: id('label') }),
  z.strictObject({ ...pending, kind: z.literal('former_member'), user_id: id('user') }),
  z.strictObject({ ...pending, kind: z.literal('file'), file_id: id('file') }),
  z.strictObject({
    ...pending,
    kind: z.literal('assignments'),
    board_id: id('board'),
    user_ids: z.array(id('user')),
    kept: z.array(entry),
  }),
])

/** Stored records by the first word of their key. What the API accepts as input has the same schema here. */
export const workspaceKinds: Readonly<Record<string, Kind>> = {
  workspace: { shape: z.strictObject({ id: id('workspace'), name: line(limits.workspaceName), ...times }), key: () => 'self' },
  membership: {
    shape: z.strictObject({
      user_id: id('user'),
      role: z.enum(roles),
      display_name: line(limits.displayName),
      avatar_url: avatarUrl.nullable(),
      joined_at: at,
      ended_at: at.nullable(),
      ...times,
    }),
    key: ({ user_id }) => user_id,
  },
  token: {
    shape: z.strictObject({
      id: id('token'),
      hash,
      user_id: id('user'),
      name: line(limits.tokenName),
      scopes: z.array(line(100)).max(20),
      issued_at: at,
      expires_at: at,
      revoked_at: at.nullable(),
      replaced_by: id('token').nullable(),
      revoked_by: id('user').optional(),
    }),
    key: (value) => value.hash,
  },
  token_hash: { shape: z.strictObject({ hash }), key: (_value, rest) => isId('token', rest) },
  token_rules: {
    shape: z.strictObject({ max_days: z.int().min(1).max(MAX_TOKEN_DAYS), admin: z.boolean(), updated_at: at, updated_by: id('user') }),
    key: () => 'self',
  },
  token_use: {
    shape: z.strictObject({
      at,
      address: entry.nullable().optional(),
      agent: entry.nullable().optional(),
      days: z
        .array(z.strictObject({ day: z.iso.date(), calls: size, refusals: size }))
        .max(30)
        .optional(),
    }),
    key: (_value, rest) => hash.safeParse(rest).success,
  },
  board: {
    shape: z.strictObject({
      id: id('board'),
      name: line(limits.boardName),
      description: prose(limits.boardDescription),
      cover_color: color.nullable(),
      visibility: z.enum(visibilities),
      creator_id: id('user'),
      ...times,
    }),
    key: byId,
  },
  board_member: {
    shape: z.strictObject({ board_id: id('board'), user_id: id('user'), board_created_at: at, added_at: at }),
    key: ({ board_id, user_id }) => `${board_id}:${user_id}`,
  },
  column: {
    shape: z.strictObject({
      id: id('column'),
      board_id: id('board'),
      name: line(limits.columnName),
      position,
      wip_limit: z.int().min(1).max(limits.wipLimit).nullable(),
      archived_at: at.nullable(),
      ...times,
    }),
    key: byId,
  },
  card: {
    shape: z.strictObject({
      id: id('card'),
      board_id: id('board'),
      column_id: id('column'),
      title: line(limits.cardTitle),
      description: prose(limits.cardDescription),
      position,
      due_at: at.nullable(),
      completed_at: at.nullable(),
      completed_by_id: id('user').nullable(),
      archived_at: at.nullable(),
      assignee_ids: z.array(id('user')).max(limits.assigneesPerCard),
      label_ids: z.array(id('label')).max(limits.labelsPerCard),
      blocker_ids: z.array(id('card')).max(limits.blockersPerCard),
      cover_attachment_id: id('attachment').nullable(),
      creator_id: id('user'),
      ...times,
    }),
    key: byId,
  },
  readiness: {
    shape: z.strictObject({
      card_id: id('card'),
      board_id: id('board'),
      column_id: id('column'),
      position,
      is_open: z.boolean(),
      blocker_ids: z.array(id('card')).max(limits.blockersPerCard),
      open_blocker_ids: z.array(id('card')).max(limits.blockersPerCard),
    }),
    key: ({ card_id }) => card_id,
  },
  label: {
    shape: z.strictObject({ id: id('label'), board_id: id('board'), name: line(limits.labelName), color, ...times }),
    key: byId,
  },
  subtask: {
    shape: z.strictObject({
      id: id('subtask'),
      card_id: id('card'),
      title: line(limits.subtaskTitle),
      completed_at: at.nullable(),
      position,
      ...times,
    }),
    key: byId,
  },
  comment: {
    shape: z.strictObject({ id: id('comment'), card_id: id('card'), author_id: id('user'), body: prose(limits.commentBody), ...times }),
    key: byId,
  },
  attachment: {
    shape: z.strictObject({
      id: id('attachment'),
      card_id: id('card'),
      file_id: id('file'),
      name: line(limits.fileName),
      content_type: line(200),
      size,
      attached_by_id: id('user'),
      ...times,
    }),
    key: byId,
  },
  file: {
    shape: z.strictObject({
      id: id('file'),
      owner_id: id('user'),
      visibility: z.enum(fileVisibilities),
      board_id: id('board'),
      name: line(limits.fileName),
      content_type: line(200),
      size,
      blob_id: id('blob'),
      sha256: hash,
      ...times,
    }),
    key: byId,
  },
  order: {
    shape: z.strictObject({
      generation: z.int().min(0),
      maps: z
        .array(
          z.strictObject({
            from: z.int().min(0),
            low: entry.optional(),
            high: entry.optional(),
            old: z.array(entry),
            new: z.array(entry),
          }),
        )
        .max(100),
    }),
    key: (_value, rest) => LISTS.some((kind) => isId(kind, rest)),
  },
  tombstone: {
    shape: z.discriminatedUnion(
      'kind',
      (['board', 'card', 'file', 'blob', 'references', 'responses', 'changes', 'audit'] as const).map((kind) =>
        z.strictObject({
          id: id('tombstone'),
          kind: z.literal(kind),
          target: tombstoneTargets[kind] ?? id(kind as IdKind),
          not_before: at,
          claimed: z.literal(true).optional(),
          again: z.literal(true).optional(),
        }),
      ) as never,
    ),
    key: byId,
  },
  first_response: {
    shape: z.strictObject({
      token_hash: hash,
      key_hash: hash,
      request_hash: hash,
      hour,
      board_id: id('board').nullable(),
      status: z.literal([200, 201]),
      location: z.string().max(200).nullable(),
      revision: entry.nullable(),
      data: z.json(),
      texts: z.array(z.strictObject({ path: z.array(z.union([entry, size])).max(8), sha256: hash })).optional(),
    }),
    key: ({ token_hash, key_hash }) => `${token_hash}:${key_hash}`,
  },
  response_text: {
    shape: z.strictObject({ hour, sha256: hash, text: z.string() }),
    key: ({ hour, sha256 }) => `${hour}:${sha256}`,
  },
  change: {
    shape: z.strictObject({
      at,
      kind: z.enum(changedKinds),
      id: z.string().regex(new RegExp(anyIdPattern), 'must be an id'),
      action: z.enum(['created', 'updated', 'deleted']),
      actor_id: id('user').nullable(),
      token_id: id('token').nullable(),
      request_id: z.string().max(200).nullable(),
    }),
    key: (_value, rest) => isChangeKey(rest),
  },
  audit,
  removals: { shape: z.strictObject({ pending: z.array(removal) }), key: () => 'self' },
}

/** Whether this is the rest of the key of a change: its board and its number. */
function isChangeKey(rest: string): boolean {
  const [boardId = '', entry = '', ...others] = rest.split(':')
  return isId('board', boardId) && /^\d{16}$/.test(entry) && others.length === 0
}

/** The shape of a user. */
export const user = z.strictObject({ id: id('user'), display_name: line(limits.displayName), avatar_url: avatarUrl.nullable(), ...times })

/** Validates a user of an import. @throws {AdminError} `invalid` */
export function readUser(value: Value): User {
  const result = user.safeParse(value)
  if (result.success) return result.data
  throw new AdminError('invalid', `${JSON.stringify(value['id'])} is not a valid user: ${describe(result.error)}`)
}

/**
 * Validates a record of a workspace.
 * @returns the same record
 * @throws {AdminError} `invalid`
 */
export function readRecord(key: string, value: Value): Value {
  return readRecordOf(workspaceKinds, key, value)
}

/**
 * Validates a record.
 * @param known all kinds that it can have
 * @returns the same record
 * @throws {AdminError} `invalid`
 */
export function readRecordOf(known: Readonly<Record<string, Kind>>, key: string, value: Value): Value {
  const colon = key.indexOf(':')
  const kind = key.slice(0, colon)
  if (!Object.hasOwn(known, kind)) throw new AdminError('invalid', `unknown kind of record "${kind}"`)
  const { shape, key: keyOf } = known[kind]!
  const result = parse(key, shape, value)
  if (!result.success) throw new AdminError('invalid', `${key}: ${describe(result.error)}`)
  const rest = key.slice(colon + 1)
  const expected = keyOf(result.data, rest)
  if (expected !== true && expected !== rest) throw new AdminError('invalid', `${key} is not the key of its record`)
  // Text that the schemas would trim, for example.
  if (!isDeepStrictEqual(result.data, value)) throw new AdminError('invalid', `${key}: it has a value that is never stored in this form`)
  return value
}

/** @throws {AdminError} `invalid` if the value is nested so deep that validating it overflows the stack: none that is stored is */
function parse(key: string, shape: z.ZodType, value: Value): z.ZodSafeParseResult<any> {
  try {
    return shape.safeParse(value)
  } catch (error) {
    if (error instanceof RangeError) throw new AdminError('invalid', `${key}: it is nested too deeply`)
    throw error
  }
}

function describe({ issues: [issue] }: z.ZodError): string {
  return [issue!.path.join('.'), issue!.message].filter((part) => part !== '').join(': ')
}

import { z } from 'zod'
import { visibilities } from '../model/board.ts'
import { roles } from '../model/workspace.ts'

const text = z.string()
const nullableText = text.nullable()
const texts = z.array(text)
/** A record with an id. Only the members that keys and indexes depend on are validated. */
const resource = (shape: z.ZodRawShape) => z.looseObject({ id: text, created_at: text, updated_at: text, ...shape })

/** The required shape of an imported record, and the rest of its key, by the first word of the key. */
const shapes: Readonly<Record<string, { readonly shape: z.ZodType; readonly key: (value: any) => string | undefined }>> = {
  workspace: { shape: resource({ name: text }), key: () => 'self' },
  membership: {
    shape: z.looseObject({
      user_id: text,
      role: z.enum(roles),
      display_name: text,
      avatar_url: nullableText,
      joined_at: text,
      ended_at: nullableText,
    }),
    key: ({ user_id }) => user_id,
  },
  token: {
    shape: z.looseObject({
      id: text,
      hash: text.regex(/^[0-9a-f]{64}$/),
      user_id: text,
      name: text,
      scopes: texts,
      issued_at: text,
      expires_at: text,
      revoked_at: nullableText,
      replaced_by: nullableText,
    }),
    key: ({ hash }) => hash,
  },
  token_hash: { shape: z.looseObject({ hash: text }), key: anyKey },
  token_use: { shape: z.looseObject({ at: text }), key: anyKey },
  board: { shape: resource({ name: text, visibility: z.enum(visibilities), creator_id: text }), key: byId },
  board_member: {
    shape: z.looseObject({ board_id: text, user_id: text, added_at: text, board_created_at: text }),
    key: ({ board_id, user_id }) => `${board_id}:${user_id}`,
  },
  column: { shape: resource({ board_id: text, name: text, position: text, archived_at: nullableText }), key: byId },
  card: {
    shape: resource({
      board_id: text,
      column_id: text,
      title: text,
      position: text,
      assignee_ids: texts,
      label_ids: texts,
      completed_at: nullableText,
      archived_at: nullableText,
    }),
    key: byId,
  },
  label: { shape: resource({ board_id: text, name: text }), key: byId },
  subtask: { shape: resource({ card_id: text, title: text, position: text }), key: byId },
  comment: { shape: resource({ card_id: text, author_id: text, body: text }), key: byId },
  attachment: { shape: resource({ card_id: text, file_id: text }), key: byId },
  file: { shape: resource({ owner_id: text, visibility: z.enum(visibilities), blob_id: text, size: z.int().min(0) }), key: byId },
  order: { shape: z.looseObject({ generation: z.int(), maps: z.array(z.unknown()) }), key: anyKey },
  tombstone: {
    shape: z.looseObject({ id: text, kind: z.enum(['board', 'card', 'file', 'blob']), target: text, not_before: text }),
    key: byId,
  },
}

/**
 * Validates a record of an import.
 * @returns why the record is invalid; undefined if it is valid
 */
export function recordError(key: string, value: unknown): string | undefined {
  const kind = key.slice(0, key.indexOf(':'))
  if (!Object.hasOwn(shapes, kind)) return `unknown kind of record "${kind}"`
  const { shape, key: keyOf } = shapes[kind]!
  const result = shape.safeParse(value)
  if (!result.success) return `${key}: ${result.error.issues[0]!.path.join('.')}: ${result.error.issues[0]!.message}`
  const expected = keyOf(value)
  return expected === undefined || key === `${kind}:${expected}` ? undefined : `${key} is not the key of its record`
}

function byId({ id }: { id: string }): string {
  return id
}

/** The record does not determine its key. */
function anyKey(): undefined {
  return undefined
}

import { z } from 'zod'
import { visibilities } from '../model/board.ts'
import { roles } from '../model/workspace.ts'

const text = z.string()
const maybe = text.nullable()
const texts = z.array(text)
/** A record under its own id. Only what keys and indexes are made from is looked at: all else is content. */
const own = (shape: z.ZodRawShape) => z.looseObject({ id: text, created_at: text, updated_at: text, ...shape })

/** What an imported record must have, by the first word of its key; and what the rest of the key must be. */
const shapes: Readonly<Record<string, { readonly shape: z.ZodType; readonly key: (value: any) => string | undefined }>> = {
  workspace: { shape: own({ name: text }), key: () => 'self' },
  membership: {
    shape: z.looseObject({ user_id: text, role: z.enum(roles), display_name: text, avatar_url: maybe, joined_at: text, ended_at: maybe }),
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
      revoked_at: maybe,
      replaced_by: maybe,
    }),
    key: ({ hash }) => hash,
  },
  token_hash: { shape: z.looseObject({ hash: text }), key: untold },
  token_use: { shape: z.looseObject({ at: text }), key: untold },
  board: { shape: own({ name: text, visibility: z.enum(visibilities), creator_id: text }), key: byId },
  board_member: {
    shape: z.looseObject({ board_id: text, user_id: text, added_at: text, board_created_at: text }),
    key: ({ board_id, user_id }) => `${board_id}:${user_id}`,
  },
  column: { shape: own({ board_id: text, name: text, position: text, archived_at: maybe }), key: byId },
  card: {
    shape: own({
      board_id: text,
      column_id: text,
      title: text,
      position: text,
      assignee_ids: texts,
      label_ids: texts,
      completed_at: maybe,
      archived_at: maybe,
    }),
    key: byId,
  },
  label: { shape: own({ board_id: text, name: text }), key: byId },
  subtask: { shape: own({ card_id: text, title: text, position: text }), key: byId },
  comment: { shape: own({ card_id: text, author_id: text, body: text }), key: byId },
  attachment: { shape: own({ card_id: text, file_id: text }), key: byId },
  file: { shape: own({ owner_id: text, visibility: z.enum(visibilities), blob_id: text, size: z.int().min(0) }), key: byId },
  order: { shape: z.looseObject({ generation: z.int(), maps: z.array(z.unknown()) }), key: untold },
  tombstone: {
    shape: z.looseObject({ id: text, kind: z.enum(['board', 'card', 'file', 'blob']), target: text, not_before: text }),
    key: byId,
  },
}

/**
 * Says what is wrong with a record that is to be imported.
 * @returns undefined where it is one that a workspace has
 */
export function recordError(key: string, value: unknown): string | undefined {
  const kind = key.slice(0, key.indexOf(':'))
  if (!Object.hasOwn(shapes, kind)) return `a workspace has no record "${kind}"`
  const { shape, key: keyOf } = shapes[kind]!
  const result = shape.safeParse(value)
  if (!result.success) return `${key}: ${result.error.issues[0]!.path.join('.')}: ${result.error.issues[0]!.message}`
  const rest = keyOf(value)
  return rest === undefined || key === `${kind}:${rest}` ? undefined : `${key} is the key of another record than it stands with`
}

function byId({ id }: { id: string }): string {
  return id
}

/** Where a record does not tell its key. */
function untold(): undefined {
  return undefined
}

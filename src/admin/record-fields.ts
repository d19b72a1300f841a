import { z } from 'zod'
import { isId, type IdKind } from '../model/ids.ts'

/** The id of a stored record. */
export const id = (kind: IdKind) => z.string().refine((text) => isId(kind, text), `must be the id of a ${kind}`)
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
/** A time as it is stored. All have the same length, because indexes order them as text. */
export const at = z
  .string()
  .refine((text) => TIME.test(text) && !Number.isNaN(Date.parse(text)), 'must be a time as 2026-11-20T12:00:00.000Z')
/** A SHA-256 in hex. */
export const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')
/** A number of things. */
export const size = z.int().min(0)
/** The times of every resource. */
export const times = { created_at: at, updated_at: at }
/** A text of any form. */
export const entry = z.string().max(200)

/** A kind of records. */
export interface Kind {
  readonly shape: z.ZodType
  /** the rest of the key; true if the record does not determine it */
  readonly key: (value: any, rest: string) => string | boolean
}

/** The key of a record with an id. */
export const byId = (value: { id: string }): string => value.id

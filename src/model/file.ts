import { z } from 'zod'
import { visibilities } from './board.ts'

/** A file of the workspace, as the API returns it. Its bytes are stored separately. */
export const file = z.strictObject({
  id: z.string(),
  owner_id: z.string(),
  visibility: z.enum(visibilities),
  name: z.string(),
  content_type: z.string(),
  size: z.number().int(),
  created_at: z.string(),
  updated_at: z.string(),
})

/** A file as it is stored. */
export type FileRecord = Readonly<z.infer<typeof file>> & {
  /** the id of its bytes */
  readonly blob_id: string
  /** SHA-256 of its bytes, in hex */
  readonly sha256: string
}

/** The attachment of a file to a card, as it is stored and as the API returns it. */
export const attachment = z.strictObject({
  id: z.string(),
  card_id: z.string(),
  file_id: z.string(),
  name: z.string(),
  content_type: z.string(),
  size: z.number().int(),
  attached_by_id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Attachment = Readonly<z.infer<typeof attachment>>

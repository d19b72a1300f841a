import { z } from 'zod'
import { visibilities } from './board.ts'

/** A file of the workspace, as it is answered. Its bytes are apart. */
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
  /** where its bytes are */
  readonly blob_id: string
  /** SHA-256 of its bytes, in hex */
  readonly sha256: string
}

/** That a file hangs on a card, as it is stored and as it is answered. */
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

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

export const fileUpdate = z.strictObject({ visibility: z.enum(visibilities) })

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

/** A file that is there already is attached by its id. */
export const attachById = z.strictObject({ file_id: z.string() })

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/

/** The media type of an upload, without parameters; what is none is taken as mere bytes. */
export function mediaType(text: string | undefined): string {
  const type = (text ?? '').split(';')[0]!.trim().toLowerCase()
  return MEDIA_TYPE.test(type) ? type : 'application/octet-stream'
}

/** The name of an upload: its last part, without anything that a header or a shell would trip over. It may be too long. */
export function fileName(text: string | undefined): string {
  const name = (text ?? '')
    .split(/[\\/]/)
    .at(-1)!
    .toWellFormed()
    .replaceAll(/\p{Cc}|\p{Cf}/gu, '')
    .trim()
  return name === '' || name === '.' || name === '..' ? 'file' : name
}

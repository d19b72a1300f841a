import { z } from 'zod'
import { countField, documented, hash, idOf, idField, resourceTimes } from './fields.ts'
import { limits } from './limits.ts'
import { pictureTypes } from './picture.ts'
import { line } from './text.ts'

/**
 * Who has access to a file in addition to its owner. `workspace`: every member of the workspace. `board`: everyone with access to the
 * board that it was uploaded to. `private`: only its owner.
 */
export const fileVisibilities = ['workspace', 'board', 'private'] as const
export type FileVisibility = (typeof fileVisibilities)[number]

const MEDIA_TYPE_LENGTH = 129
/** PNG has 31 bits for it. */
const MOST_IN_A_SIDE = 0x7fff_ffff
const name = line(limits.fileName, 'The name of the file.')
const content_type = line(
  MEDIA_TYPE_LENGTH,
  'The media type that was stated when the file was uploaded. If that said nothing, it follows from the bytes, or from the extension.',
)
const size = countField('The size of the file in bytes.', Number.MAX_SAFE_INTEGER)

/** Facts read from the bytes of a picture. */
const picture = documented(
  z
    .strictObject({
      type: documented(z.enum(pictureTypes), { description: 'Its media type, by its bytes.' }),
      width: countField('Its width in pixels.', MOST_IN_A_SIDE),
      height: countField('Its height in pixels.', MOST_IN_A_SIDE),
    })
    .nullable(),
  {
    description:
      'What the bytes of the file say, if they are a picture in PNG, JPEG, GIF or WebP: pages show it, up to 40 megapixels. null: the file is no such picture, or was uploaded before this was read.',
  },
)

const owner_id = idField('user', 'The user who uploaded the file.')
const visibility = documented(z.enum(fileVisibilities), {
  description:
    'Who has access to the file in addition to its owner. `workspace`: every member of the workspace. `board`: everyone with access to the board that the file was uploaded to. `private`: only its owner.',
})

/** A file of the workspace, as the API returns it. Its bytes are stored separately. */
export const file = documented(
  z.strictObject({
    id: idField('file', 'The id of the file.'),
    owner_id,
    visibility,
    board_id: idField(
      'board',
      'The board that the file was uploaded to. It may be deleted by now. null: the file is not yours, and you have no access to that board.',
    ).nullable(),
    name,
    content_type,
    size,
    picture,
    ...resourceTimes,
  }),
  { id: 'StoredFile', description: 'A file of the workspace. Attachments put it on cards.' },
)

/** A file as it is stored, with its home board, the id of its bytes and their hash. */
export const fileRecord = file.extend({ board_id: idOf('board'), blob_id: idOf('blob'), sha256: hash, picture: picture.optional() })
export type FileRecord = Readonly<z.infer<typeof fileRecord>>

/** The attachment of a file to a card, as the API returns it. */
export const attachment = documented(
  z.strictObject({
    id: idField('attachment', 'The id of the attachment.'),
    card_id: idField('card', 'The card of the attachment.'),
    file_id: idField('file', 'The file that is attached. Another request can attach it to another card.'),
    owner_id,
    visibility,
    name,
    content_type,
    size,
    picture,
    attached_by_id: idField('user', 'The user who attached the file.'),
    ...resourceTimes,
  }),
  { id: 'Attachment', description: 'A file on a card. Everyone with access to the board can read its bytes.' },
)
export type Attachment = Readonly<z.infer<typeof attachment>>

/** An attachment as it is stored: without what is read from its file. */
export const attachmentRecord = attachment.omit({ owner_id: true, visibility: true, picture: true })
export type AttachmentRecord = Readonly<z.infer<typeof attachmentRecord>>

/** The bytes of all files of a workspace, as they are counted with each commit that creates or removes one. */
export const fileBytes = z.strictObject({ bytes: z.int().min(0) })
export type FileBytes = Readonly<z.infer<typeof fileBytes>>

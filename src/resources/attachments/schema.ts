import { z } from 'zod'
import { documented, givenIdField } from '../../model/fields.ts'
import { fileVisibilities } from '../../model/file.ts'

/** Attaches a file of the workspace by its id. A new file is uploaded as multipart/form-data instead. */
export const attachById = z.strictObject({
  file_id: givenIdField('file', 'A file that you have access to. It must not be attached to this card already.'),
})

/** The form with which a new file is uploaded. The pipeline streams it, and `http/upload.ts` checks it. */
export const uploadForm = z.strictObject({
  file: documented(z.file(), { description: 'The file, with its name and its media type.' }),
  visibility: documented(z.enum(fileVisibilities), {
    description:
      'Who has access to the file besides you. `workspace`: every member of the workspace. `board`: everyone with access to this board. `private`: only you.',
  }).default('board'),
})

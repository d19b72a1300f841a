import { z } from 'zod'
import { visibilities } from '../../model/board.ts'
import { documented, idField } from '../../model/fields.ts'

/** Attaches a file of the workspace by its id. A new file is uploaded as multipart/form-data instead. */
export const attachById = z.strictObject({
  file_id: idField('file', 'A file that you have access to. It must not be attached to this card already.'),
})

/** The form with which a new file is uploaded. The pipeline streams it, and `http/upload.ts` checks it. */
export const uploadForm = z.strictObject({
  file: documented(z.file(), { description: 'The file, with its name and its media type.' }),
  visibility: documented(z.enum(visibilities), {
    description: '`workspace`: every member of the workspace can attach and detach the file. `private`: only you can.',
  }).default('private'),
})

import { z } from 'zod'
import { documented } from '../../model/fields.ts'
import { fileVisibilities } from '../../model/file.ts'

export const fileUpdate = z.strictObject({
  visibility: documented(z.enum(fileVisibilities), {
    description:
      'Who has access to the file besides you. `workspace`: every member of the workspace. `board`: everyone with access to the board that it was uploaded to; only you, if that is deleted. `private`: only you.',
  }),
})

import { z } from 'zod'
import { visibilities } from '../../model/board.ts'
import { documented } from '../../model/fields.ts'

export const fileUpdate = z.strictObject({
  visibility: documented(z.enum(visibilities), {
    description: '`workspace`: every member of the workspace can attach and detach the file. `private`: only its owner can.',
  }),
})

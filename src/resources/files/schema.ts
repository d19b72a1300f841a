import { z } from 'zod'
import { visibilities } from '../../model/board.ts'

export const fileUpdate = z.strictObject({ visibility: z.enum(visibilities) })

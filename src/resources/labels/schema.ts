import { z } from 'zod'
import { color } from '../../model/board.ts'
import { limits } from '../../model/limits.ts'
import { nameLine } from '../../model/text.ts'

export const labelCreate = z.strictObject({
  name: nameLine(limits.labelName, 'The name of the label.'),
  color: color.describe('The color of the label, as `#rrggbb`.'),
})
export const labelUpdate = labelCreate.partial()

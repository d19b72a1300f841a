import { z } from 'zod'
import { color } from '../../model/board.ts'
import { limits } from '../../model/limits.ts'
import { line } from '../../model/text.ts'

export const labelCreate = z.strictObject({ name: line(limits.labelName), color })

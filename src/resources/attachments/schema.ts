import { z } from 'zod'

/** A file that is there already is attached by its id. */
export const attachById = z.strictObject({ file_id: z.string() })

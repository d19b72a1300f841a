import { z } from 'zod'

/** Attaches a file of the workspace by its id. A new file is uploaded as multipart/form-data instead. */
export const attachById = z.strictObject({ file_id: z.string() })

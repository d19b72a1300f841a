import { z } from 'zod'

/** A card, as it is stored and as the API returns it. */
export const card = z.strictObject({
  id: z.string(),
  board_id: z.string(),
  column_id: z.string(),
  title: z.string(),
  description: z.string(),
  position: z.string(),
  due_at: z.string().nullable(),
  completed_at: z.string().nullable(),
  archived_at: z.string().nullable(),
  assignee_ids: z.array(z.string()),
  label_ids: z.array(z.string()),
  cover_attachment_id: z.string().nullable(),
  creator_id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Card = Readonly<z.infer<typeof card>>

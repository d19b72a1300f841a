import { z } from 'zod'
import { id, position } from './fields.ts'
import { limits } from './limits.ts'

const blockers = z.array(id('card')).max(limits.blockersPerCard).readonly()

/**
 * How far a card that has blockers is from being ready, beside its record: when a blocker is completed, the card itself does not change, and
 * neither does its revision. A card without blockers has none.
 */
export const readiness = z.strictObject({
  card_id: id('card'),
  board_id: id('board'),
  column_id: id('column'),
  position: position(),
  /** whether the card itself is active and not completed */
  is_open: z.boolean(),
  /** as the card has them */
  blocker_ids: blockers,
  /** those of them that are active and not completed */
  open_blocker_ids: blockers,
})
export type Readiness = Readonly<z.infer<typeof readiness>>

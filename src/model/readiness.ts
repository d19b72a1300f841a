import { z } from 'zod'
import { at, id, position } from './fields.ts'
import { holds } from './claim.ts'
import { limits } from './limits.ts'

const blockers = z.array(id('card')).max(limits.blockersPerCard).readonly()

/**
 * How far a card is from being ready that has blockers, or whose work waits, beside its record: when a blocker is completed or an attempt
 * fails, the card itself does not change, and neither does its revision. Other cards have none.
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
  /** the blockers that are active and not completed */
  open_blocker_ids: blockers,
  /** see `holdOf` in claim.ts */
  held: z.enum(holds).nullable(),
  /** before this time nobody is offered the card */
  not_before: at.nullable(),
})
export type Readiness = Readonly<z.infer<typeof readiness>>

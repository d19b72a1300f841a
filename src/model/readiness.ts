import { z } from 'zod'
import { timestamp, idOf, position } from './fields.ts'
import { holds } from './claim.ts'
import { limits } from './limits.ts'

const blockers = z.array(idOf('card')).max(limits.blockersPerCard).readonly()

/**
 * How far a card is from being ready that has blockers, or whose work waits, beside its record: when a blocker is completed or an attempt
 * fails, the card itself does not change, and neither does its revision. Other cards have none.
 */
export const readiness = z.strictObject({
  card_id: idOf('card'),
  board_id: idOf('board'),
  column_id: idOf('column'),
  position: position(),
  /** whether the card itself is active and not completed */
  is_open: z.boolean(),
  /** as the card has them */
  blocker_ids: blockers,
  /** the blockers that are active and have not succeeded */
  open_blocker_ids: blockers,
  /** see `holdOf` in claim.ts */
  held: z.enum(holds).nullable(),
  /** before this time nobody is offered the card */
  not_before: timestamp.nullable(),
})
export type Readiness = Readonly<z.infer<typeof readiness>>

/**
 * How far a card that has blockers is from being ready, beside its record: when a blocker is completed, the card itself does not change, and
 * neither does its revision. A card without blockers has none.
 */
export interface Readiness {
  readonly card_id: string
  readonly board_id: string
  readonly column_id: string
  readonly position: string
  /** whether the card itself is active and not completed */
  readonly is_open: boolean
  /** as the card has them */
  readonly blocker_ids: readonly string[]
  /** those of them that are active and not completed */
  readonly open_blocker_ids: readonly string[]
}

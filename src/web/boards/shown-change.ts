/** What a page gets to know about a change of its board. */
export interface ShownChange {
  /** `card`, `column`, … */
  readonly kind: string
  readonly action: 'created' | 'updated' | 'deleted' | 'claimed' | 'released'
  readonly id: string
  /** the card that it is on */
  readonly card: string | null
  /** what it is called now */
  readonly title: string | null
  /** whether the person who looks has made it, without a token */
  readonly isOwn: boolean
  /** who made it, in words */
  readonly by: string
}

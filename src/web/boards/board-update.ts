/** What a live page gets to know: what has changed on its board since a place in the change feed, and the fragments that are shown now. */
export interface BoardUpdate {
  /** the cursor of the change feed after these changes */
  readonly next: string
  /** the time of the service, in milliseconds since 1970 */
  readonly now: number
  /** the facts, other than the board, that decide the person's page: if they change, the page is fetched again */
  readonly as: string
  /** whether something without a fragment has changed: the page is fetched again */
  readonly isWhole: boolean
  readonly changes: readonly ShownChange[]
  /** the cards that have changed, by their ids; null: the board does not show it any more */
  readonly tiles: Readonly<Record<string, Fragment | null>>
  /** of the same cards, whether they wait for an answer of the person */
  readonly asking: Readonly<Record<string, boolean>>
  /** the columns that have changed, without their cards; null: the board does not show it any more */
  readonly lanes: Readonly<Record<string, Fragment | null>>
}

/** Somebody else who is editing a text of a card. */
export interface Editor {
  readonly card: string
  /** `title` or `description` */
  readonly part: string
  readonly name: string
}

/** An update that comes by itself. */
export interface StreamedUpdate extends BoardUpdate {
  /** all who are editing something on the board now; undefined: the same as before */
  readonly editors?: readonly Editor[] | undefined
  /** cards whose claims have ended with their tokens, which is no change of the board */
  readonly ended: readonly string[]
}

/** An element of a page. */
export interface Fragment {
  /** of a tile: the column that it is in */
  readonly column?: string
  readonly html: string
}

/** A change, as a page says it. */
export interface ShownChange {
  /** the number of the change in the feed of its board */
  readonly seq: number
  /** RFC 3339 */
  readonly at: string
  /** `card`, `column`, … */
  readonly kind: string
  readonly action: 'created' | 'updated' | 'deleted' | 'claimed' | 'released' | 'failed' | 'stuck' | 'asked' | 'answered' | 'retried'
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

/** In place of the id of a board: the count of the person's unread notices, which an update has as its `next`. */
export const NOTICES = 'notices'

/** How many boards a stream has at most. */
export const STREAM_BOARDS = 50

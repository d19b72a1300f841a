/** A board or a card that the search in everything has found. */
export interface Found {
  readonly name: string
  readonly detail: string
  /** of its page, for a browser */
  readonly address: string
  /** the board of a card */
  readonly board?: string
}

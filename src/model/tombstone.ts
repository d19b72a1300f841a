/** Something whose remains are to be reclaimed. What it was is gone for everyone already. */
export interface Tombstone {
  readonly id: string
  /** a deleted board or card; a file that may hang nowhere any more; bytes that nothing may need */
  readonly kind: 'board' | 'card' | 'file' | 'blob'
  /** what it is: the id of the board, card, file or blob */
  readonly target: string
  /** not to be touched before */
  readonly not_before: string
  /** of bytes: that they are being removed, so nobody may begin to need them */
  readonly claimed?: true
}

/** Marks something for garbage collection. A deleted resource is already invisible to every request. */
export interface Tombstone {
  readonly id: string
  /** a deleted board or card, a file that may be unattached, or bytes that may be unused */
  readonly kind: 'board' | 'card' | 'file' | 'blob'
  /** the id of the board, card, file or blob */
  readonly target: string
  /** the time before which it must not be collected */
  readonly not_before: string
  /** of a blob: its removal has begun, so no file may refer to it any more */
  readonly claimed?: true
}

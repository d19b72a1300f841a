/** Marks something for garbage collection. A deleted resource is already invisible to every request. */
export interface Tombstone {
  readonly id: string
  /** a deleted board or card, a file that may be unattached, bytes that may be unused, references to what has ended, or first responses */
  readonly kind: 'board' | 'card' | 'file' | 'blob' | 'references' | 'responses'
  /** the id of the board, card, file or blob; of references, what they are to: a label, a user or a board; of responses, their hour */
  readonly target: string
  /** the time before which it must not be collected */
  readonly not_before: string
  /** of a blob: its removal has begun, so no file may refer to it any more */
  readonly claimed?: true
}

/** Marks something for garbage collection. A deleted resource is already invisible to every request. */
export interface Tombstone {
  readonly id: string
  /** a deleted board or card, a file that may be unattached, bytes that may be unused, references to what has ended, first responses, changes of a board, or entries of the audit trail */
  readonly kind: 'board' | 'card' | 'file' | 'blob' | 'references' | 'responses' | 'changes' | 'audit'
  /** the id of the board, card, file or blob; of references, what they are to: a label, a user or a board; of responses, their hour; of changes, the board; of the audit trail, `self` */
  readonly target: string
  /** the time before which it must not be collected */
  readonly not_before: string
  /** of a blob: its removal has begun, so no file may refer to it any more */
  readonly claimed?: true
  /** of changes and the audit trail: it was due once, and is due again when all of them are too old */
  readonly again?: true
}

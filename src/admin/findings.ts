/** What a check of a partition finds. */
export interface PartitionFinding {
  readonly kind: FindingKind
  /** the key of a record, or an index and its entry */
  readonly subject: string
  readonly message: string
  /** it was repaired */
  readonly repaired?: true
}
export type FindingKind =
  | 'record_lost'
  | 'record_invalid'
  | 'record_unlisted'
  | 'secret_unreadable'
  | 'reference_broken'
  | 'index_entry_missing'
  | 'index_entry_stray'
  | 'index_unlisted'
  | 'bytes_damaged'
  | 'file_bytes_wrong'
  | 'partition_damaged'
  | 'workspace_incomplete'
  /** no damage: the bytes are of no file */
  | 'bytes_unreferenced'
  /** no damage: what an interrupted import has left */
  | 'import_unfinished'

export interface PartitionCheck {
  readonly reindex: boolean
  readonly quick: boolean
  readonly report: (finding: PartitionFinding) => Promise<void>
  /** called for each batch of records */
  readonly counted: (counts: { readonly records: number; readonly files: number; readonly bytes: number }) => void
  /** called with the id of each blob that a record names */
  readonly referenced: (blobId: string) => void
}

/**
 * References to something that has ended, in more records than one commit may change. They count for nothing, and garbage
 * collection removes them in batches. A change of a file that its attachments show is finished in the same way.
 */
export type PendingRemoval = Progress & RemovalOf

/** What the references are to. */
export type RemovalOf = LabelReferences | Assignments | MemberReferences | FileAttachments

interface Progress {
  /** the id of the tombstone by which garbage collection finds it */
  readonly id: string
  /** the number of indexes that were read to their end, and the last entry that was read of the next one, or null */
  readonly step: number
  readonly after: string | null
}

/** A deleted label, which cards still name. */
interface LabelReferences {
  readonly kind: 'label'
  readonly label_id: string
}

/** Users who lost access to a board, and are still assigned to its cards. */
interface Assignments {
  readonly kind: 'assignments'
  readonly board_id: string
  readonly user_ids: readonly string[]
  /** assignments that were made since: the user and the card, separated by a space */
  readonly kept: readonly string[]
}

/**
 * A user whose membership has ended, with board memberships, assignments and private files, which get the visibility `board`. A new
 * membership must wait for the removal.
 */
interface MemberReferences {
  readonly kind: 'former_member'
  readonly user_id: string
}

/** A file whose visibility has changed. Its attachments show it, so they are written again, and the feeds of their boards tell of it. */
interface FileAttachments {
  readonly kind: 'file'
  readonly file_id: string
}

/** The removals that are pending in a workspace. The record exists only while there are any. */
export interface PendingRemovals {
  readonly pending: readonly PendingRemoval[]
}

import { z } from 'zod'
import { idOf, shortText, amount } from './fields.ts'

const progress = {
  /** the id of the tombstone that leads garbage collection to it */
  id: idOf('tombstone'),
  /** the number of indexes that were read to their end, and the last entry that was read of the next one, or null */
  step: amount,
  after: shortText.nullable(),
}
/** A deleted label, which cards still name. */
const labelReferences = { kind: z.literal('label'), label_id: idOf('label') }
/** Users who lost access to a board, and are still assigned to its cards. */
const assignments = {
  kind: z.literal('assignments'),
  board_id: idOf('board'),
  user_ids: z.array(idOf('user')),
  /** assignments that were made since: the user and the card, separated by a space */
  kept: z.array(shortText),
}
/**
 * A user whose membership has ended, with board memberships, assignments and private files, which get the visibility `board`. A new
 * membership must wait for the removal.
 */
const memberReferences = { kind: z.literal('former_member'), user_id: idOf('user') }
/** A file whose visibility has changed. Its attachments show it, so they are written again, and the feeds of their boards tell of it. */
const fileAttachments = { kind: z.literal('file'), file_id: idOf('file') }

/**
 * References to something that has ended, in more records than one commit may change. They count for nothing, and garbage
 * collection removes them in batches. A change of a file that its attachments show is finished in the same way.
 */
const pendingRemoval = z.discriminatedUnion('kind', [
  z.strictObject({ ...progress, ...labelReferences }),
  z.strictObject({ ...progress, ...assignments }),
  z.strictObject({ ...progress, ...memberReferences }),
  z.strictObject({ ...progress, ...fileAttachments }),
])
export type PendingRemoval = Readonly<z.infer<typeof pendingRemoval>>
type WithoutProgress<Removal> = Removal extends unknown ? Omit<Removal, keyof typeof progress> : never
/** What the references are to. */
export type RemovalOf = WithoutProgress<PendingRemoval>

/** The removals that are pending in a workspace. The record exists only while there are any. */
export const pendingRemovals = z.strictObject({ pending: z.array(pendingRemoval).readonly() })
export type PendingRemovals = Readonly<z.infer<typeof pendingRemovals>>

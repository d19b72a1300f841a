import { z } from 'zod'
import { timestamp, hour, idOf } from './fields.ts'

function tombstoneOf<Kind extends string>(kind: Kind, target: z.ZodType<string>) {
  return z.strictObject({
    id: idOf('tombstone'),
    kind: z.literal(kind),
    target,
    /** the earliest time at which it may be collected */
    not_before: timestamp,
    /** of a blob: its removal has begun, so no file may refer to it any more */
    claimed: z.literal(true).optional(),
    /** of changes, notices and the audit trail: it was due once, and is due again when all of them are too old */
    again: z.literal(true).optional(),
  })
}

/** The tombstone of entries of the audit trail, in a workspace or global. */
export const auditTombstone = tombstoneOf('audit', z.literal('self') as z.ZodType<string>)

/** Marks something for garbage collection. A deleted resource is already invisible to every request. */
export const tombstone = z.discriminatedUnion('kind', [
  // Deleted.
  tombstoneOf('board', idOf('board')),
  tombstoneOf('card', idOf('card')),
  // Files that may be unattached, and bytes that may be unused.
  tombstoneOf('file', idOf('file')),
  tombstoneOf('blob', idOf('blob')),
  // References to something that has ended, or to a file whose visibility has changed.
  tombstoneOf('references', z.union([idOf('label'), idOf('user'), idOf('board'), idOf('file')])),
  // First responses of an hour.
  tombstoneOf('responses', hour),
  // Changes of a board.
  tombstoneOf('changes', idOf('board')),
  // Notices of a person.
  tombstoneOf('notices', idOf('user')),
  auditTombstone,
])
export type Tombstone = Readonly<z.infer<typeof tombstone>>

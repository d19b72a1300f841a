import { z } from 'zod'
import type { PageQuery } from '../../listing/pages.ts'
import type { Board, BoardMember } from '../../model/board.ts'
import { isActive, type Membership } from '../../model/workspace.ts'
import { indexes, lastWord } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { avatarField, documented, idField, textField, timeField } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'

/** A member of a board. `creator` marks the one who needs no explicit membership. */
export const boardMemberEntry = documented(
  z.strictObject({
    user_id: idField('user', 'The id of the user.'),
    display_name: textField('The name of the user in the workspace.', limits.displayName),
    avatar_url: avatarField().nullable(),
    creator: documented(z.boolean(), { description: 'Whether the user created the board. The creator needs no explicit membership.' }),
    added_at: timeField('When the user was added; of the creator, when the board was created.'),
  }),
  { id: 'BoardMember', description: 'The creator of a board, or an explicit member of it.' },
)
export type BoardMemberEntry = z.infer<typeof boardMemberEntry>

// Sorts before every entry of the index: the creator is listed first and has no entry.
const CREATOR_POSITION = '0'

/** Active members of the workspace, as a page of a list. */
export interface PeoplePage {
  readonly people: readonly { readonly membership: Membership; readonly boardMember: BoardMember | undefined; readonly addedAt: string }[]
  /** the position of the last entry, also if it is left out */
  readonly position: string | undefined
  readonly more: boolean
}

/** What a page of {@link peopleOfBoard} reads first: to read it together with something else. */
export function peopleReads(board: Board, { limit, cursor }: PageQuery) {
  return {
    records: [keys.membership(board.creator_id)],
    ranges: [{ index: indexes.boardMembers(board.id), options: { after: cursor, limit: limit + 1 } }],
  } as const
}

/** The creator of a board, and its explicit members in the order in which they were added. */
export async function peopleOfBoard(tx: Transaction, board: Board, { limit, cursor }: PageQuery): Promise<PeoplePage> {
  const { records, ranges } = await tx.load(peopleReads(board, { limit, cursor }))
  const [{ entries, values }] = ranges
  const rows = entries.map((position, i) => ({
    position,
    userId: lastWord(position),
    boardMember: values[i],
    addedAt: values[i]!.added_at,
  }))
  // A creator whose membership has ended is not on the board until it is active again.
  if (cursor === undefined && isActive(records[0]))
    rows.unshift({ position: CREATOR_POSITION, userId: board.creator_id, boardMember: undefined, addedAt: board.created_at })
  const page = rows.slice(0, limit)
  const memberships = await tx.read(page.map(({ userId }) => keys.membership(userId)))
  // Board memberships of former members count for nothing, and are removed in batches.
  const people = page.flatMap(({ boardMember, addedAt }, i) =>
    isActive(memberships[i]) ? [{ membership: memberships[i], boardMember, addedAt }] : [],
  )
  return { people, position: page.at(-1)?.position, more: rows.length > limit }
}

/** All members of the workspace, in the order in which they joined. On a workspace board, explicit memberships do not matter. */
export async function peopleOfWorkspace(tx: Transaction, _board: Board, { limit, cursor }: PageQuery): Promise<PeoplePage> {
  const { entries, values } = await tx.range(indexes.members(), { after: cursor, limit: limit + 1 })
  const page = values.slice(0, limit)
  const people = page.flatMap((found) =>
    found === undefined ? [] : [{ membership: found, boardMember: undefined, addedAt: found.joined_at }],
  )
  return { people, position: entries.at(page.length - 1), more: entries.length > limit }
}

import type { Board } from '../../model/board.ts'
import type { Card } from '../../model/card.ts'
import { limits } from '../../model/limits.ts'
import type { NoticeKind } from '../../model/notice-kind.ts'
import type { Membership } from '../../model/workspace.ts'
import type { CommittingTransaction, Notifying } from '../../store/derivation.ts'
import { authorOfComment, indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Cause, Role, Wanted } from './causes.ts'
import { mentionsIn } from './mentions.ts'

/** Who may get notices of a cause. */
interface Readers {
  /** those who may read the board now, of those who were asked about */
  readonly of: ReadonlyMap<string, Membership>
  readonly board: Board | undefined
  readonly card: Card | undefined
  /** who has commented on the card */
  readonly commenters: readonly string[]
}

/** Who gets a notice of a cause, and of which kind: each person one, of the first kind that is wanted for them. */
export async function recipientsOf(
  tx: CommittingTransaction,
  found: Cause,
  notifying: Notifying,
): Promise<readonly (readonly [Membership, NoticeKind])[]> {
  const cause = { ...found, wanted: await Promise.all(found.wanted.map(withMentioned)) }
  const readers = await readersOf(tx, cause, notifying)
  if (readers === undefined) return []
  const told = new Map<string, readonly [Membership, NoticeKind]>()
  for (const { kind, to } of cause.wanted)
    for (const userId of to.flatMap((one) => peopleOf(one, readers, cause))) {
      const membership = readers.of.get(userId)
      if (membership !== undefined && !told.has(userId) && !isSelf(cause.by, userId)) told.set(userId, [membership, kind])
    }
  return [...told.values()]
}

/** Adds those whom a text mentions. */
async function withMentioned(wanted: Wanted): Promise<Wanted> {
  if (wanted.mentionedIn === undefined) return wanted
  const [mentioned, before] = [await mentionsIn(wanted.mentionedIn.text), await mentionsIn(wanted.mentionedIn.before)]
  return { ...wanted, to: mentioned.filter((one) => !before.includes(one)) }
}

/** Whether a person has done something themself, in the web app. What a token of theirs does, an agent does. */
function isSelf({ actor_id, token_id }: Cause['by'], userId: string): boolean {
  return token_id === null && actor_id === userId
}

function peopleOf(one: string, { of, board, card, commenters }: Readers, { by }: Cause): readonly string[] {
  switch (one as Role) {
    case 'assignees':
      return card?.assignee_ids ?? []
    case 'commenters':
      // What the agent of a person says on a card that only this agent has commented on is no news to that person.
      return commenters.filter((userId) => userId !== by.actor_id)
    case 'people': {
      const { assignee_ids = [], creator_id = '' } = card ?? {}
      // Those whose membership has ended are on the card until their removal is complete.
      const able = assignee_ids.filter((userId) => of.has(userId))
      if (able.length > 0) return able
      return [of.has(creator_id) ? creator_id : board!.creator_id]
    }
    default:
      return [one]
  }
}

/**
 * Reads who may get notices of a cause.
 * @returns undefined if its board or card is deleted
 */
async function readersOf(
  tx: CommittingTransaction,
  { board_id, card_id, wanted }: Cause,
  notifying: Notifying,
): Promise<Readers | undefined> {
  const [boardKey, cardKey] = [board_id === null ? undefined : keys.board(board_id), card_id === null ? undefined : keys.card(card_id)]
  // A write has read the board of what it writes, and most have read the card. It need not rely on more of them.
  const unknown = [boardKey, cardKey].filter((key) => key !== undefined).filter((key) => tx.known<unknown>(key) === undefined)
  await tx.read(unknown)
  const [board, card] = [boardKey && tx.known(boardKey), cardKey && tx.known(cardKey)]
  if ((boardKey !== undefined && board === undefined) || (cardKey !== undefined && card === undefined)) return undefined
  const named = new Set(wanted.flatMap(({ to }) => to))
  const commenters = named.has('commenters') ? await readCommenters(tx, card_id!) : []
  const ofCard = [...(card?.assignee_ids ?? []), ...(named.has('people') ? [card!.creator_id, board!.creator_id] : [])]
  const asked = [...new Set([...[...named].filter((one) => one.startsWith('usr_')), ...ofCard, ...commenters])]
  const memberOf = (userId: string) => keys.boardMember(board_id ?? 'none', userId)
  await tx.read(asked.flatMap((userId) => [keys.membership(userId), memberOf(userId)]))
  const of = new Map<string, Membership>()
  for (const userId of asked) {
    const membership = tx.known(keys.membership(userId))
    // The id in a text may be nobody's.
    if (membership !== undefined && notifying.mayRead(board, membership, tx.known(memberOf(userId)))) of.set(userId, membership)
  }
  return { of, board, card, commenters }
}

/** What is read of those who have commented on a card: the authors of its last comments. */
export function lastComments(cardId: string) {
  return { index: indexes.comments(cardId), options: { limit: limits.commentersOf, reverse: true, weak: true, entriesOnly: true } } as const
}

async function readCommenters(tx: CommittingTransaction, cardId: string): Promise<readonly string[]> {
  const { index, options } = lastComments(cardId)
  const { entries } = await tx.range(index, options)
  return [...new Set(entries.map(authorOfComment))]
}

import type { Comment } from '../../model/comment.ts'
import { ApiError } from '../../model/errors.ts'
import type { Attachment } from '../../model/file.ts'
import type { Subtask } from '../../model/subtask.ts'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import type { SignedInContext } from '../page-context.ts'
import type { ListedCard } from './board-data.ts'
import { readHistory, type History } from './history.ts'
import { readPermissions, type CardPermissions } from './card-permissions.ts'
import { readHolders, type Holders } from './holders.ts'
import { readPeople, type People } from './people.ts'
import { readAll, readerOf, type Reader } from './reader.ts'

/** Blockers that are shown; the others are counted. */
const SHOWN_BLOCKERS = 10
/** Pages of comments that are shown at once; a link leads to the others. */
const COMMENT_PAGES = 1

/** A card with all that is on it. */
export interface CardData {
  readonly card: ListedCard
  /** of the version that is shown, or of one before it: an answer with what is included has none */
  readonly revision: string | undefined
  /** the person */
  readonly userId: string
  readonly may: CardPermissions
  /** the people who can be assigned, if the person may */
  readonly assignable: readonly Assignable[]
  readonly board: BoardSnapshot
  readonly people: People
  readonly holders: Holders
  /** since when it is claimed */
  readonly claimedAt: string | undefined
  /** the first of the cards that block it */
  readonly blockers: readonly ListedCard[]
  /** the active cards that it blocks, or did */
  readonly blocked: readonly ListedCard[]
  readonly subtasks: readonly Subtask[]
  readonly attachments: readonly Attachment[]
  readonly comments: readonly Comment[]
  /** the cursor of the comments after these; undefined: these are the last ones */
  readonly commentsCursor: string | undefined
  /** who changed what; undefined: it was not asked for */
  readonly history: History | undefined
}

interface Assignable {
  readonly user_id: string
  readonly display_name: string
}

/** Reads a card and what is on it. */
export async function readCard(context: SignedInContext): Promise<CardData> {
  const { params, query } = context
  const reader = readerOf(context, params['workspace']!)
  const of = { card_id: params['card']! }
  // The board first: what changes after it is in the feed.
  const { data, revision } = await reader.read('cards.read', of)
  const { board_id } = data as ListedCard
  const board = (await reader.read('boards.read', { board_id }, { include: 'columns,labels' })).data as BoardSnapshot
  const card = (await reader.read('cards.read', of, { include: 'counts,claim' })).data as ListedCard
  const [people, blockers, blocked, subtasks, attachments, comments] = await Promise.all([
    readPeople(reader),
    readBlockers(reader, card),
    readAll<ListedCard>(reader, ['cards.search', {}, { blocker_id: card.id, sort: 'position' }], 1),
    readAll<Subtask>(reader, ['subtasks.list', of], 2),
    readAll<Attachment>(reader, ['attachments.list', of], 1),
    readAll<Comment>(reader, ['comments.list', of, { cursor: query.get('comments') ?? undefined }], COMMENT_PAGES),
  ])
  const on = { subtasks: subtasks.items, attachments: attachments.items, comments: comments.items }
  const may = await readPermissions(reader, { card, ...on })
  const assignable = may.card.has('cards.assign') ? await readAll<Assignable>(reader, ['boards.assignable', { board_id }], 2) : undefined
  const holders = await readHolders(context, reader.caller(), people, [card])
  const before = query.get('history')
  const all = {
    holders,
    history: before === null ? undefined : await readHistory(context, reader.caller(), card, before),
    claimedAt: card.claim == null ? undefined : await readClaimedAt(context, reader.caller().workspaceId, card),
    blockers,
    blocked: blocked.items,
    ...on,
    may,
    assignable: assignable?.items ?? [],
    revision,
    userId: reader.caller().userId,
  }
  return { card, board, people, ...all, commentsCursor: comments.cursor }
}

/** The API says when a claim was renewed last. A person wants to know how long somebody has been at work. */
async function readClaimedAt({ web }: SignedInContext, workspaceId: string, { id, claim }: ListedCard): Promise<string | undefined> {
  const record = await transact(web.store, workspaceId, web.random, (tx) => tx.get(keys.claim(id)))
  // Another holder may have taken it since the card was read.
  return record?.epoch === claim?.epoch ? record?.taken_at : undefined
}

/** Reads the first blockers of a card. One that was deleted since the card was read is left out. */
async function readBlockers(reader: Reader, { blocker_ids }: ListedCard): Promise<ListedCard[]> {
  const read = blocker_ids.slice(0, SHOWN_BLOCKERS).map(async (card_id) => {
    try {
      return [(await reader.read('cards.read', { card_id })).data as ListedCard]
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') return []
      throw error
    }
  })
  return (await Promise.all(read)).flat()
}

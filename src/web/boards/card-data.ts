import type { Comment } from '../../model/comment.ts'
import type { Attachment } from '../../model/file.ts'
import type { Subtask } from '../../model/subtask.ts'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import type { Given } from '../operations/form.ts'
import { TILE_PARTS, type ListedCard } from '../listed-card.ts'
import type { Known } from '../markdown.ts'
import { readHistory, type History } from './history.ts'
import { readPeople, type Member, type People } from './people.ts'
import { readQuestions, readWaiting, type Waiting } from './questions.ts'
import { readAll, type Reader } from '../reader.ts'
import { picturesOf, readReferences } from './references.ts'

/** Blockers that are shown; the others are counted. */
const SHOWN_BLOCKERS = 10
/** Pages of comments that are shown at once; a link leads to the others. */
const COMMENT_PAGES = 1

/** A card with all that is on it. */
export interface CardData {
  readonly card: ListedCard
  /** of the version that is shown, or of one before it: an answer with included members has no ETag */
  readonly revision: string | undefined
  readonly may: CardPermissions
  /** the people who can be assigned, if the person may */
  readonly assignable: readonly Member[]
  /** what its texts may name */
  readonly known: Known
  readonly board: BoardSnapshot
  readonly people: People
  /** the one that waits for an answer */
  readonly question: Comment | undefined
  /** the cards that wait for an answer by the person, on all boards */
  readonly waiting: Waiting
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

/** What the person may do on a card, as the policy decides: nothing else is offered. */
interface CardPermissions {
  /** on the card */
  readonly card: ReadonlySet<string>
  /** on each of its subtasks, which all have the same facts */
  readonly subtask: ReadonlySet<string>
  /** on a comment: the policy knows only whether the person is its author */
  comment(comment: Comment): ReadonlySet<string>
  /** by the ids of attachments */
  readonly attachments: ReadonlyMap<string, ReadonlySet<string>>
}

/** What the forms that change the card are given. */
export function ofVersion({ card, revision }: CardData): Given {
  return { card_id: card.id, revision }
}

/** Reads a card and what is on it. */
export async function readCard(reader: Reader): Promise<CardData> {
  const { params, query } = reader.context
  const of = { card_id: params['card']! }
  // The board first: what changes after it is in the feed.
  const { data, revision } = await reader.read('cards.read', of)
  const { board_id } = data as ListedCard
  const board = (await reader.read('boards.read', { board_id }, { include: 'columns,labels' })).data as BoardSnapshot
  const card = (await reader.read('cards.read', of, { include: TILE_PARTS })).data as ListedCard
  const [people, blockers, blocked, subtasks, attachments, comments, questions, waiting] = await Promise.all([
    readPeople(reader),
    // One that was deleted since the card was read is left out.
    Promise.all(card.blocker_ids.slice(0, SHOWN_BLOCKERS).map((card_id) => reader.find<ListedCard>('cards.read', { card_id }))),
    readAll<ListedCard>(reader, ['cards.search', {}, { blocker_id: card.id, sort: 'position' }], 1),
    readAll<Subtask>(reader, ['subtasks.list', of], 2),
    readAll<Attachment>(reader, ['attachments.list', of], 1),
    readAll<Comment>(reader, ['comments.list', of, { cursor: query.get('comments') ?? undefined }], COMMENT_PAGES),
    readQuestions(reader, [card]),
    readWaiting(reader),
  ])
  const on = { subtasks: subtasks.items, attachments: attachments.items, comments: comments.items }
  const may = await readPermissions(reader, card, on)
  const assignable = may.card.has('cards.assign') ? (await readAll<Member>(reader, ['boards.assignable', { board_id }], 2)).items : []
  const question = questions.get(card.id)
  const texts = [card.description, question?.body ?? '', card.work?.reason ?? '', ...comments.items.map(({ body }) => body)]
  const linkOf = await readReferences(reader, texts)
  const before = query.get('history')
  return {
    card,
    revision,
    board,
    people,
    question,
    known: { nameOf: people.memberName, linkOf, pictureOf: picturesOf(attachments.items, reader.base) },
    waiting,
    history: before === null ? undefined : await readHistory(reader, card, people, before),
    blockers: blockers.filter((blocker) => blocker !== undefined),
    blocked: blocked.items,
    ...on,
    commentsCursor: comments.cursor,
    may,
    assignable,
  }
}

/** Asks what the person may do on a card. */
async function readPermissions(
  reader: Reader,
  { id }: ListedCard,
  { subtasks, comments, attachments }: Pick<CardData, 'subtasks' | 'comments' | 'attachments'>,
): Promise<CardPermissions> {
  const { userId } = reader.caller()
  const isOwn = ({ author_id }: Comment) => author_id === userId
  const asked = attachments.flatMap((attachment) => [
    { operation: 'attachments.detach', type: 'attachment', id: attachment.id },
    { operation: 'cards.set_cover', type: 'card', id, properties: { attachment_id: attachment.id } },
    { operation: 'files.update', type: 'file', id: attachment.file_id },
  ])
  const each = asked.length / attachments.length
  const [card, subtask, own, others, decisions] = await Promise.all([
    reader.allowed('card', id),
    reader.allowed('subtask', subtasks[0]?.id),
    reader.allowed('comment', comments.find(isOwn)?.id),
    reader.allowed('comment', comments.find((comment) => !isOwn(comment))?.id),
    reader.allowedOf(asked),
  ])
  const allowed = asked.map(({ operation }, i) => (decisions[i] ? operation : ''))
  return {
    card,
    subtask,
    comment: (comment) => (isOwn(comment) ? own : others),
    attachments: new Map(attachments.map((one, i) => [one.id, new Set(allowed.slice(i * each, (i + 1) * each))])),
  }
}

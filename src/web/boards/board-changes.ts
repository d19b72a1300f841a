import { renderToString } from 'preact-render-to-string'
import type { Caller } from '../../authz/context.ts'
import { FORMER_MEMBER } from '../../model/author.ts'
import type { Change } from '../../model/change.ts'
import { OWN_ID } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { isActive } from '../../model/workspace.ts'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { matcher } from '../../resources/cards/filter.ts'
import { mentionsIn } from '../../resources/notices/mentions.ts'
import { indexes, lastWord } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { addBase } from '../base-path.ts'
import { authorsOf } from './authors.ts'
import { readControls } from './board-controls.ts'
import { type TileFacts } from './board-data.ts'
import { TILE_PARTS, type ListedCard } from '../listed-card.ts'
import type { BoardUpdate, Fragment, ShownChange } from './board-update.ts'
import { renderLane } from './board-view.ts'
import { cardQuery, isFiltered, matchesDue, type BoardFilters } from './filters.ts'
import { readPeople } from './people.ts'
import { isAsking, questionText, readQuestions } from './questions.ts'
import { decidedBy, type Reader } from '../reader.ts'
import { tileHtml } from './tile.ts'
import { isLostAttempt } from './work.ts'

/** With more cards than that, the page is fetched again: it is read at once. */
const MAX_TILES = 30
/** What stands in many places of a page. */
const WHOLE: ReadonlySet<string> = new Set(['board', 'board_member', 'label'])

/** The part of a board's change feed that was read. */
interface FoundChanges {
  readonly boardId: string
  readonly changes: readonly Change[]
  /** the cursor after them */
  readonly next: string
  /** as the changes were read: a role can change while a page is open */
  readonly caller: Caller
}

/** What a page asks for in addition to the changes. */
interface Asked {
  /** only cards that match are shown */
  readonly filters: BoardFilters
  /** further cards that the page shows */
  readonly cards: readonly string[]
}

/**
 * Makes the update of a page. Each fragment is read as the person may read it now: it can be newer than the change, and never older.
 * @throws {ApiError} if the person may not read the board any more
 */
export async function describeChanges(
  reader: Reader,
  { boardId, changes, next, caller }: FoundChanges,
  { filters, cards }: Asked,
): Promise<BoardUpdate> {
  const said = changes.filter((change) => !isLostAttempt(change))
  const authors = await authorsOf(reader, said)
  const shown = said.map((change, i) => shownChange(change, authors[i]!, caller.userId))
  const blocked = await readBlocked(reader, said)
  const cardIds = [...new Set([...cards, ...shown.flatMap(({ card }) => card ?? []), ...blocked])]
  const columnIds = [...new Set(shown.flatMap(({ kind, id }) => (kind === 'column' ? [id] : [])))]
  const isWhole = changes.length >= limits.pageSize.max || cardIds.length > MAX_TILES || shown.some(({ kind }) => WHOLE.has(kind))
  return {
    next,
    now: reader.context.web.clock(),
    as: decidedBy(reader, caller),
    isWhole,
    changes: shown,
    ...(isWhole || cardIds.length === 0 ? { tiles: {}, asking: {} } : await readTiles(reader, boardId, cardIds, filters)),
    lanes: isWhole || columnIds.length === 0 ? {} : await readLanes(reader, boardId, columnIds),
  }
}

function shownChange({ seq, at, kind: changed, action, id, data, token_id, actor_id }: Change, by: string, userId: string): ShownChange {
  // A claim has the id of its card, and is shown on it.
  const kind = changed === 'claim' || changed === 'work' ? 'card' : changed
  const { card_id = null, title, name = null } = (data ?? {}) as Readonly<Record<string, string>>
  return {
    seq,
    at,
    kind,
    action,
    id,
    card: kind === 'card' ? id : card_id,
    title: title ?? name,
    isOwn: token_id === null && actor_id === userId,
    by,
  }
}

/** The cards that have one of the changed cards as a blocker: they may be blocked or ready with it, and do not change themselves. */
async function readBlocked(reader: Reader, changes: readonly Change[]): Promise<string[]> {
  const blockers = changes.flatMap(({ kind, action, id }) => (kind === 'card' && action === 'updated' ? [id] : []))
  if (blockers.length === 0) return []
  const ranges = [...new Set(blockers)].map((id) => ({
    index: indexes.blockedCards(id),
    options: { limit: MAX_TILES + 1, entriesOnly: true, weak: true },
  }))
  return reader.transact(async (tx) => (await tx.load({ ranges })).ranges.flatMap(({ entries }) => entries.map(lastWord)))
}

async function readTiles(
  reader: Reader,
  boardId: string,
  cardIds: readonly string[],
  filters: BoardFilters,
): Promise<Pick<BoardUpdate, 'tiles' | 'asking'>> {
  const found = await Promise.all(cardIds.map((card_id) => reader.find<ListedCard>('cards.read', { card_id }, { include: TILE_PARTS })))
  const matches = await readFilter(reader, boardId, filters)
  const cards = found.filter((card) => card !== undefined && card.board_id === boardId && card.archived_at === null && matches(card))
  const { base } = reader.context.web.site
  const facts = await readTileFacts(reader, cards as readonly ListedCard[])
  const fragments = cards.map(
    (card) => [card!.id, { column: card!.column_id, html: addBase(base, tileHtml(card!, facts).toString()) }] as const,
  )
  const { userId } = reader.caller()
  return {
    tiles: { ...Object.fromEntries(cardIds.map((id) => [id, null])), ...Object.fromEntries(fragments) },
    asking: Object.fromEntries(cardIds.map((id, i) => [id, found[i] !== undefined && isAsking(found[i], userId)])),
  }
}

/** Reads a predicate for the cards that match the filters of a page. */
async function readFilter(reader: Reader, boardId: string, filters: BoardFilters): Promise<(card: ListedCard) => boolean> {
  if (!isFiltered(filters)) return () => true
  const { labels } = (await reader.read('boards.read', { board_id: boardId }, { include: 'labels' })).data as BoardSnapshot
  const { q, label_id, assignee_id, completed } = cardQuery(filters, labels!, (await readPeople(reader)).members)
  const matches = matcher({
    archived: false,
    q,
    label_id: label_id?.split(','),
    assignee_id: assignee_id?.split(',').map((id) => (id === OWN_ID ? reader.caller().userId : id)),
    completed: completed === undefined ? undefined : completed === 'true',
  })
  const now = reader.context.web.clock()
  return (card) => matches(card) && matchesDue(filters, card, now) && (filters.work === '' || card.work?.state === filters.work)
}

/** Reads what a few tiles need. The people are the members of the workspace, whom everybody in it may list. */
async function readTileFacts(reader: Reader, cards: readonly ListedCard[]): Promise<TileFacts> {
  const questions = await readQuestions(reader, cards)
  const labelIds = [...new Set(cards.flatMap(({ label_ids }) => label_ids))]
  const mentioned = (await Promise.all(Array.from(questions.values(), ({ body }) => mentionsIn(body)))).flat()
  const holders = cards.flatMap(({ claim }) => claim?.holder_id ?? [])
  const userIds = [...new Set([...cards.flatMap(({ assignee_ids }) => assignee_ids), ...holders, ...mentioned])]
  const [labels, members] =
    labelIds.length + userIds.length === 0
      ? [[], []]
      : await reader.transact(async (tx) => [
          await tx.read(labelIds.map((id) => keys.label(id))),
          await tx.read(userIds.map((id) => keys.membership(id))),
        ])
  const labelOf = new Map(labelIds.map((id, i) => [id, labels[i]]))
  const memberOf = new Map(userIds.map((id, i) => [id, members[i]]))
  const memberName = (id: string) => {
    const member = memberOf.get(id)
    return isActive(member) ? member.display_name : undefined
  }
  return {
    base: reader.base,
    labelOf: (id) => labelOf.get(id),
    nameOf: (id) => memberName(id) ?? FORMER_MEMBER,
    questionOf: (cardId) => questionText(questions.get(cardId), memberName),
    now: reader.context.web.clock(),
  }
}

/** Reads columns without their cards: the page has those. */
async function readLanes(reader: Reader, boardId: string, columnIds: readonly string[]): Promise<Record<string, Fragment | null>> {
  const board = (await reader.read('boards.read', { board_id: boardId }, { include: 'columns' })).data as BoardSnapshot
  const columns = board.columns!.filter(({ id }) => columnIds.includes(id))
  const { web } = reader.context
  // The forms lead back to the page.
  const page = { ...reader.context, path: `${reader.base}/boards/${boardId}`, query: new URLSearchParams() }
  const controls = { ...(await readControls(reader, board, [])), context: page }
  const lanes = columns.map(
    (column) => [column.id, { html: addBase(web.site.base, renderToString(renderLane(controls, { column, cards: [] }, ''))) }] as const,
  )
  return { ...Object.fromEntries(columnIds.map((id) => [id, null])), ...Object.fromEntries(lanes) }
}

import type { ServerRequest } from 'srvx'
import { useSession } from '../../auth/accounts/sessions.ts'
import { encodeCursor } from '../../listing/pages.ts'
import { StreamShare } from '../../governor/stream-share.ts'
import { whenAnswered } from '../../http/answered.ts'
import { openStream, type Feed } from '../../http/event-stream.ts'
import type { Events } from '../../http/outcome.ts'
import type { Services } from '../../http/services.ts'
import type { Change } from '../../model/change.ts'
import { ApiError } from '../../model/errors.ts'
import { isId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { CHANGES } from '../../resources/changes/feed.ts'
import type { StreamedResult } from '../../resources/result.ts'
import { indexes } from '../../store/indexes.ts'
import { GLOBAL } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { notFoundPage } from '../error-pages.ts'
import type { Page, SignedInContext } from '../page-context.ts'
import { securityHeaders } from '../security-headers.ts'
import { describeChanges } from './board-changes.ts'
import { NOTICES, STREAM_BOARDS, type StreamedUpdate } from './board-update.ts'
import { EndedClaims } from './ended-claims.ts'
import { filtersOf } from './filters.ts'
import { auditOf, decidedBy, workspacePage, type Reader } from '../reader.ts'
import { OtherEditors } from './editing.ts'
import { readUnread, unreadText } from '../unread.ts'

/** Everything of a board. The script of a page with filters asks for its own update. */
const UNFILTERED = { filters: filtersOf(new URLSearchParams()), cards: [] }
/** Cards that a page can ask for in addition to the changed ones. */
const MAX_CARDS = 20
/** Changes that are read at once. */
const MOST = String(limits.pageSize.max)

/**
 * The updates of boards as server-sent events, of all that a browser shows: it has few connections to one host. The query has `board`, an
 * id, and `after`, the cursor of its feed, for each. In place of a board, `notices` is the count of the person's unread notices. An event has the `board` and its update, or the error that ends that board.
 */
export const eventsPage: Page = {
  ...workspacePage('events', 'boards.events', async (reader) => {
    const { context, workspaceId: partition } = reader
    const { web, session, request, requestId, query, origin } = context
    const services = web.services()
    const positions = query.getAll('after')
    const asked = new Map(query.getAll('board').map((id, i) => [id, positions[i]]))
    const boards = [...asked.keys()]
    if (boards.length === 0 || boards.length > STREAM_BOARDS || !boards.every((id) => id === NOTICES || isId('board', id)))
      throw new ApiError('validation_failed', { message: `The address names 1 to ${STREAM_BOARDS} boards.` })
    requireFewStreams(services, session.user_id, request)
    const feeds = await Promise.all(
      boards.map((board) => (board === NOTICES ? openCount(reader) : openFeed(reader, board, asked.get(board)))),
    )
    const hidden = boards.filter((_board, i) => feeds[i]!.isHidden)
    const audit =
      hidden.length > 0 &&
      (await auditOf(
        context,
        'boards.events',
        hidden.filter((id) => id !== NOTICES),
      ))
    if (hidden.length === boards.length) return { ...notFoundPage(), audit }
    const { turns, rateLimits } = services
    const charge = (units: number) => rateLimits?.countPage(session.user_id, units)
    const share = new StreamShare({ turns, turn: context.work.turnOfStream(), charge })
    const streamed = { request, method: request.method, requestId, partition, share }
    return { raw: openStream(services, streamed, feeds, { ...securityHeaders(origin) }), audit }
  }),
  isPart: true,
}

/**
 * The update of a page of a board, for its script: what has changed after the cursor `after`, with the filters of the page, and each
 * `card`.
 */
export const changesPage: Page = {
  ...workspacePage('boards/{board}/changes', 'boards.changes', async (reader) => {
    const { params, query } = reader.context
    const boardId = params['board']!
    const { data, nextCursor } = await reader.read(
      'boards.changes',
      { board_id: boardId },
      { after: query.get('after') ?? undefined, limit: MOST },
    )
    const found = { boardId, changes: data as Change[], next: nextCursor!, caller: reader.caller() }
    const cards = query.getAll('card').slice(0, MAX_CARDS)
    return { json: await describeChanges(reader, found, { filters: filtersOf(query), cards }) }
  }),
  isPart: true,
}

/** The updates of one board. One that the person may not read ends at its first read, and the others go on. */
async function openFeed(reader: Reader, board: string, after: string | undefined): Promise<Feed & { readonly isHidden: boolean }> {
  const { context } = reader
  const about = { board }
  const endedClaims = new EndedClaims(reader, board)
  const otherEditors = new OtherEditors(reader, board)
  let as: string | undefined
  const show = async ({ caller, found }: Events): Promise<StreamedResult> => {
    const changes = found.items.map(({ data }) => data as Change)
    // The first event comes at once: the page may be older than the facts that decide about it now.
    const isSame = as === decidedBy(reader, caller)
    as = decidedBy(reader, caller)
    const ended = await endedClaims.next(changes)
    const editors = await otherEditors.next()
    if (changes.length + ended.length === 0 && editors === undefined && isSame) return { ...found, items: [] }
    const next = encodeCursor(CHANGES, found.position)
    const described = await describeChanges(reader, { boardId: board, changes, next, caller }, UNFILTERED)
    const update: StreamedUpdate = { ...described, ended, editors }
    return { ...found, items: [{ id: next, data: { ...about, update } }] }
  }
  try {
    const answer = await reader.answer('boards.events', { params: { board_id: board }, query: { after } })
    if (answer.kind !== 'events') throw new TypeError('a stream has events')
    const readNext = async (position: string) => {
      const next = await show(await answer.next(position))
      // Afterwards: what was read is older than this.
      await requireSession(context)
      return next
    }
    return { about, first: await show(answer), readNext, isHidden: false }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const first = { items: [], position: '', index: indexes.changes(board) }
    return { about, first, readNext: () => Promise.reject(error), isHidden: error.code === 'not_found' }
  }
}

/** The count of unread notices. Who is no member of the workspace any more gets none. */
async function openCount({ context, workspaceId }: Reader): Promise<Feed & { readonly isHidden: boolean }> {
  const index = indexes.notices(context.session.user_id)
  let shown: string | undefined
  const readNext = async (): Promise<StreamedResult> => {
    const unread = await readUnread(context)
    if (!unread.some(({ workspace }) => workspace.id === workspaceId)) throw new ApiError('not_found')
    const next = unreadText(unread)
    await requireSession(context)
    const items = next === shown ? [] : [{ id: next, data: { board: NOTICES, update: { next } } }]
    shown = next
    return { items, position: '', index }
  }
  const about = { board: NOTICES }
  try {
    return { about, first: await readNext(), readNext, isHidden: false }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { about, first: { items: [], position: '', index }, readNext: () => Promise.reject(error), isHidden: error.code === 'not_found' }
  }
}

/**
 * A person can have as many streams as one token can have requests in progress: each is decided again every second.
 * @throws {ApiError} `rate_limited`
 */
function requireFewStreams({ rateLimits }: Services, userId: string, request: ServerRequest): void {
  if (rateLimits === undefined) return
  const leave = rateLimits.enter(userId)
  if (leave === undefined)
    throw new ApiError('rate_limited', {
      message: 'Too many of your boards are open. Close some of them.',
      headers: { 'retry-after': '1' },
    })
  whenAnswered(request, leave)
}

/**
 * A stream is open while somebody has its page before them: that is use of the session.
 * @throws {ApiError} `unauthorized` if the session has ended since the stream began
 */
async function requireSession({ web, session }: SignedInContext): Promise<void> {
  const current = await transact(web.store, GLOBAL, web.random, (tx) => useSession(tx, session.hash, web))
  if (current === undefined) throw new ApiError('unauthorized')
}

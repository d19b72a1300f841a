import type { ServerRequest } from 'srvx'
import { isLive } from '../../auth/accounts/sessions.ts'
import type { Caller } from '../../authz/context.ts'
import { openStream } from '../../http/event-stream.ts'
import type { Events } from '../../http/outcome.ts'
import { whenAnswered } from '../../http/answered.ts'
import type { Services } from '../../http/services.ts'
import type { Change } from '../../model/change.ts'
import { ApiError } from '../../model/errors.ts'
import type { StreamedResult } from '../../resources/result.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import type { Page, SignedInContext } from '../page-context.ts'
import { securityHeaders } from '../security-headers.ts'
import { authorsOf } from './authors.ts'
import { workspacePage, type Reader } from './reader.ts'
import type { ShownChange } from './shown-change.ts'

/** The changes of a board as server-sent events: the feed of the API, with the names of those who made them. */
export const eventsPage: Page = {
  ...workspacePage('boards/{board}/events', 'boards.events', async (reader) => {
    const { context, workspaceId: partition } = reader
    const { web, session, request, requestId, params, query, origin } = context
    const services = web.services()
    requireFewStreams(services, session.user_id, request)
    const asked = { params: { board_id: params['board']! }, query: { after: query.get('after') ?? undefined } }
    const answer = await reader.answer('boards.events', asked)
    if (answer.kind !== 'events') throw new TypeError('a stream has events')
    const show = async ({ caller, found }: Events) => ({ ...found, items: await describe(reader, caller, found) })
    const readNext = async (position: string) => {
      const next = await answer.next(position)
      // Afterwards: what was read is older than this.
      await requireSession(context)
      return show(next)
    }
    const streamed = { request, method: request.method, requestId, partition }
    return { raw: openStream(services, streamed, await show(answer), readNext, { ...securityHeaders(origin) }) }
  }),
  isPart: true,
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

/** @throws {ApiError} `unauthorized` if the session has ended since the stream began */
async function requireSession({ web, session }: SignedInContext): Promise<void> {
  const current = await transact(web.store, GLOBAL, web.random, (tx) => tx.get(keys.session(session.hash)))
  if (current === undefined || !isLive(current, web.clock())) throw new ApiError('unauthorized')
}

/** Changes as a page shows them. */
async function describe(reader: Reader, caller: Caller, { items }: StreamedResult): Promise<StreamedResult['items']> {
  if (items.length === 0) return items
  const changes = items.map(({ data }) => data as Change)
  const authors = await authorsOf(reader, changes, caller)
  return items.map((item, i) => ({ ...item, data: shownChange(changes[i]!, authors[i]!, caller.userId) }))
}

function shownChange({ kind: changed, action, id, data, token_id, actor_id }: Change, by: string, userId: string): ShownChange {
  // A claim has the id of its card, and is shown on it.
  const kind = changed === 'claim' ? 'card' : changed
  const { card_id = null, title, name = null } = (data ?? {}) as Readonly<Record<string, string>>
  return {
    kind,
    action,
    id,
    card: kind === 'card' ? id : card_id,
    title: title ?? name,
    isOwn: token_id === null && actor_id === userId,
    by,
  }
}

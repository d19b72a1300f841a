import type { Notice } from '../../model/notice.ts'
import { mayActOn } from '../boards/acts.ts'
import type { ListedCard } from '../listed-card.ts'
import { workspaceOf } from '../memberships.ts'
import type { Page, PageResponse } from '../page-context.ts'
import { BOARD_SCRIPTS, ifFound, readerOf, workspacePage, type Reader } from '../reader.ts'
import { readUnread, unreadText } from '../unread.ts'
import { renderInbox, renderInboxes, type Acts } from './view.ts'

/** Notices of a page. */
const SHOWN = '50'
/** Cards of a page whose question can be answered, or that can be tried again: each is read. */
const SHOWN_CARDS = 20

/** The way to the inbox of a person: there is one in each workspace. */
export const inboxesPage: Page = {
  path: '/app/notices',
  anonymous: false,
  async get(context) {
    const inboxes = await readUnread(context)
    const [only] = inboxes
    if (inboxes.length === 1) return { redirect: `/app/${only!.workspace.id}/notices` }
    return { title: 'Inbox', body: renderInboxes(inboxes), scripts: BOARD_SCRIPTS }
  },
}

/** What a person has to know in a workspace, newest first. Its form marks notices as read: some, all until a time, or all of a card. */
export const inboxPage: Page = {
  ...workspacePage('notices', 'notices.list', async (reader) => {
    const { context, workspaceId } = reader
    const { web, session, query } = context
    const after = query.get('after') ?? undefined
    const { data, nextCursor } = await reader.read('notices.list', {}, { order: 'desc', limit: SHOWN, after })
    const notices = data as readonly Notice[]
    const [acts, workspace] = await Promise.all([readActs(reader, notices), workspaceOf(web, session.user_id, workspaceId)])
    const shown = { notices, acts, next: nextCursor ?? undefined, isContinued: after !== undefined }
    return { title: 'Inbox', body: renderInbox(reader, shown, workspace?.name ?? ''), scripts: BOARD_SCRIPTS }
  }),
  post: (context) => ifFound(context, 'notices.mark', () => mark(readerOf(context))),
}

/** The count of unread notices, for the script of a page that has no stream. */
export const unreadPage: Page = {
  ...workspacePage('notices/unread', 'notices.list', async ({ context }) => countOf(context)),
  isPart: true,
}

async function countOf(context: Reader['context']): Promise<PageResponse> {
  return { json: { unread: unreadText(await readUnread(context)) }, audit: false }
}

async function mark(reader: Reader): Promise<PageResponse> {
  const { context, base } = reader
  const { form, request } = context
  const [before, card] = [form.get('before'), form.get('card')]
  const ids = card === null ? form.getAll('id') : await unreadAbout(reader, card)
  if (before !== null) await reader.answer('notices.mark', { body: { before } })
  else if (ids.length > 0) await reader.answer('notices.mark', { body: { ids } })
  if (request.headers.get('accept') === 'application/json') return countOf(context)
  return { redirect: `${base}/notices`, audit: false }
}

/** The unread notices about a card, among the newest. */
async function unreadAbout(reader: Reader, cardId: string): Promise<readonly string[]> {
  const { data } = await reader.read('notices.list', {}, { order: 'desc', unread: 'true', limit: '100' })
  return (data as readonly Notice[]).flatMap(({ id, card_id }) => (card_id === cardId ? [id] : []))
}

/** What the person can do about notices: cards by their ids. */
async function readActs(reader: Reader, notices: readonly Notice[]): Promise<ReadonlyMap<string, Acts>> {
  const about = notices.filter(({ kind }) => kind === 'question' || kind === 'card_stuck').map(({ card_id }) => card_id!)
  const ids = [...new Set(about)].slice(0, SHOWN_CARDS)
  if (ids.length === 0) return new Map()
  const [cards, may] = await Promise.all([
    Promise.all(ids.map((card_id) => reader.find<ListedCard>('cards.read', { card_id }, { include: 'work' }))),
    mayActOn(reader, ids),
  ])
  return new Map(cards.flatMap((card, i) => (card === undefined ? [] : [[card.id, { card, may: may[i]! }] as const])))
}

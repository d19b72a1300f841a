/** The count of unread notices in the header and in the title of the page. What is new in the inbox shows without a reload. */
import { NOTICES } from '../boards/board-update.ts'
import type { Message } from './board-stream.ts'
import { connectionOf } from './connection.ts'
import { refreshPage } from './refreshed-page.ts'

/** How long to wait after the stream of the count has ended, in milliseconds. */
const RETRY = 30_000

const link = document.querySelector<HTMLElement>('[data-unread]')
const inbox = document.querySelector<HTMLElement>('[data-inbox]')
const prefixOf = (count = '') => (count === '' ? '' : `(${count}) `)

/** What a page is called, without the count before it. */
export function titleOf(page: Document): string {
  return page.title.slice(prefixOf(page.querySelector<HTMLElement>('[data-unread]')?.dataset['unread']).length)
}

let title = titleOf(document)

/** Gives the window the title of the page on top, after the count. */
export function showTitle(shown: string): void {
  title = shown
  document.title = prefixOf(link?.dataset['unread']) + title
}

/** The page has the count and the title of a version of itself that was fetched. */
export function takeCount(page: Document): void {
  const count = page.querySelector<HTMLElement>('[data-unread]')?.dataset['unread']
  if (link === null || count === undefined) return
  link.dataset['unread'] = count
  link.querySelector('[data-unread-count]')!.textContent = count
}

function show(count: string): void {
  if (count === link!.dataset['unread']) return
  link!.dataset['unread'] = count
  showTitle(title)
  link!.querySelector('[data-unread-count]')!.textContent = count
  refreshPage()
  ignoreFailure(markShown())
}

/** Whoever looks at a card has read what its notices say. */
export async function markShown(): Promise<void> {
  const card = document.querySelector<HTMLElement>('[data-feed][data-card]')
  if (link === null || card === null || link.dataset['unread'] === '' || document.visibilityState === 'hidden') return
  await mark({ card: card.dataset['card']! }, card.dataset['token']!)
}

async function mark(of: Readonly<Record<string, string>>, token: string): Promise<void> {
  const body = new URLSearchParams({ ...of, form_token: token })
  const address = `${new URL(link!.dataset['base']!, location.href).href}/notices`
  const response = await fetch(address, { method: 'POST', headers: { accept: 'application/json' }, body, keepalive: true })
  if (response.ok && !response.redirected) show(((await response.json()) as { unread: string }).unread)
}

async function ask(): Promise<void> {
  const response = await fetch(`${link!.dataset['base']!}/notices/unread`, { headers: { accept: 'application/json' } })
  if (response.ok && !response.redirected) show(((await response.json()) as { unread: string }).unread)
}

/** Counts while somebody looks at the page. A connection that fails is made again. */
export function countNotices(): void {
  if (link === null) return
  const { base, worker, person } = link.dataset
  const watch = connectionOf({ base: new URL(base!, location.href).href, board: NOTICES }, worker!, `${base} ${person}`)
  let leave: (() => void) | undefined
  const close = () => {
    leave?.()
    leave = undefined
  }
  const receive = (message: Message) => {
    if ('update' in message) show(message.update.next)
    else if ('isBehind' in message) ignoreFailure(ask())
    else if ('ended' in message) {
      close()
      if (message.ended !== 'unauthorized' && message.ended !== 'not_found') setTimeout(connect, RETRY)
    }
  }
  const connect = () => {
    if (leave !== undefined || document.visibilityState === 'hidden') return
    leave = watch(link.dataset['unread']!, receive)
    ignoreFailure(markShown())
  }
  connect()
  document.addEventListener('visibilitychange', () => (document.visibilityState === 'hidden' ? close() : connect()))
  addEventListener('pagehide', close)
  addEventListener('pageshow', ({ persisted }) => persisted && connect())
  // What is answered or tried again is no news any more.
  inbox?.addEventListener('submit', ({ target }) => {
    const form = target as HTMLFormElement
    const notice = form.dataset['send'] === undefined ? null : form.closest('li.unread')
    if (notice !== null) ignoreFailure(mark({ id: notice.id }, new FormData(form).get('form_token') as string))
  })
}

/** The next message says it, or the next page. */
function ignoreFailure(work: Promise<void>): void {
  work.catch(() => undefined)
}

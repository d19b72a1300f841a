/**
 * Makes a page of boards live. Without it the page works, and is up to date when it is loaded. The page is fetched again when something has
 * changed, and what differs is put in its place.
 */
import type { ShownChange } from '../boards/shown-change.ts'
import { focusOn } from './focus.ts'
import { hasText, keepOpen, merge } from './merge.ts'
import { noteOf, sentenceOf } from '../boards/sentences.ts'
import { showTimes } from './times.ts'
import { announce } from './toast.ts'

const root = document.querySelector<HTMLElement>('[data-events]')

let running: Promise<void> | undefined
let again = false

let holds = 0
const held: (() => void)[] = []

/** Keeps the page as it is while a person moves something on it. @returns what ends that; it can be called twice */
export function hold(): () => void {
  let isOver = false
  holds++
  return () => {
    if (isOver) return
    isOver = true
    if (--holds === 0) for (const go of held.splice(0)) go()
  }
}

/** Fetches the page, and shows what differs. A call during another one leads to one more afterwards. */
export async function refresh(): Promise<void> {
  if (running !== undefined) {
    again = true
    return running
  }
  running = fetchPage().catch(() => setState('waiting'))
  await running
  running = undefined
  if (again) {
    again = false
    await refresh()
  }
}

/** What a person is told whose session has ended. */
export const SIGNED_OUT = 'Your session has ended. Sign in again in another tab, and then send this once more: nothing is lost.'

/** Leaves the page, unless somebody is writing on it. */
function leave(go: () => void): void {
  if (root !== null && hasText(root)) announce(SIGNED_OUT)
  else go()
}

async function fetchPage(): Promise<void> {
  let response: Response
  let text: string
  // What was fetched before a card was dropped does not have it there.
  do {
    if (holds > 0) await new Promise<void>((resolve) => held.push(resolve))
    response = await fetch(location.href, { headers: { accept: 'text/html' } })
    text = await response.text()
  } while (holds > 0)
  if (response.redirected && new URL(response.url).pathname !== location.pathname) return leave(() => location.assign(response.url))
  const page = new DOMParser().parseFromString(text, 'text/html')
  const next = page.querySelector('[data-events]')
  if (next === null) return location.reload()
  const focused = idsAround(document.activeElement)
  clearHighlights()
  // Both are written for the same moment: otherwise, each time that was written anew would look like a change.
  const now = Date.now()
  for (const version of [root!, next]) showTimes(version, now)
  keepOpen(root!, next)
  merge(root!, document.adoptNode(next))
  document.title = page.title
  refreshAtExpiry()
  showHighlights()
  if (document.activeElement === document.body) focused.some((id) => focusOn(document.getElementById(id)))
}

/** The ids of an element and of what it is in, as far as that is near: where the focus goes when the element is gone. */
function idsAround(element: Element | null): string[] {
  const ids: string[] = []
  for (let at = element; at !== null && ids.length < 3; at = at.parentElement) if (at.id !== '') ids.push(at.id)
  return ids
}

let expiry: number | undefined

/** A claim that runs out is no change of the board. The page says how long the next one lasts, whatever the clock of the browser says. */
function refreshAtExpiry(): void {
  clearTimeout(expiry)
  const left = root?.dataset['expiry']
  if (left !== undefined) expiry = setTimeout(() => void refresh(), Number(left) + 500)
}

/** How long a change is marked, in milliseconds. */
const HIGHLIGHT = 8000
const highlights = new Map<string, { readonly text: string; readonly until: number }>()

function clearHighlights(): void {
  for (const note of document.querySelectorAll('.by')) note.remove()
  for (const element of document.querySelectorAll('.fresh')) element.classList.remove('fresh')
}

function showHighlights(): void {
  for (const [id, { text, until }] of highlights) {
    const element = document.getElementById(id)
    if (Date.now() > until) highlights.delete(id)
    else if (element !== null) {
      const note = document.createElement('p')
      note.className = 'by'
      note.textContent = text
      element.classList.add('fresh')
      element.append(note)
    }
  }
}

const columnOf = (card: string | null) => (card === null ? undefined : document.getElementById(card)?.closest('.lane')?.id)
/** What a card is called on this page. */
function titleOf(card: string | null): string | undefined {
  const title =
    card === root!.dataset['card']
      ? document.getElementById('card-title')
      : document.getElementById(card ?? '')?.querySelector('.tile-title')
  return title?.textContent ?? undefined
}

async function show(changes: readonly ShownChange[]): Promise<void> {
  const before = new Map(changes.map(({ card }) => [card, { column: columnOf(card), title: titleOf(card) }]))
  await refresh()
  const said = changes
    .filter(({ isOwn }) => !isOwn)
    .map((change) => {
      const { kind, id, card, action } = change
      const { column: from, title } = before.get(card)!
      const isMoved = kind === 'card' && action === 'updated' && from !== undefined && from !== columnOf(card)
      const place = document.getElementById(id) !== null && kind !== 'board' ? id : (card ?? '')
      highlights.set(place, { text: noteOf(change, isMoved), until: Date.now() + HIGHLIGHT })
      return sentenceOf(change, { cardTitle: titleOf(card) ?? title, isMoved })
    })
  clearHighlights()
  showHighlights()
  announce(said.slice(-3).join('. '))
  setTimeout(() => {
    clearHighlights()
    showHighlights()
    if (highlights.size === 0) announce('')
  }, HIGHLIGHT + 50)
}

const STATES = { live: 'Live', waiting: 'Reconnecting' }
function setState(state: keyof typeof STATES): void {
  const sign = document.querySelector<HTMLElement>('[data-live]')
  if (sign === null) return
  sign.hidden = false
  sign.dataset['state'] = state
  sign.querySelector('[data-live-text]')!.textContent = STATES[state]
}

let source: EventSource | undefined
let lastId: string | undefined
let retry = 1000
const waiting: ShownChange[] = []
let timer: number | undefined

function connect(): void {
  const { events, card: ofCard } = root!.dataset
  const url = new URL(events!, location.href)
  if (lastId !== undefined) url.searchParams.set('after', lastId)
  source = new EventSource(url)
  source.addEventListener('open', () => {
    retry = 1000
    setState('live')
  })
  source.addEventListener('change', ({ lastEventId, data }) => {
    lastId = lastEventId
    const change = JSON.parse(data) as ShownChange
    if (ofCard !== undefined && change.card !== ofCard && change.kind !== 'column' && change.kind !== 'label') return
    waiting.push(change)
    clearTimeout(timer)
    timer = setTimeout(() => show(waiting.splice(0)), 60)
  })
  source.addEventListener('error', (event) => {
    if (event instanceof MessageEvent) {
      // The service has ended the stream, and says why: the page then says it too.
      disconnect()
      leave(() => location.reload())
    } else {
      setState('waiting')
      if (source?.readyState === EventSource.CLOSED) connectLater()
    }
  })
}

/** The feed may be too old, or the session over: the page knows. */
function connectLater(): void {
  disconnect()
  setTimeout(async () => {
    lastId = undefined
    await refresh()
    if (document.visibilityState === 'visible') connect()
  }, retry)
  retry = Math.min(retry * 2, 30000)
}

function disconnect(): void {
  source?.close()
  source = undefined
}

/** Connects a page that shows a board or a card. */
export function goLive(): void {
  if (root === null || !('EventSource' in globalThis)) return
  connect()
  refreshAtExpiry()
  // A browser has few connections to one host: hidden windows need none.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') disconnect()
    else if (source === undefined) connect()
  })
  addEventListener('pagehide', disconnect)
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && source === undefined) connect()
  })
}

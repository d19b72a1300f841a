/**
 * Makes a page of boards live. Without it the page works, and is up to date when it is loaded. A board gets the cards and columns that have
 * changed; the page of a card, and a board with many changes, are fetched again and merged into the page.
 */
import type { BoardUpdate, ShownChange } from '../boards/board-update.ts'
import { noteOf, sentenceOf } from '../boards/sentences.ts'
import type { Message } from './board-stream.ts'
import { connectionOf } from './connection.ts'
import { focusOn } from './focus.ts'
import { countQuestions, putFragments } from './fragments.ts'
import { hasText, keepOpen, merge } from './merge.ts'
import { showTimes } from './times.ts'
import { announce } from './toast.ts'

const root = document.querySelector<HTMLElement>('[data-feed]')

let holds = 0
const held: (() => void)[] = []

/**
 * Keeps the page as it is while a person moves something on it.
 * @returns how that ends; it can be called twice
 */
export function hold(): () => void {
  let isOver = false
  holds++
  return () => {
    if (isOver) return
    isOver = true
    if (--holds === 0) for (const go of held.splice(0)) go()
  }
}

async function whenReleased(): Promise<void> {
  while (holds > 0) await new Promise<void>((resolve) => held.push(resolve))
}

/** An update that has come. */
interface Come {
  readonly update: BoardUpdate
  /** whether the page has asked for it: it was made after all that was shown before */
  readonly isAsked: boolean
}

// The work to do: fetch the page, ask for changes, and show the answers. One after another.
let isStale = false
let isBehind = false
const come: Come[] = []
let running: Promise<void> | undefined

/** Fetches the page, and shows what differs. One that is not live is loaded again. */
export async function refresh(): Promise<void> {
  if (root === null) return location.reload()
  isStale = true
  await run()
}

/**
 * Shows what has changed on the board since the page was shown last, such as what the person has done. A page that updates do not tell
 * about is fetched again.
 */
export function catchUp(): Promise<void> {
  const { card, whole } = root?.dataset ?? {}
  return root === null || card !== undefined || whole !== undefined ? refresh() : ask()
}

/** Asks what has changed, and shows what of it this page has. */
function ask(): Promise<void> {
  isBehind = true
  return run()
}

function run(): Promise<void> {
  running ??= work()
    .then(succeed, failLater)
    .finally(() => (running = undefined))
  return running
}

/** How long to wait after a failure, in milliseconds: twice as long after each. */
const [FIRST_WAIT, LAST_WAIT] = [1000, 30_000]
let wait = FIRST_WAIT
let retry: number | undefined

function succeed(): void {
  clearTimeout(retry)
  wait = FIRST_WAIT
  setState(connection)
}

/** Nothing is lost: what was not shown is asked for again, from where the page is. */
function failLater(): void {
  isBehind = true
  setState('waiting')
  clearTimeout(retry)
  retry = setTimeout(() => disconnectNow && void run(), wait)
  wait = Math.min(wait * 2, LAST_WAIT)
}

async function work(): Promise<void> {
  while (isStale || isBehind || come.length > 0) {
    if (isBehind) {
      isBehind = false
      const update = await fetchUpdate()
      if (update !== undefined) come.push({ update, isAsked: true })
    }
    if (holds > 0) {
      // A page made before a card was dropped does not have it there.
      await whenReleased()
      come.length = 0
      isBehind = true
    } else await show(come.splice(0))
  }
}

/** What a person is told whose session has ended, or who has no access any more, while they are writing. */
export const SIGNED_OUT = 'Your session has ended. Sign in again in another tab, and then send this once more: nothing is lost.'
const GONE = 'This does not exist any more, or you have no access to it. What you have written is still here.'

/** Leaves the page, unless somebody is writing on it. */
function leave(said: string, go: () => void): void {
  if (root === null || !hasText(root)) return go()
  disconnect()
  setState('ended')
  announce(said)
}

async function fetchPage(): Promise<void> {
  isStale = false
  let response: Response
  let text: string
  try {
    // A page fetched before a card was dropped does not have it there.
    do {
      await whenReleased()
      response = await fetch(location.href, { headers: { accept: 'text/html' } })
      text = await response.text()
      requireAnswer(response)
    } while (holds > 0)
  } catch (error) {
    isStale = true
    throw error
  }
  if (response.redirected && new URL(response.url).pathname !== location.pathname)
    return leave(SIGNED_OUT, () => location.assign(response.url))
  const page = new DOMParser().parseFromString(text, 'text/html')
  const next = page.querySelector('[data-feed]')
  if (next === null || root === null) return leave(GONE, () => location.reload())
  keepFocus(() => {
    // Both are written for the same moment: otherwise, each time that was written anew would look like a change.
    const now = Date.now()
    for (const version of [root, next]) showTimes(version, now)
    keepOpen(root, next)
    merge(root, document.adoptNode(next))
  })
  document.title = page.title
  after = root.dataset['after']!
  setClock(Number(root.dataset['now']))
}

/** @throws {Error} if the service could not answer now: it is asked again */
function requireAnswer({ status }: Response): void {
  if (status === 429 || status >= 500) throw new Error(`status ${status}`)
}

/** Asks for changes, and for the tiles of cards that the passing time has changed. */
async function fetchUpdate(): Promise<BoardUpdate | undefined> {
  const query = new URLSearchParams(location.search)
  query.set('after', after)
  for (const id of expired()) query.append('card', id)
  const response = await fetch(`${root!.dataset['board']}/changes?${query}`, { headers: { accept: 'application/json' } })
  requireAnswer(response)
  if (response.ok) return (await response.json()) as BoardUpdate
  // Too much was missed, or the page knows what is wrong.
  isStale = true
  return undefined
}

/** Changes the page. Keeps the focus on its element or the nearest ancestor. */
function keepFocus(change: () => void): void {
  const ids: string[] = []
  for (let at = document.activeElement; at !== null && ids.length < 3; at = at.parentElement) if (at.id !== '') ids.push(at.id)
  clearHighlights()
  change()
  showHighlights()
  if (document.activeElement === document.body) ids.some((id) => focusOn(document.getElementById(id)))
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

/** The cursor of the change feed that the page is up to date with, and the number of the last change that was shown. */
let after = root?.dataset['after'] ?? ''
let lastSeq = 0

/** Shows updates, in their order. */
async function show(all: readonly Come[]): Promise<void> {
  // The stream says later what was asked for meanwhile.
  const updates = all.filter(({ isAsked, update: { changes } }) => isAsked || changes.length === 0 || changes.at(-1)!.seq > lastSeq)
  const changes = updates.flatMap(({ update }) => update.changes).filter(({ seq }) => seq > lastSeq)
  const before = new Map(changes.map(({ card }) => [card, { column: columnOf(card), title: titleOf(card) }]))
  const shown = updates.map(({ update }) => update)
  if (needsPage(shown, changes)) await fetchPage()
  else {
    if (root!.dataset['card'] === undefined)
      keepFocus(() => {
        for (const update of shown) if (putFragments(update, Date.now())) isStale = true
      })
    for (const { asking } of shown) countQuestions(asking)
    after = changes.length > 0 || updates.some(({ isAsked }) => isAsked) ? shown.at(-1)!.next : after
    if (shown.length > 0) setClock(shown.at(-1)!.now)
  }
  lastSeq = changes.at(-1)?.seq ?? lastSeq
  if (changes.length > 0) tell(changes, before)
}

/** What the page of a card shows around the card. */
const ON_CARD_PAGES: ReadonlySet<string> = new Set(['board', 'column', 'label'])

/** Whether updates are not enough, so that the page is fetched again. */
function needsPage(updates: readonly BoardUpdate[], changes: readonly ShownChange[]): boolean {
  const { card: ofCard, as, whole, unsampled } = root!.dataset
  if (isStale || updates.some((update) => update.as !== as)) return true
  if (ofCard !== undefined) return changes.some(({ card, kind }) => card === ofCard || ON_CARD_PAGES.has(kind))
  // The actions on cards are known since there is one.
  if (unsampled !== undefined && updates.some(({ tiles }) => Object.values(tiles).some((tile) => tile !== null))) return true
  const isOfColumn = new URLSearchParams(location.search).has('column')
  return (
    updates.some(({ isWhole, lanes }) => isWhole || (isOfColumn && Object.keys(lanes).length > 0)) ||
    (whole !== undefined && changes.length > 0)
  )
}

type Before = ReadonlyMap<string | null, { readonly column: string | undefined; readonly title: string | undefined }>

/** Says who has changed what, and marks it for some time. */
function tell(changes: readonly ShownChange[], before: Before): void {
  const ofCard = root!.dataset['card']
  const said = changes
    .filter(({ isOwn, card, kind }) => !isOwn && (ofCard === undefined || card === ofCard || ON_CARD_PAGES.has(kind)))
    .map((change) => {
      const { kind, id, card, action } = change
      const { column: from, title } = before.get(card)!
      const isMoved = kind === 'card' && action === 'updated' && from !== undefined && from !== columnOf(card)
      const place = document.getElementById(id) !== null && kind !== 'board' ? id : (card ?? '')
      highlights.set(place, { text: noteOf(change, isMoved), until: Date.now() + HIGHLIGHT })
      return sentenceOf(change, { cardTitle: titleOf(card) ?? title, isMoved })
    })
  if (said.length === 0) return
  clearHighlights()
  showHighlights()
  announce(said.slice(-3).join('. '))
  setTimeout(() => {
    clearHighlights()
    showHighlights()
    if (highlights.size === 0) announce('')
  }, HIGHLIGHT + 50)
}

/** How far the clock of the service is ahead of this one, in milliseconds. */
let ahead = 0
let expiry: number | undefined

/** Elements that the passing time changes: a card whose claim expires, or that is tried again then. The page itself is one, too. */
const timed = (selector = '[data-until]') =>
  Array.from(document.querySelectorAll<HTMLElement>(selector), ({ id, dataset }) => [id, Date.parse(dataset['until']!)] as const)

/** The cards on this board whose time has passed: no change says so. */
function expired(): string[] {
  return timed('.tile[data-until]').flatMap(([id, until]) => (until <= Date.now() + ahead ? [id] : []))
}

/** Takes the time of the service, and waits for the next time that changes something. */
function setClock(now: number): void {
  ahead = now - Date.now()
  clearTimeout(expiry)
  const next = Math.min(...timed().map(([, until]) => until))
  if (next !== Infinity) expiry = setTimeout(() => disconnectNow && void catchUp(), Math.max(next - now, 0) + 500)
}

const STATES = { live: 'Live', waiting: 'Reconnecting', ended: 'Not live' }
/** The stream's state, as it was last told. */
let connection: 'live' | 'waiting' = 'waiting'

function setState(state: keyof typeof STATES): void {
  const sign = document.querySelector<HTMLElement>('[data-live]')
  if (sign === null) return
  sign.hidden = false
  sign.dataset['state'] = state
  sign.querySelector('[data-live-text]')!.textContent = STATES[state]
}

function receive(message: Message): void {
  if ('state' in message) {
    connection = message.state
    setState(connection)
    // It may be that the session is over. The page knows.
    if (connection === 'waiting') void catchUp()
  } else if ('isBehind' in message) void ask()
  else if ('ended' in message) end(message.ended)
  else if ('update' in message) {
    // With filters, the page asks for the cards that they show.
    if (isFiltered() && message.update.changes.length > 0) return void ask()
    come.push({ update: message.update, isAsked: false })
    void run()
  }
}

/**
 * The service has ended the stream of the board.
 * @param code of its error
 */
function end(code: string): void {
  disconnect()
  if (code === 'unauthorized') leave(SIGNED_OUT, () => location.reload())
  else if (code === 'not_found' || code === 'forbidden') leave(GONE, () => location.reload())
  else {
    // The page begins anew where the feed is now.
    setState('waiting')
    void refresh()
    setTimeout(connect, code === 'cursor_expired' ? FIRST_WAIT : LAST_WAIT)
  }
}

const FILTERS = ['q', 'label', 'assignee', 'due', 'state', 'work']

function isFiltered(): boolean {
  const query = new URLSearchParams(location.search)
  return root!.dataset['card'] === undefined && FILTERS.some((name) => (query.get(name) ?? '') !== '')
}

let disconnectNow: (() => void) | undefined

/** A tab in the background asks for nothing until somebody looks at it. */
function connect(): void {
  if (disconnectNow !== undefined || document.visibilityState === 'hidden') return
  disconnectNow = watch!(after, receive, () => void ask())
  if (timed().some(([, until]) => until <= Date.now() + ahead)) void catchUp()
}

function disconnect(): void {
  disconnectNow?.()
  disconnectNow = undefined
}

let watch: ReturnType<typeof connectionOf> | undefined

/** Connects a page that shows a board or a card. */
export function goLive(): void {
  if (root === null || !('EventSource' in globalThis)) return
  const { base, feed, worker, person } = root.dataset
  watch = connectionOf({ base: new URL(base!, location.href).href, board: feed! }, worker!, `${base} ${person}`)
  setClock(Number(root.dataset['now']))
  connect()
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') disconnect()
    else connect()
  })
  addEventListener('pagehide', disconnect)
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) connect()
  })
}

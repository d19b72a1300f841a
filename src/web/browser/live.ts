/**
 * Makes the pages of boards live. Without it a page works, and is up to date when it is loaded. A board gets the cards and columns that have
 * changed; the page of a card, and a board with many changes, are fetched again and merged into the page. A card can be shown over its
 * board: both are live then.
 */
import type { BoardUpdate, ShownChange } from '../boards/board-update.ts'
import type { Message } from './board-stream.ts'
import { connectionOf, type Watch } from './connection.ts'
import { showEditors } from './editors.ts'
import { Expiries } from './expiries.ts'
import { keepFocus } from './focus.ts'
import { countQuestions, putFragments } from './fragments.ts'
import { findDeletion, showGone } from './gone.ts'
import { isWriting } from './drafts.ts'
import { showSign, type LiveState } from './live-sign.ts'
import { merge } from './merge.ts'
import { showTitle, takeCount, titleOf } from './notices.ts'
import { request, requestPage } from './page-requests.ts'
import { isFiltered, needsPage } from './page-needs.ts'
import { isPaused, whenResumed } from './pauses.ts'
import { showTimes } from './times.ts'
import { say, warn } from './toast.ts'
import { prepareAnnouncement, withoutMarks } from './announced-changes.ts'

/** An update that the page does not show yet. */
interface ReceivedUpdate extends BoardUpdate {
  /** whether the page has requested it: it was made after all that was shown before */
  readonly isRequested: boolean
}

/** How long to wait after a failure, in milliseconds: twice as long after each. */
const [FIRST_WAIT, LAST_WAIT] = [1000, 30_000]

/** What a person is told whose session has ended, or who has no access any more, while they are writing. */
export const SIGNED_OUT = 'Your session has ended. Sign in again in another tab, and then send this once more: nothing is lost.'
/** What a person is told in whose browser somebody else has signed in while they are writing. */
const NOT_YOURS = 'Somebody else has signed in here. What you have written is still here: copy it before you open the page again.'

export class LivePage {
  readonly #root: HTMLElement
  readonly #expiries: Expiries
  readonly #watch: Watch
  readonly #listening = new AbortController()
  /** The address of the page, with its filters. The window has the address of the page on top. */
  address: string
  /** What the window is called while the page is on top. */
  title: string
  /** Whether nothing covers it. */
  isOnTop = true
  /** Ends the connection; undefined: there is none. */
  #disconnect: (() => void) | undefined
  #streamState: LiveState = 'waiting'
  /** Work that one run after another does: request changes, show updates, fetch the page. */
  readonly #pending = { changes: false, updates: [] as ReceivedUpdate[], page: false }
  #running: Promise<void> | undefined
  readonly #retry = { wait: FIRST_WAIT, timer: undefined as number | undefined }
  /** The cursor of the change feed that the page is up to date with, and the number of the last change that was shown. */
  readonly #shown: { cursor: string; seq: number }

  constructor(root: HTMLElement, address: string, title: string) {
    const { base, feed, worker, person, after, now } = root.dataset
    this.#root = root
    this.address = address
    this.title = title
    this.#expiries = new Expiries(root, () => this.#disconnect && void this.catchUp())
    this.#watch = connectionOf({ base: new URL(base!, location.href).href, board: feed! }, worker!, `${base} ${person}`)
    this.#shown = { cursor: after!, seq: 0 }
    this.#expiries.schedule(Number(now))
  }

  get #isOver(): boolean {
    return this.#listening.signal.aborted
  }

  /** Fetches the page, and shows what differs. */
  refresh(): Promise<void> {
    this.#pending.page = true
    return this.#run()
  }

  /** Shows what has changed since the page was last updated. Fetches the page if updates are not enough for it. */
  catchUp(): Promise<void> {
    const { card, whole } = this.#root.dataset
    return card === undefined && whole === undefined ? this.#requestChanges() : this.refresh()
  }

  #requestChanges(): Promise<void> {
    this.#pending.changes = true
    return this.#run()
  }

  #run(): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    this.#running ??= this.#processPending()
      .then(
        () => this.#succeed(),
        () => this.#fail(),
      )
      .finally(() => (this.#running = undefined))
    return this.#running
  }

  async #processPending(): Promise<void> {
    const pending = this.#pending
    while (!this.#isOver && (pending.page || pending.changes || pending.updates.length > 0)) {
      if (pending.changes) await this.#fetchUpdate()
      if (isPaused()) {
        // An update that was made before the drop has the card in its old place.
        await whenResumed()
        pending.updates.length = 0
        pending.changes = true
      } else await this.#show(pending.updates.splice(0))
    }
  }

  #succeed(): void {
    clearTimeout(this.#retry.timer)
    this.#retry.wait = FIRST_WAIT
    showSign(this.#root, this.#streamState)
  }

  /** Requests later what was not shown, starting from the cursor of the page: nothing is lost. */
  #fail(): void {
    const { timer, wait } = this.#retry
    this.#pending.changes = true
    showSign(this.#root, 'waiting')
    clearTimeout(timer)
    this.#retry.timer = setTimeout(() => this.#disconnect && void this.#run(), wait)
    this.#retry.wait = Math.min(wait * 2, LAST_WAIT)
  }

  /** Requests changes, and the tiles of cards that the passing time has changed. */
  async #fetchUpdate(): Promise<void> {
    this.#pending.changes = false
    const query = new URL(this.address).searchParams
    query.set('after', this.#shown.cursor)
    for (const id of this.#expiries.expired('.tile')) query.append('card', id)
    const response = await request(`${this.#root.dataset['board']}/changes?${query}`, 'application/json')
    if (response.ok) this.#pending.updates.push({ ...((await response.json()) as BoardUpdate), isRequested: true })
    // The page has missed too much, or fetching it says what is wrong.
    else this.#pending.page = true
  }

  /** Shows updates, in their order. */
  async #show(received: readonly ReceivedUpdate[]): Promise<void> {
    const { seq } = this.#shown
    // The stream repeats what was requested meanwhile.
    const updates = received.filter(({ isRequested, changes }) => isRequested || changes.length === 0 || changes.at(-1)!.seq > seq)
    const changes = updates.flatMap((update) => update.changes).filter((change) => change.seq > seq)
    const announceChanges = this.isOnTop ? prepareAnnouncement(changes, this.#root.dataset) : undefined
    if (this.#pending.page || needsPage(this.#root.dataset, this.address, { updates, changes })) await this.#fetchPage()
    else this.#putUpdates(updates, changes)
    this.#shown.seq = changes.at(-1)?.seq ?? seq
    announceChanges?.()
  }

  #putUpdates(updates: readonly ReceivedUpdate[], changes: readonly ShownChange[]): void {
    const last = updates.at(-1)
    if (last === undefined) return
    if (this.#root.dataset['card'] === undefined)
      changePage(() => {
        for (const update of updates) if (putFragments(update, Date.now())) this.#pending.page = true
      })
    for (const { asking } of updates) countQuestions(asking)
    if (changes.length > 0 || updates.some(({ isRequested }) => isRequested)) this.#shown.cursor = last.next
    this.#expiries.schedule(last.now)
  }

  async #fetchPage(): Promise<void> {
    this.#pending.page = false
    const [{ url, redirected, status }, text] = await requestPage(this.address).catch((error: Error) => {
      this.#pending.page = true
      throw error
    })
    if (redirected && new URL(url).pathname !== new URL(this.address).pathname) return this.#leave(SIGNED_OUT, () => location.assign(url))
    const page = new DOMParser().parseFromString(text, 'text/html')
    const next = page.querySelector('[data-feed]')
    if (status === 404 || status === 403) return this.#endGone(await findDeletion(this.#root.dataset, this.#shown.cursor))
    if (next === null) return location.reload()
    const root = this.#root
    if ((next as HTMLElement).dataset['person'] !== root.dataset['person']) return this.#leave(NOT_YOURS, () => location.reload())
    changePage(() => {
      // Both show times relative to the same moment, so that only what has changed differs.
      const now = Date.now()
      for (const version of [root, next]) showTimes(version, now)
      merge(root, document.adoptNode(next))
    })
    takeCount(page)
    this.title = titleOf(page)
    if (this.isOnTop) showTitle(this.title)
    this.#shown.cursor = root.dataset['after']!
    this.#expiries.schedule(Number(root.dataset['now']))
    if (this.#streamState !== 'ended') return
    // The person has signed in again.
    say('')
    this.#streamState = 'waiting'
    this.#connect()
  }

  /** Leaves the page, unless somebody is writing on it. */
  #leave(said: string, go: () => void): void {
    if (!isWriting()) return go()
    this.#close()
    this.#streamState = 'ended'
    showSign(this.#root, 'ended')
    warn(said)
  }

  /** What the page shows was deleted, or its person has no access to it any more. */
  #endGone(deletion?: ShownChange): void {
    if (this.#isOver) return
    this.end()
    showGone(this.#root, deletion)
  }

  #receive(message: Message): void {
    const { editors } = 'update' in message ? message.update : 'editors' in message ? message : {}
    if (editors !== undefined) showEditors(editors)
    if ('update' in message && this.#expiries.end(message.update.ended)) void this.catchUp()
    if ('state' in message) {
      this.#streamState = message.state
      showSign(this.#root, message.state)
      // The session may have ended: the answer to a request says so.
      if (message.state === 'waiting') void this.catchUp()
    } else if ('ended' in message) this.#endStream(message.ended)
    // With filters, the page requests the cards that they show.
    else if (
      'isBehind' in message ||
      ('update' in message && message.update.changes.length > 0 && isFiltered(this.#root.dataset, this.address))
    )
      void this.#requestChanges()
    else if ('update' in message) {
      this.#pending.updates.push({ ...message.update, isRequested: false })
      void this.#run()
    }
  }

  /**
   * The service has ended the stream of the board.
   * @param code of its error
   */
  #endStream(code: string): void {
    this.#close()
    if (code === 'unauthorized') return this.#leave(SIGNED_OUT, () => location.reload())
    if (code === 'not_found' || code === 'forbidden') return this.#endGone()
    // Fetching the page moves its cursor to the end of the feed.
    showSign(this.#root, 'waiting')
    void this.refresh()
    setTimeout(() => this.#connect(), code === 'cursor_expired' ? FIRST_WAIT : LAST_WAIT)
  }

  /** Connects the page while it is visible: a tab in the background asks for nothing until somebody looks at it. */
  start(): void {
    const { signal } = this.#listening
    this.#connect()
    const follow = () => (document.visibilityState === 'hidden' ? this.#pause() : this.#connect())
    document.addEventListener('visibilitychange', follow, { signal })
    addEventListener('pagehide', () => this.#close(), { signal })
    addEventListener('pageshow', ({ persisted }) => persisted && this.#connect(), { signal })
  }

  /** Ends it: the page is not shown any more. */
  end(): void {
    this.#listening.abort()
    this.#close()
  }

  #connect(): void {
    if (this.#disconnect !== undefined || document.visibilityState === 'hidden') return
    // The page says whether there is a session again, and whose.
    if (this.#streamState === 'ended') return void this.refresh()
    this.#disconnect = this.#watch(this.#shown.cursor, (message) => this.#receive(message))
    if (this.#expiries.expired().length > 0) void this.catchUp()
  }

  /** Nobody looks at it, and the session may end meanwhile. */
  #pause(): void {
    this.#close()
    if (this.#streamState === 'live') showSign(this.#root, (this.#streamState = 'waiting'))
  }

  #close(): void {
    this.#disconnect?.()
    this.#disconnect = undefined
  }
}

/** Changes the page, and keeps the focus and the marks of changes. */
const changePage = (change: () => void) => keepFocus(() => withoutMarks(change))

/**
 * Opens a card over its board: the board, its scrolling and its filters stay. The window has the address of the card meanwhile, which
 * leads to its whole page when it is loaded.
 */
import { createElement } from './create-element.ts'
import { drafts } from './drafts.ts'
import { focusOn } from './focus.ts'
import { forgetKeys } from './form-keys.ts'
import { isTyping } from './keys.ts'
import { hidePage, loadedPage, showPage } from './live-pages.ts'
import type { LivePage } from './live.ts'
import { hasText } from './merge.ts'
import { markShown, showTitle, titleOf } from './notices.ts'
import { showTimes } from './times.ts'
import { carryWarning, say } from './toast.ts'

const UNREAD = 'This card could not be opened. Check the connection, and try again.'
const card = /\/cards\/(crd_\w+)$/

/** What is in the panel. */
interface Opened {
  readonly id: string
  readonly address: string
  readonly root: HTMLElement
  readonly page: LivePage
}

class CardPanel {
  readonly #dialog: HTMLDialogElement
  readonly #board: HTMLElement
  #opened: Opened | undefined
  /** The address that is wanted last: what is fetched for another one comes too late. */
  #wanted: string | undefined

  constructor(board: HTMLElement) {
    this.#board = board
    const close = createElement('button', { type: 'button', className: 'close', title: 'Close (Esc)', onclick: () => this.leave() }, '✕')
    close.ariaLabel = 'Close'
    this.#dialog = createElement('dialog', { className: 'card-panel', tabIndex: -1 }, close)
    this.#dialog.setAttribute('aria-labelledby', 'card-title')
    board.after(this.#dialog)
  }

  get isOpen(): boolean {
    return this.#dialog.open
  }

  /** Opens a card by its address, as a step of the history. */
  async open(address: string): Promise<void> {
    const before = location.href
    if (!(await this.#show(address)) || location.href !== before) return
    history.pushState({ over: ((history.state as { over?: number } | null)?.over ?? 0) + 1 }, '', address)
  }

  /** Goes back to the board, whatever was opened over it. */
  leave(): void {
    history.go(-((history.state as { over?: number } | null)?.over ?? 1))
  }

  /** Shows what the window has the address of. */
  async follow(): Promise<void> {
    if (!card.test(location.pathname)) this.#close()
    else if (!(await this.#show(location.href))) location.reload()
  }

  /** @returns whether the card is shown */
  async #show(address: string): Promise<boolean> {
    if (address === this.#opened?.address) return true
    this.#wanted = address
    this.#board.ariaBusy = 'true'
    const fetched = await fetchCard(address).finally(() => (this.#board.ariaBusy = null))
    if (this.#wanted !== address || fetched === undefined) return false
    this.#put(address, ...fetched)
    return true
  }

  #put(address: string, root: HTMLElement, title: string): void {
    const id = root.dataset['card']!
    this.#empty()
    const draft = drafts.get(id)
    drafts.delete(id)
    const shown = draft ?? root
    showTimes(shown, Date.now())
    forgetKeys(shown)
    this.#dialog.append(shown)
    if (!this.#dialog.open) this.#dialog.showModal()
    carryWarning()
    this.#dialog.focus()
    const { hash } = new URL(address)
    if (hash === '') this.#dialog.scrollTop = 0
    else document.getElementById(hash.slice(1))?.scrollIntoView()
    const page = showPage(shown, address, title)
    showTitle(title)
    this.#opened = { id, address, root: shown, page }
    if (draft !== undefined) void page.refresh()
    markShown().catch(() => undefined)
  }

  #empty(): void {
    if (this.#opened === undefined) return
    const { id, root, page } = this.#opened
    this.#opened = undefined
    hidePage(page)
    root.remove()
    if (hasText(root)) drafts.set(id, root)
  }

  #close(): void {
    const id = this.#opened?.id
    this.#wanted = undefined
    this.#empty()
    this.#dialog.close()
    carryWarning()
    showTitle(loadedPage!.title)
    // A tile that was moved or replaced meanwhile does not get the focus back by itself.
    if (document.activeElement === document.body || document.activeElement === this.#dialog) focusOn(document.getElementById(id ?? ''))
  }
}

/** @returns the root of the page of a card, and its title; undefined: the window goes to its address in place of that */
async function fetchCard(address: string): Promise<readonly [HTMLElement, string] | undefined> {
  try {
    const response = await fetch(address, { headers: { accept: 'text/html' } })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const root = page.querySelector<HTMLElement>('[data-feed][data-card]')
    if (root !== null) return [document.adoptNode(root), titleOf(page)]
    location.assign(address)
  } catch {
    say(UNREAD)
  }
  return undefined
}

/** Whether an address is a place on the page that is shown. */
export const isHere = ({ hash, pathname, search }: URL) => hash !== '' && pathname === location.pathname && search === location.search

/** The address that a click leads to in this window. */
export function addressOf({ target, button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): URL | undefined {
  const link = (target as Element).closest<HTMLAnchorElement>('a[href]')
  if (link === null || button !== 0 || metaKey || ctrlKey || shiftKey || altKey || link.target !== '' || link.hasAttribute('download'))
    return undefined
  return new URL(link.href)
}

/** Opens the cards of a board over it, and takes them away with Escape, by a click beside them, and by going back. */
export function useCardPanel(board: HTMLElement): void {
  const panel = new CardPanel(board)
  const { pathname } = new URL(board.dataset['board']!, location.href)
  const cards = new URL(`${board.dataset['base']!}/cards/`, location.href).pathname
  // Whoever selects text ends the click elsewhere.
  let pressed: EventTarget | null = null
  addEventListener('pointerdown', ({ target }) => (pressed = target))
  addEventListener('click', (event) => {
    const isBeside = event.target === pressed && (event.target as Element).matches('dialog.card-panel')
    const url = event.defaultPrevented ? undefined : addressOf(event)
    if (url?.origin === location.origin && url.pathname.startsWith(cards) && !isHere(url)) {
      event.preventDefault()
      void panel.open(url.href)
    } else if (panel.isOpen && (isBeside || url?.pathname === pathname)) {
      event.preventDefault()
      panel.leave()
    }
  })
  addEventListener('popstate', () => void panel.follow())
  addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented || !panel.isOpen) return
    event.preventDefault()
    if (isTyping(event.target)) (event.target as HTMLElement).blur()
    else panel.leave()
  })
}

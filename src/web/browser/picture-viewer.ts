/**
 * Shows the pictures of a card over the page, one at a time, each from its original. Without it, they are links to their files. The picture
 * is a step of the history: going back leaves it, and not the card below.
 */
import { createElement } from './create-element.ts'
import { keepPreview } from './previews.ts'
import { asksForSearch } from './search-everywhere.ts'

const LINKS = 'a[data-picture]'
const FAILED = 'This picture cannot be shown here. Its name leads to the file.'

class PictureViewer {
  readonly #image = createElement('img', { decoding: 'async' })
  readonly #name = createElement('a', { dir: 'auto' })
  readonly #place = createElement('span', { className: 'hint' })
  readonly #said = createElement('p', { className: 'hint' })
  readonly #dialog: HTMLDialogElement
  readonly #steps: readonly HTMLButtonElement[]
  #links: readonly HTMLAnchorElement[] = []
  #at = 0
  /** Of the step of the history that is the picture. A page that was loaded again has the step without it. */
  #opened = 0

  constructor() {
    const button = (ariaLabel: string, sign: string, onclick: () => void) =>
      createElement('button', { type: 'button', ariaLabel, title: ariaLabel, onclick }, sign)
    this.#steps = [button('Previous picture', '←', () => this.#step(-1)), button('Next picture', '→', () => this.#step(1))]
    this.#said.role = 'status'
    const close = button('Close', '✕', () => this.#close())
    const head = createElement('p', { className: 'line' }, this.#name, ' ', this.#place, ...this.#steps, close)
    this.#dialog = createElement(
      'dialog',
      { className: 'pictures', tabIndex: -1, ariaLabel: 'Pictures of the card' },
      head,
      this.#image,
      this.#said,
    )
    document.body.append(this.#dialog)
    this.#image.addEventListener('error', () => this.#say(this.#image.hasAttribute('src') ? FAILED : ''))
    this.#image.addEventListener('load', () => this.#loaded())
    this.#dialog.addEventListener('click', ({ target }) => target === this.#dialog && this.#close())
    this.#dialog.addEventListener('close', () => {
      this.#image.removeAttribute('src')
      // The person may have gone on already.
      if (document.activeElement !== document.body && document.activeElement?.matches('dialog') === false) return
      // The page may have been shown anew since.
      document
        .getElementById(this.#links[this.#at]?.closest('li')?.id ?? '')
        ?.querySelector('a')
        ?.focus()
    })
    // First, and wherever the focus is: a button that is switched off loses it. A card below would be left with Escape.
    addEventListener('keydown', (event) => this.#dialog.open && this.#press(event), true)
    addEventListener('popstate', () => this.#dialog.open && pictureOf(history.state) !== this.#opened && this.#dialog.close())
  }

  open(link: HTMLAnchorElement): void {
    this.#links = Array.from(link.closest('.attachments')!.querySelectorAll<HTMLAnchorElement>(LINKS))
    this.#at = this.#links.indexOf(link)
    this.#show()
    this.#dialog.showModal()
    this.#dialog.focus()
    this.#opened = Date.now()
    history.pushState({ ...history.state, picture: this.#opened }, '')
  }

  #close(): void {
    this.#dialog.close()
    if (pictureOf(history.state) === this.#opened) history.back()
  }

  #press(event: KeyboardEvent): void {
    // The search is about the page below.
    if (asksForSearch(event)) return this.#close()
    // Alt and an arrow go back.
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
    if (event.key === 'ArrowLeft') this.#step(-1)
    else if (event.key === 'ArrowRight') this.#step(1)
    else if (event.key === 'Escape') this.#close()
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  #step(by: number): void {
    const to = this.#at + by
    if (this.#links[to] === undefined) return
    this.#at = to
    this.#show()
  }

  #show(): void {
    const { href, download } = this.#links[this.#at]!
    this.#say('One moment …')
    this.#image.classList.remove('broken')
    this.#image.alt = download
    this.#image.src = `${href}/picture`
    Object.assign(this.#name, { href, download, textContent: download })
    const count = this.#links.length
    this.#place.textContent = count === 1 ? '' : `${this.#at + 1} of ${count}`
    for (const [i, step] of this.#steps.entries()) {
      step.hidden = count === 1
      step.disabled = this.#links[this.#at + (i === 0 ? -1 : 1)] === undefined
    }
  }

  #say(text: string): void {
    this.#said.textContent = text
  }

  /** Somebody else's browser, or a program, may have attached it without a preview. */
  #loaded(): void {
    this.#say('')
    const link = this.#links[this.#at]!
    if (link.dataset['picture'] === 'own') void addPreview(link.href)
  }
}

/** What a step of the history says: which picture it is. */
const pictureOf = (state: { readonly picture?: number } | null) => state?.picture

async function addPreview(address: string): Promise<void> {
  const present = await fetch(`${address}/preview`, { method: 'HEAD' }).catch(() => undefined)
  if (present?.headers.get('content-type') !== 'image/svg+xml') return
  const original = await fetch(`${address}/picture`).catch(() => undefined)
  if (original?.ok === true) await keepPreview(address, await original.blob())
}

export function showPictures(): void {
  let viewer: PictureViewer | undefined
  addEventListener('click', (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>(LINKS)
    if (link === null || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    viewer ??= new PictureViewer()
    viewer.open(link)
  })
}

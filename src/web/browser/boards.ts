/** The script of the pages of boards: live changes, filters that apply at once, and keys. */
import { addressOf, isHere, useCardPanel } from './card-panel.ts'
import { dragTiles } from './card-drag.ts'
import { useTileKeys } from './card-keys.ts'
import { showTileMenus } from './card-menu.ts'
import { attachDroppedFiles } from './dropped-files.ts'
import { tellEditing } from './editors.ts'
import { keepImportedFile } from './import-file.ts'
import { focusOn, step } from './focus.ts'
import { useFormKeys } from './form-keys.ts'
import { commandOf, hasSingleKeys, isTyping, keepSingleKeys } from './keys.ts'
import { loadedPage, refresh } from './live-pages.ts'
import { offerNames } from './mentions.ts'
import { hasText } from './merge.ts'
import { loadMoreCards } from './more-cards.ts'
import { countNotices } from './notices.ts'
import { keepWaitingChanges } from './outbox.ts'
import { offerPastedLines } from './pasted-lines.ts'
import { keepRefreshed } from './refreshed-page.ts'
import { searchEverywhere } from './search-everywhere.ts'
import { showPictures } from './picture-viewer.ts'
import { sendForms } from './send.ts'
import { say } from './toast.ts'
import { askForBlockers } from './tile-questions.ts'

countNotices()
keepRefreshed()
searchEverywhere()
offerNames()
useFormKeys()
sendForms()
offerPastedLines()
attachDroppedFiles()
keepImportedFile()
askForBlockers()
tellEditing()
showPictures()
keepWaitingChanges()
const board = document.querySelector<HTMLElement>('[data-may]')
if (board !== null) {
  for (const use of [dragTiles, useTileKeys, showTileMenus, useCardPanel, loadMoreCards]) use(board)
} else {
  // Going back from a card that was opened over its board and loaded again leads to another page in the same window.
  const { pathname } = location
  addEventListener('popstate', () => location.pathname !== pathname && location.reload())
}

const form = document.querySelector<HTMLFormElement>('[data-filters]')
if (form !== null) {
  form.querySelector<HTMLElement>('[data-apply]')!.hidden = true
  const apply = () => {
    const query = new URLSearchParams(
      [...new FormData(form)].flatMap(([name, value]) => (String(value).trim() === '' ? [] : [[name, String(value)]])),
    )
    const active = new Set(query.keys()).size - Number(query.has('q'))
    form.querySelector('[data-active]')!.textContent = active === 0 ? '' : `${active} active`
    history.replaceState(null, '', form.action.split('?')[0] + (query.size === 0 ? '' : `?${query}`))
    loadedPage!.address = location.href
    void refresh()
  }
  let typing: number | undefined
  form.addEventListener('change', apply)
  form.addEventListener('input', ({ target }) => {
    if ((target as HTMLInputElement).type !== 'search') return
    clearTimeout(typing)
    typing = setTimeout(apply, 250)
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    apply()
  })
}

// A file that claims to be an image and is not.
addEventListener('error', ({ target }) => target instanceof HTMLImageElement && target.classList.add('broken'), true)

for (const element of document.querySelectorAll<HTMLElement>('[data-needs-script]')) element.hidden = false
const find = document.querySelector<HTMLInputElement>('[data-find-board]')
find?.addEventListener('input', () => {
  const text = find.value.trim().toLowerCase()
  for (const item of document.querySelectorAll<HTMLElement>('.boards > li')) item.hidden = !item.textContent.toLowerCase().includes(text)
})

/** A person who opens an editor, or the form for one more, writes next. */
addEventListener('click', ({ target }) => {
  const opened = (target as Element).closest('summary')?.closest('details:not([open]):is(.edit, [data-add])')
  if (!opened) return
  // When it is open.
  setTimeout(() => {
    opened.querySelector<HTMLElement>('textarea, input:not([type=hidden]), select')?.focus()
    opened.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  })
})

// After the panel, which opens cards by itself. The browser would show a page of its own in place of this one.
addEventListener('click', (event) => {
  const url = navigator.onLine || event.defaultPrevented || loadedPage === undefined ? undefined : addressOf(event)
  if (url?.origin !== location.origin || isHere(url)) return
  event.preventDefault()
  say('You are offline. Open this again when the connection is back.')
})

addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  const { form } = event.target as HTMLTextAreaElement
  if ((event.target as Element).matches('textarea') && form?.dataset['send'] !== undefined) form.requestSubmit()
})

/** Opens what a field is hidden in. In a narrow window, the search is there with the filters. */
function openAround(field: HTMLInputElement): void {
  const details = field.closest('details') ?? (field.checkVisibility() ? null : field.form!.querySelector('details'))
  if (details !== null) details.open = true
}

const showKeys = () => {
  document.querySelector<HTMLInputElement>('[data-single-keys]')!.checked = hasSingleKeys()
  document.querySelector<HTMLDialogElement>('[data-keys]')!.showModal()
}
addEventListener('change', ({ target }) => {
  if (target instanceof HTMLInputElement && target.matches('[data-single-keys]')) keepSingleKeys(target.checked)
})
addEventListener('click', ({ target }) => (target as Element).closest('[data-show-keys]') && showKeys())

addEventListener('keydown', (event) => {
  if (event.defaultPrevented) return
  const key = commandOf(event)
  const target = event.target as HTMLElement
  if (event.key === 'Escape' && isTyping(target)) target.blur()
  else if (key === undefined) return
  else if (key === 'Escape') {
    const { card, board } = document.querySelector<HTMLElement>('[data-feed]')?.dataset ?? {}
    if (card !== undefined && ![...document.querySelectorAll('[data-draft]')].some(hasText)) location.assign(board!)
  } else if (key === '/') {
    const search = document.querySelector<HTMLInputElement>('[data-search]')
    if (search === null) return
    event.preventDefault()
    openAround(search)
    search.focus()
    search.select()
  } else if (key === '?') {
    if (document.querySelector('[data-keys]') !== null) showKeys()
  } else if (key === 'c') {
    const lane = document.activeElement?.closest('.lane') ?? document.querySelector('.lane')
    const title = lane?.querySelector<HTMLInputElement>(':scope > [data-add] input:not([type=hidden])')
    if (!title) return
    event.preventDefault()
    openAround(title)
    focusOn(title)
  } else if (key.startsWith('Arrow') && document.querySelector('.tile') !== null && !document.activeElement?.closest('details')) {
    if (step(key)) event.preventDefault()
  }
})

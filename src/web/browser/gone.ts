/** What stands in place of a page when its board or card is gone: who deleted it, and what its person had written. */
import type { BoardUpdate, ShownChange } from '../boards/board-update.ts'
import { createElement } from './create-element.ts'
import { drafts } from './drafts.ts'
import { unsentTexts } from './merge.ts'
import { request } from './page-requests.ts'
import { showTimes } from './times.ts'

/** Parts of the feed that are searched for the deletion, 100 changes each: a tab can have been in the background for days. */
const PARTS = 10

/**
 * Finds who deleted the card of a page, as the feed of its board tells.
 * @param after the cursor that the page is up to date with
 * @returns undefined if the person may not read the board any more, or if the deletion is not in the feed
 */
export async function findDeletion({ card, board }: DOMStringMap, after: string): Promise<ShownChange | undefined> {
  if (card === undefined) return undefined
  for (let part = 0, next = after; part < PARTS; part++) {
    const response = await request(`${board}/changes?after=${encodeURIComponent(next)}`, 'application/json')
    if (!response.ok) return undefined
    const update = (await response.json()) as BoardUpdate
    const deletion = update.changes.find(({ kind, id, action }) => kind === 'card' && id === card && action === 'deleted')
    if (deletion !== undefined || update.changes.length === 0) return deletion
    next = update.next
  }
  return undefined
}

/**
 * Shows in place of a page that it is gone.
 * @param deletion undefined: nothing is said about who or what made it so
 */
export function showGone(root: HTMLElement, deletion: ShownChange | undefined): void {
  const { base, board, card } = root.dataset
  const what = card === undefined ? 'board' : 'card'
  const hadFocus = root.contains(document.activeElement)
  const title = deletion && root.querySelector('#card-title')?.textContent
  // A card belongs to its board, whether it was closed half-written or is open over it.
  const closed = card === undefined ? [...drafts.values(), ...document.querySelectorAll('dialog.card-panel')] : []
  const texts = [root, ...closed].flatMap(unsentTexts)
  const message = createElement('p', { className: 'message warning' }, ...sentenceOf(deletion, what))
  const heading = createElement('h1', { id: 'card-title', dir: 'auto' }, title ?? `This ${what} is gone`)
  const [place, name] = deletion ? [board!, 'Back to the board'] : [base!.replace(/\/[^/]+$/, ''), 'Your boards']
  const back = createElement('a', { className: 'button', href: place }, name)
  const note = createElement('section', { className: 'gone', tabIndex: -1 }, heading, message, ...keptTexts(texts))
  note.append(createElement('p', { className: 'actions' }, ...(texts.length > 0 ? [copyButton(texts, note)] : []), back))
  showTimes(note, Date.now())
  if (card === undefined) drafts.clear()
  root.replaceChildren(note)
  // Screen readers announce what is new in an alert, and nothing that was one from the start.
  message.setAttribute('role', 'alert')
  if (hadFocus) note.focus()
}

function sentenceOf(deletion: ShownChange | undefined, what: string): (string | Node)[] {
  if (deletion === undefined) return [`This ${what} cannot be read any more: it was deleted, or you have no access to it.`]
  const time = createElement('time', { dateTime: deletion.at })
  time.dataset['exact'] = ''
  return [createElement('bdi', {}, deletion.isOwn ? 'You' : deletion.by), ` deleted this ${what} at `, time, '.']
}

function keptTexts(texts: readonly string[]): HTMLElement[] {
  if (texts.length === 0) return []
  const shown = texts.map((text) => {
    const field = createElement('textarea', { readOnly: true, dir: 'auto', rows: Math.min(8, text.split('\n').length + 1) }, text)
    field.ariaLabel = 'What you wrote'
    // It is lost with the page until it is copied.
    field.defaultValue = ''
    field.value = text
    return field
  })
  return [createElement('p', {}, 'What you wrote was not sent. It is still here:'), ...shown]
}

/** @param note that has them */
function copyButton(texts: readonly string[], note: HTMLElement): HTMLElement {
  const said = createElement('span', { role: 'status', className: 'hint' })
  const onclick = async () => {
    try {
      // Browsers have a clipboard on secure origins only.
      await navigator.clipboard.writeText(texts.join('\n\n'))
      said.textContent = 'Copied.'
      for (const field of note.querySelectorAll('textarea')) field.defaultValue = field.value
    } catch {
      said.textContent = 'Copying failed. Select the text and copy it yourself.'
    }
  }
  const button = createElement('button', { type: 'button', className: 'primary', onclick: () => void onclick() }, 'Copy my text')
  return createElement('span', {}, button, ' ', said)
}

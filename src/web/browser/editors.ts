/** Says at the editors of a card who else is editing the same, and tells the others what its person edits. */
import type { Editor } from '../boards/board-update.ts'
import { createElement } from './create-element.ts'
import { hasText } from './merge.ts'

/** How often the others are told, in milliseconds. */
const INTERVAL = 15_000
const EDITORS = '[data-card] :is(#edit-title, #edit-description)'

let known: readonly Editor[] = []
/** When the others were told last of an editor. */
const told = new Map<string, number>()

const partOf = ({ id }: Element) => id.replace('edit-', '')
const pageOf = (editor: Element) => editor.closest<HTMLElement>('[data-card]')!

/** @param editors on the whole board */
export function showEditors(editors: readonly Editor[]): void {
  known = editors
  for (const editor of document.querySelectorAll(EDITORS)) show(editor)
}

function show(editor: Element): void {
  const { card } = pageOf(editor).dataset
  const names = [...new Set(known.filter((one) => one.card === card && one.part === partOf(editor)).map(({ name }) => name))]
  const note = editor.querySelector('.editors') ?? createElement('p', { className: 'hint editors', role: 'status', dir: 'auto' })
  const said = sentenceOf(names)
  if (note.textContent !== said) note.textContent = said
  if (!note.isConnected) editor.querySelector('summary')!.after(note)
}

function sentenceOf([first, second, ...others]: readonly string[]): string {
  if (first === undefined) return ''
  if (second === undefined) return `${first} is editing this, too.`
  return others.length === 0
    ? `${first} and ${second} are editing this, too.`
    : `${first} and ${others.length + 1} others are editing this, too.`
}

function tell(editor: Element, more: Readonly<Record<string, string>> = {}): void {
  const { base, card, token } = pageOf(editor).dataset
  const body = new URLSearchParams({ part: partOf(editor), form_token: token!, ...more })
  // Nobody misses it for long: it is told again.
  void fetch(`${base}/cards/${card}/editing`, { method: 'POST', headers: { accept: 'application/json' }, body }).catch(() => undefined)
}

const keyOf = (editor: Element) => `${pageOf(editor).dataset['card']} ${partOf(editor)}`

function tellNow(editor: Element): void {
  const [key, now] = [keyOf(editor), Date.now()]
  if (now - (told.get(key) ?? -Infinity) < INTERVAL) return
  told.set(key, now)
  tell(editor)
}

function isEdited(editor: Element): boolean {
  return editor.matches('[open]') && (editor.contains(document.activeElement) || hasText(editor))
}

/** Tells the others as long as somebody edits something before a visible page. */
export function tellEditing(): void {
  document.addEventListener('focusin', ({ target }) => {
    const editor = (target as Element).closest(EDITORS)
    if (editor !== null && isEdited(editor)) tellNow(editor)
  })
  // Toggling does not bubble.
  document.addEventListener(
    'toggle',
    ({ target }) => {
      const editor = target as HTMLDetailsElement
      if (!editor.matches(EDITORS)) return
      show(editor)
      if (editor.open || !told.delete(keyOf(editor))) return
      tell(editor, { ended: '' })
    },
    true,
  )
  setInterval(() => {
    if (document.visibilityState === 'hidden') return
    for (const editor of document.querySelectorAll(EDITORS)) if (isEdited(editor)) tellNow(editor)
  }, INTERVAL)
}

/** The form that somebody else was faster than, with the changes of both, over the page that it was sent from. */
import { createElement } from './create-element.ts'
import { showTimes } from './times.ts'

/** The form of a page that a shown one stands for. */
const origins = new WeakMap<HTMLFormElement, HTMLFormElement>()
let dialog: HTMLDialogElement | undefined

/**
 * Shows it. Nothing is sent without the person pressing its button.
 * @param markup of the service
 * @param sent the form that was sent; undefined: the page has none, or not any more
 */
export function showConflict(markup: string, sent: HTMLFormElement | undefined): void {
  const origin = sent && (origins.get(sent) ?? sent)
  dialog?.remove()
  const shown = createElement('dialog', { className: 'keys conflict' })
  dialog = shown
  shown.innerHTML = markup
  shown.querySelector('h1')!.id = 'conflict-title'
  shown.setAttribute('aria-labelledby', 'conflict-title')
  const form = shown.querySelector('form')!
  form.dataset['send'] = ''
  if (origin !== undefined) origins.set(form, origin)
  for (const field of textsOf(form)) {
    const { value } = field
    // What is not saved is a draft.
    field.defaultValue = ''
    field.value = value
  }
  showTimes(shown, Date.now())
  form.querySelector<HTMLElement>('.actions a')?.addEventListener('click', (event) => {
    event.preventDefault()
    shown.close()
  })
  // Escape closes this one, and not what is under it.
  shown.addEventListener('keydown', (event) => event.key === 'Escape' && event.stopPropagation())
  shown.addEventListener('close', () => {
    if (origin !== undefined) giveBack(form, origin)
    shown.remove()
  })
  document.body.append(shown)
  shown.showModal()
  textsOf(form)[0]?.focus()
}

/**
 * Takes away the form that was saved.
 * @returns the form of the page that it stood for
 */
export function endConflict(form: HTMLFormElement): HTMLFormElement | undefined {
  const origin = origins.get(form)
  if (form.closest('dialog') === dialog) dialog?.close()
  return origin
}

const TEXTS = 'textarea, input:not([type=hidden], [type=checkbox], [type=radio])'
const textsOf = (form: HTMLFormElement) => Array.from(form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(TEXTS))

/** What the person has changed in it is in the form of the page when they come back to that. */
function giveBack(form: HTMLFormElement, origin: HTMLFormElement): void {
  const fields = textsOf(origin)
  for (const { name, value } of textsOf(form)) {
    const field = fields.find((one) => one.name === name)
    if (field !== undefined) field.value = value
  }
}

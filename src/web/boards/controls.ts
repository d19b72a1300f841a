import type { VNode } from 'preact'
import { html } from '../html.ts'
import { formAddress, operationForm } from '../operations/form.ts'
import type { SignedInContext } from '../page-context.ts'

/** What the controls of a page are made with. */
export interface Controls {
  readonly context: SignedInContext
  /** the path of the workspace */
  readonly base: string
  /** the operations that the person may perform on what the page is about */
  readonly may: ReadonlySet<string>
}

type Fields = Readonly<Record<string, string | undefined>>

/** What a button looks like, besides its text. */
interface Look {
  readonly className?: string
  /** by which the focus finds it again in the next version of the page */
  readonly id?: string
}

/** A button that performs an operation at once. @param about what it is about, for those who do not see where it stands */
export function doButton({ context }: Controls, operation: string, fields: Fields, text: string, about = '', look: Look = {}): VNode {
  const { className = 'small', id } = look
  const button = html`<button class=${className} id=${id}>${text}${about !== '' && html`<span class="unseen"> ${about}</span>`}</button>`
  return operationForm(context, operation, fields, button)
}

/** The × behind something, which removes it. @param name what it says to those who do not see it */
export function removeButton({ context }: Controls, operation: string, fields: Fields, name: string): VNode {
  const button = html`<button class="remove"><span aria-hidden="true">×</span><span class="unseen">${name}</span></button>`
  return operationForm(context, operation, fields, button)
}

/** A link to the form of an operation. */
export function doLink({ context }: Controls, operation: string, fields: Fields, text: string, about = ''): VNode {
  return html`<a class="small" href=${formAddress(context, operation, fields)}
    >${text}${about !== '' && html`<span class="unseen"> ${about}</span>`}</a
  >`
}

/** Something that is chosen and added. */
export interface Addition {
  /** of the field */
  readonly name: string
  readonly label: string
  readonly button: string
  readonly choices: readonly (readonly [id: string, text: string])[]
}

/** A select with its button; false: there is nothing to choose from. */
export function addForm({ context }: Controls, operation: string, fields: Fields, addition: Addition): VNode | false {
  const { name, label, button, choices } = addition
  if (choices.length === 0) return false
  const content = html`<select name=${name} aria-label=${label} required>
      <option value="">${label}</option>
      ${choices.map(([id, text]) => html`<option value=${id}>${text}</option>`)}
    </select>
    <button class="small">${button}<span class="unseen"> ${label.toLowerCase()}</span></button>`
  return operationForm(context, operation, fields, content, 'inline add')
}

/** A form behind a word. It stays as it is while a person writes in it. @param about for those who do not see where it stands */
export function editor(id: string, word: string, about: string, form: unknown): VNode {
  return html`<details class="edit" id=${id} data-draft>
    <summary class="small"><span class="begin">${word}</span><span class="end">Close</span><span class="unseen"> ${about}</span></summary>
    ${form}
  </details>`
}

/** What can be done with one of several things. */
export function moreMenu(id: string, about: string, actions: readonly unknown[]): VNode | undefined {
  const shown = actions.filter((action) => action !== false && action !== undefined)
  if (shown.length === 0) return undefined
  return html`<details class="more-menu" id=${id}>
    <summary title="More"><span aria-hidden="true">⋯</span><span class="unseen">More about ${about}</span></summary>
    <div>${shown}</div>
  </details>`
}

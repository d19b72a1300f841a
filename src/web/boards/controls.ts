import type { VNode } from 'preact'
import { html } from '../html.ts'
import { formAddress, operationForm, partialForm, type PartialForm, type Given } from '../operations/form.ts'
import type { SignedInContext } from '../page-context.ts'
import { operationOf } from '../reader.ts'

// What a page offers to do. What the person may not do is not offered: each of these is undefined then.

/** What the controls of a page are made with. */
export interface Controls {
  readonly context: SignedInContext
  /** the operations that the person may perform on the object of the controls */
  readonly may: ReadonlySet<string>
}

/** How a control looks, apart from its text. */
interface Look {
  /** what it is about, for those who do not see where it stands */
  readonly about?: string
  readonly className?: string
  /** identifies it for the focus in the next version of the page */
  readonly id?: string
  /** what the script asks beside a link, in place of opening the form */
  readonly asks?: 'blockers'
}

/** A text, with the object that it is about. */
function named(text: string, about = ''): VNode {
  return html`${text}${about !== '' && html`<span class="unseen"> <bdi>${about}</bdi></span>`}` as VNode
}

/** A button that performs an operation at once. */
export function doButton({ context, may }: Controls, operation: string, given: Given, text: string, look: Look = {}): VNode | undefined {
  const { about, className = 'small', id } = look
  const button = html`<button class=${className} id=${id}>${named(text, about)}</button>`
  return may.has(operation) ? operationForm(context, operation, given, button) : undefined
}

/**
 * The × behind something, which removes it.
 * @param word what it says to those who do not see it, before the name of that
 */
export function removeButton({ context, may }: Controls, operation: string, given: Given, word: string, name: string): VNode | undefined {
  const button = html`<button class="remove">
    <span aria-hidden="true">×</span><span class="unseen">${word} <bdi>${name}</bdi></span>
  </button>`
  return may.has(operation) ? operationForm(context, operation, given, button) : undefined
}

/** A link to the form of an operation. */
export function doLink({ context, may }: Controls, operation: string, given: Given, text: string, look: Look = {}): VNode | undefined {
  const { about, className = 'small', asks } = look
  return may.has(operation)
    ? html`<a class=${className} data-asks=${asks} href=${formAddress(context, operation, given)}>${named(text, about)}</a>`
    : undefined
}

/** Fields of the form of an operation, and its button. Without anything to choose from, nothing is shown. */
export function doForm({ context, may }: Controls, operation: string, given: Given, part: PartialForm): VNode | undefined {
  return may.has(operation) && part.choices?.length !== 0 ? partialForm(context, operationOf(context, operation)!, given, part) : undefined
}

/**
 * A form behind a word. It stays as it is while a person writes in it.
 * @param about for those who do not see where it stands
 */
export function editor(id: string, word: unknown, about: string, form: VNode | undefined, more?: VNode): VNode | undefined {
  return (
    form &&
    html`<details class="edit" id=${id} data-draft>
      <summary class="small"><span class="begin">${word}</span><span class="end">Close</span><span class="unseen"> ${about}</span></summary>
      ${form} ${more}
    </details>`
  )
}

/** A button for one more of something, with the form behind it. */
export function adder(id: string, text: unknown, form: VNode | undefined): VNode | undefined {
  return (
    form &&
    html`<details class="adder" id=${id} data-menu data-add data-draft>
      <summary>${text}</summary>
      ${form}
    </details>`
  )
}

/** What can be done with one of several things. */
export function menu(id: string, about: string, items: readonly unknown[]): VNode | undefined {
  const shown = items.filter(Boolean)
  if (shown.length === 0) return undefined
  return html`<details class="menu" id=${id} data-menu data-draft>
    <summary title="More">
      <span aria-hidden="true">⋯</span><span class="unseen">Menu of <bdi>${about}</bdi></span>
    </summary>
    <div>${shown}</div>
  </details>`
}

import type { VNode } from 'preact'
import { html } from '../html.ts'

/** A part of a card, such as its subtasks. */
interface CardPart {
  readonly name: string
  readonly heading: unknown
  /** whether the card has none of it: then only a button for the first one is shown, next to the buttons of other empty parts */
  readonly isEmpty: boolean
  /** what it has, and the controls for it */
  readonly content: unknown
}

/** A section of the page of a card. */
export function renderPart({ name, heading, isEmpty, content }: CardPart): VNode {
  return html`<section class=${isEmpty ? 'offer' : 'part'} id="card-${name}" aria-labelledby="${name}-title" data-merge>
    <h2 class=${isEmpty ? 'unseen' : undefined} id="${name}-title">${heading}</h2>
    ${content}
  </section>` as VNode
}

/** What one more of something is called on the button for it. */
export function oneMore(name: string): VNode {
  return html`<span class="unseen">Add </span>${name}` as VNode
}

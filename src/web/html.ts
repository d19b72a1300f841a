import { html as tag } from 'htm/preact'
import type { VNode } from 'preact'

/** Values in this template tag are escaped, unless the tag made them. */
export const html: (strings: TemplateStringsArray, ...values: unknown[]) => VNode = tag as never

/** A message at the top of a page. Screen readers announce it. */
export function renderMessage(kind: 'error' | 'done' | 'warning', text: unknown): VNode {
  return html`<p class="message ${kind}" role=${kind === 'error' ? 'alert' : 'status'}>${text}</p>`
}

/**
 * A part of a page, with its heading.
 * @param id of the heading
 */
export function card(id: string, title: string, content: unknown): VNode {
  return html`<section class="card" aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${content}
  </section>`
}

/**
 * A text to copy, which the element with the id `{id}-label` names. It is no input element: a browser may restore the value of an input
 * when the page is shown again.
 * @param what it is, for people
 */
export function textToCopy(id: string, text: string, what: string): VNode {
  return html`<pre><code id=${id} tabindex="0" role="textbox" aria-readonly="true" aria-multiline=${text.includes('\n') ? 'true' : undefined} aria-labelledby="${id}-label">${text}</code></pre>
    ${copyButton(id, what)}`
}

/**
 * A card with a secret to copy, on the only page that shows it. What is around it has `data-once`.
 * @param more below the secret
 */
export function secretCard(id: string, heading: unknown, secret: string, what: string, more?: unknown): VNode {
  return html`<div class="card">
    <div class="secret">
      <h2 id="${id}-label">${heading}</h2>
      ${textToCopy(id, secret, what)}
    </div>
    ${more}
  </div>`
}

/** Chooses the colors of all pages. The script of the theme shows it. */
export function themeChoice(): VNode {
  return html`<label class="theme js"
    >Theme
    <select data-theme-choice>
      <option value="">system</option>
      <option>light</option>
      <option>dark</option>
    </select></label
  >`
}

/**
 * A button that copies a text of the page. The script shows it.
 * @param id of the element with the text
 * @param what it is, for people
 */
export function copyButton(id: string, what: string): VNode {
  return html`<button type="button" data-copy=${id} hidden>Copy<span class="unseen"> ${what}</span></button>`
}

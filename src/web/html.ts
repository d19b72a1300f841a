import { html as tag } from 'htm/preact'
import type { VNode } from 'preact'

/** Values in this template tag are escaped, unless the tag made them. */
export const html: (strings: TemplateStringsArray, ...values: unknown[]) => VNode = tag as never

/** A message at the top of a page. Screen readers announce it. */
export function notice(kind: 'error' | 'done' | 'warning', text: string): VNode {
  return html`<p class="notice ${kind}" role=${kind === 'error' ? 'alert' : 'status'}>${text}</p>`
}

/** What a script says at the edge of the window: see `browser/toast.ts`. */
export function toast(): VNode {
  return html`<div class="toast" id="announcement" data-announcement data-keep>
    <p role="status"></p>
    <button type="button" aria-label="Dismiss">✕</button>
  </div>`
}

/** A button that copies a text of the page. The script shows it. @param id of the element with the text @param what it is, for people */
export function copyButton(id: string, what: string): VNode {
  return html`<button type="button" data-copy=${id} hidden>Copy<span class="unseen"> ${what}</span></button>`
}

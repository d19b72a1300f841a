import { html as tag } from 'htm/preact'
import type { VNode } from 'preact'

/** Values in this template tag are escaped, unless the tag made them. */
export const html: (strings: TemplateStringsArray, ...values: unknown[]) => VNode = tag as never

/** A message at the top of a page. Screen readers announce it. */
export function notice(kind: 'error' | 'done' | 'warning', text: string): VNode {
  return html`<p class="notice ${kind}" role=${kind === 'error' ? 'alert' : 'status'}>${text}</p>`
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

/** A button that copies a text of the page. The script shows it. @param id of the element with the text @param what it is, for people */
export function copyButton(id: string, what: string): VNode {
  return html`<button type="button" data-copy=${id} hidden>Copy<span class="unseen"> ${what}</span></button>`
}

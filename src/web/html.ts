import { html as tag } from 'htm/preact'
import type { VNode } from 'preact'

/** Values in this template tag are escaped, unless the tag made them. */
export const html: (strings: TemplateStringsArray, ...values: unknown[]) => VNode = tag as never

/** A message at the top of a page. Screen readers announce it. */
export function notice(kind: 'error' | 'done' | 'warning', text: string): VNode {
  return html`<p class="notice ${kind}" role=${kind === 'error' ? 'alert' : 'status'}>${text}</p>`
}

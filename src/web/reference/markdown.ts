import type { VNode } from 'preact'
import { html } from '../html.ts'

/** Renders the little Markdown that the document uses: paragraphs, headings, lists and code. */
export function markdown(text: string): VNode[] {
  return text.split(/\n\n+/).map((block) => {
    const [first = '', ...rest] = block.split('\n')
    if (first.startsWith('## ')) return heading(first.slice(3))
    const items = [first, ...rest].filter((line) => line.startsWith('- '))
    if (items.length === 0) return html`<p>${inline(block)}</p>`
    const intro = [first, ...rest].filter((line) => !line.startsWith('- ')).join(' ')
    return html`<div>
      ${intro !== '' && html`<p>${inline(intro)}</p>`}
      <ul>
        ${items.map((item) => html`<li>${inline(item.slice(2))}</li>`)}
      </ul>
    </div>`
  }) as VNode[]
}

/** Renders text with code between backquotes. */
export function inline(text: string): (VNode | string)[] {
  return text.split(/`([^`]*)`/).map((part, i) => (i % 2 === 0 ? part : (html`<code>${part}</code>` as VNode)))
}

/** A heading that can be linked to. @param id default: made from its text */
export function heading(text: string, id = anchorOf(text)): VNode {
  return html`<h2 id=${id}>${inline(text)} <a class="anchor" href="#${id}" aria-label="Link to: ${text}">#</a></h2>` as VNode
}

/** The headings of a text, in its order. */
export function headingsOf(text: string): readonly { readonly title: string; readonly id: string }[] {
  return [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => ({ title: title!, id: anchorOf(title!) }))
}

function anchorOf(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

import type { VNode } from 'preact'
import { html } from '../html.ts'

/** Renders the little Markdown that the document uses: paragraphs, headings, lists and code. @param level of the headings */
export function markdown(text: string, level = 2): VNode[] {
  return text.split(/\n\n+/).map((block) => {
    const [first = '', ...rest] = block.split('\n')
    if (first.startsWith('## ')) return heading(level, first.slice(3))
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

function heading(level: number, text: string): VNode {
  return level === 2 ? (html`<h2>${inline(text)}</h2>` as VNode) : (html`<h3>${inline(text)}</h3>` as VNode)
}

import type { VNode } from 'preact'
import { FENCE, INLINE } from '../model/markup.ts'
import { splitAtMentions, type NameOf } from '../resources/notices/mentions.ts'
import { html } from './html.ts'

type Inline = VNode | string

/** What begins a block, line by line. No pattern has two ways to match a text: the time grows with the length alone. */
const HEADING = /^(#{1,6}) (.*)$/
const ITEM = /^ {0,6}(?:[-*+]|\d{1,4}[.)]) (.*)$/
const NUMBERED = /^ {0,6}\d/
const TASK = /^\[([ xX])\] (.*)$/
const QUOTE = /^> ?(.*)$/
const RULE = /^(?:-{3,}|\*{3,})$/

/** What the texts of one page may have together before the rest is shown without markup: to render more would delay other requests. */
const [MOST_LINES, MOST_CHARACTERS] = [2000, 100_000]

/** Nobody is known by name: what looks like a mention is text. */
const nobody: NameOf = () => undefined

/**
 * Renders what users have written, for one page, in the order of the calls.
 * @param nameOf the members of the workspace
 */
export function createProse(nameOf: NameOf): (text: string) => VNode[] {
  let [lines, characters] = [0, 0]
  return (text) => {
    characters += text.length
    if (characters <= MOST_CHARACTERS) lines += text.split('\n').length
    return characters > MOST_CHARACTERS || lines > MOST_LINES ? [html`<p>${text}</p>`] : markdown(text, lowHeading, nameOf)
  }
}

/** A heading in a text of a user: the page has those above it. */
function lowHeading(title: string, level: number, nameOf: NameOf): VNode {
  const content = inline(title, nameOf)
  return level === 1 ? html`<h3>${content}</h3>` : html`<h4>${content}</h4>`
}

/**
 * Renders the Markdown that people write most, and anything else as text. Nothing of it becomes HTML, no image is loaded, and links lead to
 * http and https only.
 * @param nameOf of those whom the text mentions
 */
export function markdown(text: string, heading = lowHeading, nameOf = nobody): VNode[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const blocks: VNode[] = []
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!
    const take = (test: (line: string) => boolean) => {
      const from = at
      while (at < lines.length && test(lines[at]!)) at++
      return lines.slice(from, at)
    }
    if (line.trim() === '') at++
    else if (FENCE.test(line)) {
      at++
      const code = take((one) => !FENCE.test(one))
      at++
      blocks.push(html`<pre><code>${code.join('\n')}</code></pre>`)
    } else if (HEADING.test(line)) {
      const [, marks = '', title = ''] = HEADING.exec(lines[at++]!)!
      blocks.push(heading(title, marks.length, nameOf))
    } else if (RULE.test(line.trim())) {
      at++
      blocks.push(html`<hr />`)
    } else if (ITEM.test(line)) {
      const items = take((one) => ITEM.test(one))
      blocks.push(renderList(items, nameOf))
    } else if (QUOTE.test(line)) {
      const quoted = take((one) => QUOTE.test(one)).map((one) => QUOTE.exec(one)![1]!)
      blocks.push(html`<blockquote><p>${inline(quoted.join('\n'), nameOf)}</p></blockquote>`)
    } else {
      const isText = (one: string) => one.trim() !== '' && ![FENCE, HEADING, ITEM, QUOTE].some((start) => start.test(one))
      blocks.push(html`<p>${inline(take(isText).join('\n'), nameOf)}</p>`)
    }
  }
  return blocks
}

function renderList(lines: readonly string[], nameOf: NameOf): VNode {
  const items = lines.map((line) => {
    const text = ITEM.exec(line)![1]!
    const task = TASK.exec(text)
    if (task === null) return html`<li>${inline(text, nameOf)}</li>`
    const isDone = task[1] !== ' '
    return html`<li class="task">
      <span class="unseen">${isDone ? 'done: ' : 'to do: '}</span
      ><span aria-hidden="true">${isDone ? '☑' : '☐'}</span> ${inline(task[2]!, nameOf)}
    </li>`
  })
  return NUMBERED.test(lines[0]!)
    ? html`<ol>
        ${items}
      </ol>`
    : html`<ul>
        ${items}
      </ul>`
}

/** Renders what is in a line. Line breaks stay: the style shows them. */
export function inline(text: string, nameOf = nobody): Inline[] {
  const parts: Inline[] = []
  let end = 0
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, strong, emphasized, label, target, address] = match
    if (match.index > end) parts.push(...plain(text.slice(end, match.index), nameOf))
    end = match.index + whole.length
    if (code !== undefined) parts.push(html`<code>${code}</code>`)
    else if (strong !== undefined) parts.push(html`<strong>${plain(strong, nameOf)}</strong>`)
    else if (emphasized !== undefined) parts.push(html`<em>${plain(emphasized, nameOf)}</em>`)
    else {
      const shown = label === undefined ? address : plain(label, nameOf)
      parts.push(html`<a href=${target ?? address} rel="noopener noreferrer nofollow">${shown}</a>`)
    }
  }
  if (end < text.length) parts.push(...plain(text.slice(end), nameOf))
  return parts
}

/** Renders a text without markup. Those whom it mentions are called by their names, whatever stands in these. */
function plain(text: string, nameOf: NameOf): Inline[] {
  return splitAtMentions(text).flatMap((part, i): Inline | readonly [] => {
    if (i % 2 === 0) return part === '' ? [] : part
    const name = nameOf(part)
    return name === undefined ? `@${part}` : html`<bdi class="mention" title=${part}>@${name}</bdi>`
  })
}

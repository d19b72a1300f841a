import type { VNode } from 'preact'
import { copyButton, html } from '../html.ts'

/** What is colored in JSON, in a command and in TypeScript: comments, strings and words of the language. Names of members are not. */
const COLORED =
  /(?<comment>(?<=^|\s)\/\/.*|^#.*)|(?<name>"(?:[^"\\]|\\.)*"(?=:))|(?<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(?<word>await|const|curl|false|for|from|import|new|null|of|true)\b/gm

/**
 * A block of code with a button that copies it.
 * @param id of the code, unique in the page
 * @param title what it is, for people
 */
export function codeBlock(id: string, title: string, text: string): VNode {
  return html`<figure class="code">
    <figcaption>
      <span>${title}</span>
      ${copyButton(id, title)}
    </figcaption>
    <pre tabindex="0"><code id=${id}>${highlight(text)}</code></pre>
  </figure>`
}

/** A value as JSON. */
export function jsonBlock(id: string, title: string, value: unknown): VNode {
  return codeBlock(id, title, typeof value === 'string' ? value : JSON.stringify(value, null, 2))
}

function highlight(text: string): unknown[] {
  const parts: unknown[] = []
  let end = 0
  for (const { 0: match, index, groups } of text.matchAll(COLORED)) {
    const [kind] = Object.entries(groups!).find(([, found]) => found !== undefined)!
    parts.push(text.slice(end, index), kind === 'name' ? match : html`<span class=${kind}>${match}</span>`)
    end = index + match.length
  }
  return [...parts, text.slice(end)]
}

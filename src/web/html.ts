import { html } from 'htm/preact'
import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'

// Values in this template tag are escaped, unless the tag made them.
export { html }

/** How wide the content of a page is: forms and text, lists, the whole window, or what a sidebar leaves of it. */
export type Layout = 'narrow' | 'medium' | 'wide' | 'reference'

/** Renders a complete HTML document. @param assets the path of its style and script @param scripts the paths of further scripts */
export function renderShell({
  title,
  assets,
  header,
  sidebar,
  body,
  layout = 'narrow',
  scripts = [],
}: {
  title: string
  assets: string
  header: unknown
  sidebar?: VNode
  body: VNode
  layout?: Layout | undefined
  scripts?: readonly string[] | undefined
}): string {
  const page = html`
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="${assets}/style.css" />
        <script src="${assets}/script.js" defer></script>
        ${scripts.map((path) => html`<script src=${path} defer></script>`)}
      </head>
      <body class=${layout}>
        <a class="skip" href="#main">Skip to content</a>
        <header>${header}</header>
        ${sidebar}
        <main id="main" tabindex="-1">${body}</main>
      </body>
    </html>
  `
  return `<!doctype html>${renderToString(page as VNode)}`
}

/**
 * A time for people: to the minute, in UTC. The script of the pages writes it in the zone of the person.
 * @param at RFC 3339
 */
export function renderTime(at: string): VNode {
  return html`<time datetime=${at} data-exact>${at.slice(0, 10)} ${at.slice(11, 16)} UTC</time>`
}

/** A message at the top of a page. Screen readers announce it. */
export function notice(kind: 'error' | 'done' | 'warning', text: string): VNode {
  return html`<p class="notice ${kind}" role=${kind === 'error' ? 'alert' : 'status'}>${text}</p>`
}

/** An input with its label, a hint, and the error of the submitted value. */
export function field({
  name,
  label,
  hint,
  error,
  ...attributes
}: { name: string; label: string; hint?: string; error?: string | undefined } & Record<string, unknown>): VNode {
  const describedBy = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ') || undefined
  return html`<div class="field">
    <label for=${name}>${label}</label>
    ${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    <input
      id=${name}
      name=${name}
      aria-describedby=${describedBy}
      aria-invalid=${error === undefined ? undefined : 'true'}
      ...${attributes}
    />
    ${error && html`<p class="error" id="${name}-error">${error}</p>`}
  </div>`
}

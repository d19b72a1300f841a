import type { VNode } from 'preact'
import { html } from '../html.ts'
import { renderSelfContained } from './document.ts'

/** A table as a page that loads nothing. */
export function renderTablePage({
  title,
  hash,
  head,
  rows,
}: {
  title: string
  hash: string
  head: readonly string[]
  rows: readonly (readonly string[])[]
}): string {
  const body = html`<header>
      <div>
        <h1>${title}</h1>
        <p class="hash">Policy ${hash}</p>
      </div>
    </header>
    <main id="main" tabindex="-1">
      <div class="sheet scroll" tabindex="0" role="region" aria-label=${title}>
        <table>
          <thead>
            <tr>
              ${head.map((name) => html`<th scope="col">${name}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              ([first, ...rest]) =>
                html`<tr>
                  <th scope="row">${first}</th>
                  ${rest.map((cell) => html`<td>${cell}</td>`)}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </main>` as VNode
  return renderSelfContained({ title: `${title} · Lanekeeper`, body })
}

import { createHash } from 'node:crypto'
import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { readAsset } from '../assets.ts'
import { html } from '../html.ts'

const style = readAsset('colors.css') + readAsset('policy-report.css')

/**
 * A policy that allows the style and these scripts, by their hashes, and no request at all.
 * @param scripts none of them has `</`, which would end its element
 */
export function contentSecurityPolicy(scripts: readonly string[]): string {
  const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const allowed = scripts.length === 0 ? "'none'" : scripts.map(hashOf).join(' ')
  return `default-src 'none'; style-src ${hashOf(style)}; script-src ${allowed}; img-src data:; base-uri 'none'; form-action 'none'`
}

/**
 * Renders a document that needs nothing else.
 * @param scripts the first one runs before the page is shown, the second one when it is complete
 * @param data for the scripts, which is not executed
 */
export function renderSelfContained({
  title,
  body,
  scripts = [],
  data,
}: {
  title: string
  body: VNode
  scripts?: readonly string[]
  data?: unknown
}): string {
  const policy = contentSecurityPolicy(scripts)
  const [early, late] = scripts
  const raw = (text: string) => ({ __html: text })
  const page = html`
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="content-security-policy" content=${policy} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <style dangerouslySetInnerHTML=${raw(style)}></style>
        ${early !== undefined && html`<script dangerouslySetInnerHTML=${raw(early)}></script>`}
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        ${body}
        ${
          data !== undefined &&
          html`<script
            type="application/json"
            id="data"
            dangerouslySetInnerHTML=${raw(JSON.stringify(data).replaceAll('<', '\\u003c'))}
          ></script>`
        }
        ${late !== undefined && html`<script dangerouslySetInnerHTML=${raw(late)}></script>`}
      </body>
    </html>
  `
  return `<!doctype html>${renderToString(page)}`
}

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
    </main>`
  return renderSelfContained({ title: `${title} · Lanekeeper`, body })
}

import type { VNode } from 'preact'
import type { OpenApiDocument } from '../../http/openapi/types.ts'
import { renderBrand } from '../brand.ts'
import { renderShell, themeMenu } from '../document.ts'
import { html } from '../html.ts'
import { inline } from '../markdown.ts'
import { groupTitle, groupsOf } from './operations.ts'
import { LONGEST_QUERY } from './search.ts'

/**
 * Renders a page of the reference: its header with the search, and beside its content the list of all pages.
 * @param path of the page
 * @param base the path of the public URL
 * @param query what was searched for
 */
export function renderPage(
  document: OpenApiDocument,
  { title, path, base, query = '', body }: { title: string; path: string; base: string; query?: string; body: VNode },
): string {
  return renderShell({
    title: `${title} · Lanekeeper API`,
    assets: '/docs/assets',
    base,
    header: header(query),
    sidebar: sidebar(document, path),
    body,
    layout: 'reference',
  })
}

/** The search is a form. With JavaScript, it shows what it finds while a person types. */
function header(query: string): VNode {
  return html`<p class="brand">${renderBrand()}<a href="/docs">Lanekeeper</a> <span>API reference</span></p>
    <form class="search" role="search" action="/docs">
      <label class="unseen" for="q">Search the operations</label>
      <input
        id="q"
        name="q"
        type="search"
        value=${query}
        maxlength=${LONGEST_QUERY}
        placeholder="Search"
        autocomplete="off"
        spellcheck="false"
      />
      <kbd aria-hidden="true" hidden>/</kbd>
      <p class="unseen" role="status"></p>
      <div class="hits" hidden></div>
    </form>
    <div class="aside"><a href="/">Home</a> ${themeMenu()}</div>`
}

/** The list of all pages. On a phone it is closed at first; a wide screen shows it always. */
function sidebar(document: OpenApiDocument, path: string): VNode {
  const current = (href: string) => (href === path ? 'page' : undefined)
  const guide = headingsOf(document.info.description).map(({ title, id }) => [title, `/docs#${id}`] as const)
  const link = (title: string, href: string) => html`<li><a href=${href} aria-current=${current(href)}>${title}</a></li>`
  return html`<nav class="sidebar" aria-label="API reference">
    <details>
      <summary>All operations</summary>
      <ul>
        ${link('Overview', '/docs')} ${link('Errors', '/docs/errors')}
      </ul>
      ${group(
        'Guide',
        path === '/docs',
        guide.map(([title, href]) => link(title, href)),
      )}
      ${groupsOf(document).map(({ name, operations }) => {
        const links = operations.map(
          ({ method, operation: { operationId } }) =>
            html`<li>
              <a href="/docs/${operationId}" aria-current=${current(`/docs/${operationId}`)}>
                <span>${operationId.slice(name.length + 1)}</span> <span class="method ${method.toLowerCase()}">${method}</span>
              </a>
            </li>`,
        )
        return group(groupTitle(name), path.startsWith(`/docs/${name}.`), links)
      })}
    </details>
  </nav>`
}

function group(title: string, isOpen: boolean, links: readonly unknown[]): VNode {
  return html`<details open=${isOpen}>
    <summary>${title}</summary>
    <ul>
      ${links}
    </ul>
  </details>`
}

/**
 * A heading that can be linked to.
 * @param id default: made from its text
 */
export function heading(text: string, id = anchorOf(text)): VNode {
  return html`<h2 id=${id}>${inline(text)} <a class="anchor" href="#${id}" aria-label="Link to: ${text}">#</a></h2>`
}

/** The headings of a text, in its order. */
function headingsOf(text: string): readonly { readonly title: string; readonly id: string }[] {
  return [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => ({ title: title!, id: anchorOf(title!) }))
}

function anchorOf(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

import type { VNode } from 'preact'
import { renderAvatar, renderBrand } from './brand.ts'
import { html, renderShell, type Layout } from './html.ts'
import { sectionLinks } from './navigation.ts'

/** What a document is rendered from. */
interface DocumentParts {
  readonly title: string
  readonly path: string
  readonly body: VNode
  readonly signedIn: { readonly formToken: string; readonly email: string } | undefined
  readonly layout?: Layout | undefined
  /** the paths of further scripts */
  readonly scripts?: readonly string[] | undefined
}

/** Renders a page of the web app. */
export function renderDocument({ title, path, body, signedIn, layout, scripts }: DocumentParts): string {
  const header = signedIn === undefined ? renderVisitorHeader(path) : renderHeader(path, signedIn)
  return renderShell({ title: `${title} · Lanekeeper`, assets: '/settings/assets', header, body, layout, scripts })
}

/** The header for a person who is signed in. The account menu opens without JavaScript too. */
function renderHeader(path: string, { formToken, email }: NonNullable<DocumentParts['signedIn']>): VNode {
  return html`
    <a class="brand" href="/app">${renderBrand()}Lanekeeper</a>
    <nav class="sections" aria-label="Sections">${sectionLinks(path)}</nav>
    <details class="menu" data-menu>
      <summary><span class="unseen">Account menu</span>${renderAvatar(email)}</summary>
      <div>
        <p class="hint"><span class="unseen">Signed in as </span>${email}</p>
        <form method="post" action="/settings/sign-out">
          <input type="hidden" name="form_token" value=${formToken} />
          <button name="where" value="here">Sign out</button>
          <button name="where" value="everywhere">Sign out everywhere</button>
        </form>
      </div>
    </details>
  ` as VNode
}

function renderVisitorHeader(path: string): VNode {
  return html`
    <a class="brand" href="/">${renderBrand()}Lanekeeper</a>
    <p class="aside">
      <a href="/docs">API reference</a>
      ${path !== '/settings/sign-in' && html`<a class="button" href="/settings/sign-in">Sign in</a>`}
    </p>
  ` as VNode
}

import { randomUUID } from 'node:crypto'
import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { assetAddress } from './public-assets.ts'
import { addBase } from './base-path.ts'
import { renderAvatar, renderBrand, renderSearchSign, renderThemeSign } from './brand.ts'
import { html, themeChoice } from './html.ts'

/** Where a page has a part that is encoded already. Nobody can write it into a text. */
export const HOLE = `<!--${randomUUID()}-->`

/**
 * The bytes of a page.
 * @param base the path of the public URL
 * @param parts the parts of each hole, in order
 */
export function encodePage(base: string, text: string, parts: readonly (readonly Buffer[])[] = []): Buffer<ArrayBuffer> {
  if (parts.length === 0) return Buffer.from(text)
  const all = text.split(HOLE).flatMap((piece, i) => [Buffer.from(piece), ...(parts[i] ?? []).map((part) => addBaseTo(base, part))])
  return Buffer.concat(all)
}

function addBaseTo(base: string, part: Buffer): Buffer {
  return base === '' ? part : Buffer.from(addBase(base, part.toString()))
}

/** How wide the content of a page is: the width of text and lists, the whole window, or the space beside a sidebar. */
export type Layout = 'page' | 'wide' | 'reference'

/**
 * Renders a complete HTML document.
 * @param base the path of the public URL
 * @param assets the path of its style and script
 * @param scripts the paths of further scripts
 */
export function renderShell({
  title,
  base,
  assets,
  header,
  sidebar,
  body,
  layout = 'page',
  scripts = [],
}: {
  title: string
  base: string
  assets: '/settings/assets' | '/docs/assets'
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
        <link rel="stylesheet" href=${assetAddress(`${assets}/style.css`)} />
        <script src=${assetAddress(`${assets}/theme.js`)}></script>
        <script src=${assetAddress(`${assets}/script.js`)} defer></script>
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
  return addBase(base, `<!doctype html>${renderToString(page)}`)
}

/** What the link to the inbox shows, and where the script of a page hears of more. */
export interface InboxLink {
  readonly userId: string
  /** how many notices are unread, such as `3` or `100+`; empty without any */
  readonly unread: string
  /** the workspace whose stream tells it; undefined: the person has none */
  readonly workspaceId: string | undefined
  /** of the person there */
  readonly name: string | undefined
}

/** What a document is rendered from. */
interface DocumentParts {
  readonly title: string
  /** the path of the public URL */
  readonly base: string
  readonly path: string
  readonly body: VNode
  readonly signedIn: { readonly formToken: string; readonly email: string; readonly inbox?: InboxLink | undefined } | undefined
  readonly layout?: Layout | undefined
  /** the paths of further scripts, which count notices too; default: the script that does nothing else */
  readonly scripts?: readonly string[] | undefined
}

/** The script of pages without another one that keeps the count of notices. */
const COUNT_SCRIPT = assetAddress('/settings/assets/unread-count.js')

/** Renders a page of the web app. */
export function renderDocument({ title, base, path, body, signedIn, layout, scripts }: DocumentParts): string {
  const header = signedIn === undefined ? renderVisitorHeader(path) : renderHeader(path, signedIn)
  const unread = signedIn?.inbox?.unread ?? ''
  return renderShell({
    title: `${unread === '' ? '' : `(${unread}) `}${title} · Lanekeeper`,
    base,
    assets: '/settings/assets',
    header,
    body,
    layout,
    scripts: scripts ?? (signedIn?.inbox?.workspaceId === undefined ? [] : [COUNT_SCRIPT]),
  })
}

/** The header for a person who is signed in. The account menu opens without JavaScript too. */
function renderHeader(path: string, { formToken, email, inbox }: NonNullable<DocumentParts['signedIn']>): VNode {
  return html`
    <a class="brand" href="/app">${renderBrand()}<span class="word">Lanekeeper</span></a>
    <nav class="sections" aria-label="Sections">${sectionLinks(path, inbox)}</nav>
    ${inbox?.workspaceId !== undefined && renderFind(`/app/${inbox.workspaceId}`)}
    <details class="menu" data-menu>
      <summary><span class="unseen">Account menu</span>${renderAvatar(inbox?.name ?? email)}</summary>
      <div>
        <p class="hint"><span class="unseen">Signed in as </span>${email}</p>
        ${themeChoice()}
        <form method="post" action="/settings/sign-out">
          <input type="hidden" name="form_token" value=${formToken} />
          <button name="where" value="here">Sign out</button>
          <button name="where" value="everywhere">Sign out everywhere</button>
        </form>
      </div>
    </details>
  `
}

/** The search in everything. Without the script, its link leads to the search of cards. */
function renderFind(base: string): VNode {
  return html`<a class="find" href="${base}/cards?view=recent" title="Search" data-find="${base}/find"
    ><span class="unseen">Search boards and cards</span>${renderSearchSign()}</a
  >` as VNode
}

/** The choice of the theme where there is no account menu. */
export function themeMenu(): VNode {
  return html`<details class="menu js" data-menu>
    <summary><span class="unseen">Theme</span>${renderThemeSign()}</summary>
    <div>${themeChoice()}</div>
  </details>`
}

function renderVisitorHeader(path: string): VNode {
  return html`
    <a class="brand" href="/">${renderBrand()}Lanekeeper</a>
    <div class="aside">
      <a href="/docs">API reference</a>
      ${path !== '/settings/sign-in' && html`<a class="button" href="/settings/sign-in">Sign in</a>`} ${themeMenu()}
    </div>
  `
}

/** The inbox of a person: each workspace has a page of its own. */
const INBOX = '/app/notices'

/** The sections of the web app, as its header shows them to a person who is signed in. */
const sections: readonly { readonly path: string; readonly label: string }[] = [
  { path: '/app', label: 'Boards' },
  { path: INBOX, label: 'Inbox' },
  { path: '/settings/tokens', label: 'API tokens' },
  { path: '/settings/activity', label: 'Activity' },
  { path: '/settings/workspace', label: 'Workspace' },
  { path: '/settings/account', label: 'Account' },
]

/**
 * The links to the sections.
 * @param path the path of the page that is shown
 */
function sectionLinks(path: string, inbox: InboxLink | undefined): VNode {
  const isInbox = /^\/app\/(?:\w+\/)?notices$/.test(path)
  return html`${sections.map((section) => {
    const isCurrent = isInbox ? section.path === INBOX : section.path !== INBOX && isWithin(path, section.path)
    const live = section.path === INBOX && inbox
    return html`<a href=${section.path} aria-current=${isCurrent ? 'page' : undefined} ...${live ? liveCount(inbox) : {}}
      >${section.label}${live && renderUnread(inbox.unread)}</a
    >`
  })}`
}

/** How many notices are unread. The script of a live page writes it anew. */
function renderUnread(text: string): VNode {
  return html`<span class="unread-count" data-unread-count>${text}</span><span class="unseen"> unread</span>` as VNode
}

/** What the script needs to hear of more. */
function liveCount({ userId, unread, workspaceId }: InboxLink): Readonly<Record<string, string>> {
  if (workspaceId === undefined) return {}
  return {
    'data-unread': unread,
    'data-base': `/app/${workspaceId}`,
    'data-worker': assetAddress('/settings/assets/stream-worker.js'),
    'data-person': userId,
  }
}

function isWithin(path: string, section: string): boolean {
  return path === section || path.startsWith(`${section}/`)
}

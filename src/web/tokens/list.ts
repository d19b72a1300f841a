import type { VNode } from 'preact'
import { stateOf } from '../../auth/tokens/lifecycle.ts'
import { DAY } from '../../model/time.ts'
import { copyButton, html, renderMessage } from '../html.ts'
import { tokensOf, workspacesOf, type ListedToken, type MemberWorkspace } from '../memberships.ts'
import type { Page } from '../page-context.ts'
import { toldBy } from '../told.ts'
import { renderToken } from './token-item.ts'

/** The longest text that is searched for. */
const MAX_SEARCH = 100
/** With more tokens, the page has a search box. */
const FEW = 5
/** How long the page tells that another person has revoked a token. */
const SHOWN_FOR = 14 * DAY

/** Lists a person's tokens in all their workspaces, or those whose name has a text. */
export const tokensPage: Page = {
  path: '/settings/tokens',
  async get(context) {
    const { web, session, query } = context
    const workspaces = await workspacesOf(web, session.user_id)
    const lists = await Promise.all(workspaces.map(({ id }) => tokensOf(web, session.user_id, id)))
    const search = (query.get('q') ?? '').trim().slice(0, MAX_SEARCH)
    const found = lists.map((tokens) => tokens.filter((token) => matches(token, search)))
    const [all, shown] = [lists.flat().length, found.flat().length]
    const body = html`
      <h1>API tokens</h1>
      ${toldBy(context).has('revoked') && renderMessage('done', 'The token is revoked. It no longer works.')}
      ${lists.flat().map((token) => renderRevoked(token, web.clock()))}
      <p>
        A token lets an agent or a tool act on your behalf in one workspace. It can do what its scope allows, but never more than you can. A
        token is shown only once. If you lose it, rotate it to get a new one.
      </p>
      ${workspaces.length === 0 && renderNoWorkspace(session.user_id)} ${(all > FEW || search !== '') && renderSearch(search, shown, all)}
      ${workspaces.map((workspace, i) => (search === '' || found[i]!.length > 0 ? renderWorkspace(workspace, found[i]!, search, web.clock()) : ''))}
    `
    return { title: 'API tokens', body }
  },
}

/** Names are searched without regard to case; an id must be whole. */
function matches({ name, id }: ListedToken, search: string): boolean {
  return id === search || fold(name).includes(fold(search))
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** Tells a person that an owner or admin has revoked their token, for two weeks. */
function renderRevoked({ name, revoker, revoked_at }: ListedToken, now: number): VNode | '' {
  if (revoker === undefined || revoked_at === null || Date.parse(revoked_at) + SHOWN_FOR <= now) return ''
  return renderMessage(
    'warning',
    html`<bdi>${revoker}</bdi>, an owner or admin of the workspace, revoked your token "<bdi>${name}</bdi>" on ${revoked_at.slice(0, 10)}.`,
  )
}

function renderNoWorkspace(userId: string): VNode {
  return html`<div class="card">
    <h2>You are not a member of any workspace yet</h2>
    <p>A token belongs to a workspace. Send your user id to the operator of this service, who can add you to one:</p>
    <div class="secret">
      <pre><code id="user-id">${userId}</code></pre>
      ${copyButton('user-id', 'your user id')}
    </div>
    <p class="hint">The operator runs <code>lanekeeper member add WORKSPACE ${userId}</code>. Then load this page again.</p>
  </div>`
}

function renderSearch(search: string, shown: number, all: number): VNode {
  return html`<form method="get" action="/settings/tokens" role="search" class="search">
    <label for="q">Search tokens by name</label>
    <div class="row">
      <input type="search" id="q" name="q" dir="auto" value=${search} maxlength=${MAX_SEARCH} autocomplete="off" />
      <button>Search</button>
      ${search !== '' && html`<a class="button quiet" href="/settings/tokens">Show all</a>`}
    </div>
    ${search !== '' && html`<p class="hint" role="status">${shown === 0 ? 'None' : shown} of ${all} tokens ${shown > 1 ? 'have' : 'has'} “<bdi>${search}</bdi>” in the name.</p>`}
  </form>`
}

function renderWorkspace(workspace: MemberWorkspace, tokens: readonly ListedToken[], search: string, now: number): VNode {
  const headingId = `workspace-${workspace.id}`
  const active = tokens.filter((token) => stateOf(token, now) === 'active')
  const ended = tokens.filter((token) => stateOf(token, now) !== 'active')
  const renderAll = (list: readonly ListedToken[]) =>
    html`<ul class="tokens">
      ${list.map((token) => renderToken(token, now, 'h3', actionsOf(workspace, token)))}
    </ul>`
  return html`<section aria-labelledby=${headingId}>
    <div class="head">
      <h2 id=${headingId}><bdi>${workspace.name}</bdi> <span class="hint">your role: ${workspace.role}</span></h2>
      <a class="button primary" href="/settings/tokens/new?workspace=${workspace.id}"
        >New token<span class="unseen"> in <bdi>${workspace.name}</bdi></span></a
      >
    </div>
    ${active.length > 0 && renderAll(active)}
    ${active.length === 0 && search === '' && html`<p class="hint">${ended.length === 0 ? 'No tokens yet.' : 'No active tokens.'}</p>`}
    ${
      ended.length > 0 &&
      html`<details class="ended" open=${search !== ''}>
        <summary>${ended.length} ended ${ended.length === 1 ? 'token' : 'tokens'}</summary>
        ${renderAll(ended)}
      </details>`
    }
  </section>`
}

function actionsOf(workspace: MemberWorkspace, { id, name }: ListedToken): VNode {
  const base = `/settings/tokens/${workspace.id}/${id}`
  return html`<a class="button" href="${base}/rotate"
      >Rotate<span class="unseen"> <bdi>${name}</bdi></span></a
    >
    <a class="button danger" href="${base}/revoke"
      >Revoke<span class="unseen"> <bdi>${name}</bdi></span></a
    >`
}

import type { VNode } from 'preact'
import { card, copyButton, html } from './html.ts'
import type { Page, PageContext } from './page-context.ts'

/** What the service is, and where to go from here: for a person who opens its address. */
export const frontDoor: Page = {
  path: '/',
  anonymous: true,
  get: (context) => ({ title: 'Kanban boards for people and their agents', body: renderFrontDoor(context) }),
}

function renderFrontDoor({ web, url, session }: PageContext): VNode {
  const base = `${url}/v1`
  return html`<div class="entrance">
      <div class="front">
        <h1>Kanban boards for people and their agents</h1>
        <p class="lead">
          Lanekeeper keeps the boards of a team. Programs and agents work on them through an API, each with a token that can do what its
          scope allows and never more than its person. People look at the boards here, and see which token did what.
        </p>
        <p class="actions">
          ${
            session === undefined
              ? html`<a class="button primary" href="/settings/sign-in">Sign in</a>`
              : html`<a class="button primary" href="/app">Open your boards</a> <a class="button" href="/settings/tokens">API tokens</a>`
          }
        </p>
      </div>
      ${card(
        'api',
        'The API',
        html`<dl>
            <dt>Base URL</dt>
            <dd><code id="base-url">${base}</code></dd>
            <dt>Token</dt>
            <dd><a href="/settings/tokens">Create one</a> after you have signed in.</dd>
          </dl>
          <p class="hint">A first request, with your token in place of <code>${'<ACCESS_TOKEN>'}</code>:</p>
          <pre class="example"><code id="example">${`curl -s ${base}/account -H 'Authorization: Bearer <ACCESS_TOKEN>'`}</code></pre>
          <p class="actions">${copyButton('example', 'the command')}</p>`,
      )}
    </div>
    <ul class="doors">
      ${door('/docs', 'API reference', 'Every operation, with examples, and a form to try it.')}
      ${door('/openapi.json', 'OpenAPI document', 'The same for generators and tools.')}
      ${web.hasPolicyPage && door('/policies', 'Policy report', 'Who may do what, from the two tables that decide, with proof.')}
      ${door('/readyz', 'Status', 'Whether the service and its storage are ready now.')}
    </ul> `
}

function door(path: string, label: string, text: string): VNode {
  return html`<li>
    <a class="card" href=${path}><strong>${label}</strong><span class="hint">${text}</span></a>
  </li>`
}

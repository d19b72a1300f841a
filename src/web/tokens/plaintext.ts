import { IssueRefused, type IssuedToken } from '../../auth/tokens/issue.ts'
import { expiryTextOf } from '../../auth/tokens/lifecycle.ts'
import { StorageUnavailable } from '../../store/port.ts'
import { transact } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'
import { notIssuedPage, refusedPage } from '../error-pages.ts'
import { html, renderMessage, secretCard, textToCopy } from '../html.ts'
import { renderTime } from '../times.ts'
import type { MemberWorkspace } from '../memberships.ts'
import type { PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { announce } from '../alerts.ts'

/**
 * Issues a token, notifies its person, and shows its plaintext.
 * @param replaced the id of the token that it replaces, if it is a rotation
 */
export async function showIssued(
  context: SignedInContext,
  workspace: MemberWorkspace,
  issue: (tx: Transaction) => Promise<IssuedToken>,
  replaced?: string,
): Promise<PageResponse> {
  const { web } = context
  const type = replaced === undefined ? 'created' : 'rotated'
  try {
    const issued = await transact(web.store, workspace.id, web.random, issue)
    const { id, user_id, name, scopes, expires_at } = issued.token
    web.log.info(
      { event: `token.${type}`, token_id: id, replaced, user_id, workspace_id: workspace.id, scopes, expires_at },
      `token ${type}`,
    )
    await announce(context, 'token_created', name)
    const operation = replaced === undefined ? 'web.tokens.create' : 'web.tokens.rotate'
    const ids = replaced === undefined ? [id] : [replaced, id]
    return { ...renderPlaintext(context, issued, workspace, replaced !== undefined), audit: { operation, workspaceId: workspace.id, ids } }
  } catch (error) {
    if (error instanceof StorageUnavailable) return notIssuedPage(error)
    if (error instanceof IssueRefused) return refusedPage(error)
    throw error
  }
}

/** The page that shows the plaintext of a new token, the only time that it is shown. */
function renderPlaintext(
  { url }: SignedInContext,
  { plaintext, token }: IssuedToken,
  workspace: MemberWorkspace,
  rotated: boolean,
): PageView {
  const body = html`
    <h1>${rotated ? 'Token rotated: your new token' : 'Your new token'}</h1>
    ${renderMessage('warning', 'The token is shown only this once. Copy it now, and store it in a safe place such as a password manager.')}
    <div data-once>
      ${secretCard(
        'plaintext',
        html`<bdi>${token.name}</bdi>, in <bdi>${workspace.name}</bdi>`,
        plaintext,
        'the token',
        html`<p>
          Scope <code>${token.scopes.join(' ')}</code>, expires${' '}
          ${renderTime(expiryTextOf(token))}.${rotated ? ' The old token no longer works.' : ''}
        </p>`,
      )}
      <section aria-labelledby="examples" class="examples">
        <h2 id="examples">Use it</h2>
        ${examplesOf(url, plaintext).map(
          ({ id, title, text }, i) =>
            html`<details name="example" open=${i === 0}>
              <summary id="${id}-label">${title}</summary>
              <div class="secret">${textToCopy(id, text, `the example for ${title}`)}</div>
            </details>`,
        )}
      </section>
    </div>
    <p><a class="button primary" href="/settings/tokens">I have stored it</a></p>
  `
  return { title: rotated ? 'Token rotated' : 'New token', body }
}

/** A program that uses a token with `lanekeeper-client`. */
export function clientExample(url: string, plaintext: string): string {
  return [
    `// Run it with LANEKEEPER_TOKEN=${plaintext}`,
    `import { createClient } from 'lanekeeper-client'`,
    '',
    `const lk = createClient({ url: '${url}', token: process.env.LANEKEEPER_TOKEN })`,
    'for await (const { name } of lk.boards.list.all()) console.log(name)',
  ].join('\n')
}

/** How to use a token, with the token in it. */
function examplesOf(url: string, plaintext: string): readonly { id: string; title: string; text: string }[] {
  const server = { type: 'http', url: `${url}/mcp`, headers: { Authorization: `Bearer ${plaintext}` } }
  return [
    { id: 'curl', title: 'curl', text: `curl -s ${url}/v1/account -H 'Authorization: Bearer ${plaintext}'` },
    { id: 'client', title: 'JavaScript and TypeScript', text: clientExample(url, plaintext) },
    { id: 'mcp', title: 'MCP', text: JSON.stringify({ mcpServers: { lanekeeper: server } }, null, 2) },
  ]
}

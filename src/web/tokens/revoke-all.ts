import { activeTokens, endToken } from '../../auth/tokens/issue.ts'
import { stateOf } from '../../auth/tokens/lifecycle.ts'
import type { TokenRecord } from '../../model/token.ts'
import { indexes } from '../../store/indexes.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { listAll, transact } from '../../store/transact.ts'
import { formPage } from '../form-page.ts'
import { html, renderMessage } from '../html.ts'
import { logRevoked } from './revoke.ts'
import type { Page, PageAudit, PageView, WebServices } from '../page-context.ts'
import { tellingAddress } from '../told.ts'

/** Tokens that one commit revokes. */
const BATCH = 50

/** Revokes all tokens of a person, in all workspaces that they are or were a member of. */
export const revokeTokensPage: Page = {
  path: '/settings/account/revoke-tokens',
  endsAccess: true,
  async get(context) {
    const { web, session } = context
    const tokens = await activeTokensOf(web, session.user_id)
    const count = tokens.reduce((sum, { active }) => sum + active.length, 0)
    const where = tokens.length === 1 ? 'one workspace' : `${tokens.length} workspaces`
    const extent = `${count === 1 ? 'One active token' : `${count} active tokens`} in ${where}.`
    if (count === 0) return renderNone()
    return formPage(context, {
      ...shared,
      fields: html`<p>
        ${extent} ${count === 1 ? 'What uses it' : 'Everything that uses them'} stops working immediately. This cannot be undone.
      </p>`,
      button: 'Revoke all my tokens',
      isDanger: true,
      cancel: '/settings/account',
    })
  },
  async post(context) {
    const { web, session, address } = context
    const audit: PageAudit[] = []
    for (const { workspaceId, active } of await activeTokensOf(web, session.user_id))
      for (let i = 0; i < active.length; i += BATCH) {
        const ids = await revoke(web, workspaceId, active.slice(i, i + BATCH))
        if (ids.length > 0) audit.push({ operation: 'web.account.revoke_tokens', workspaceId, ids })
      }
    web.log.info({ event: 'web.all_tokens_revoked', user_id: session.user_id, address }, 'all tokens revoked')
    return { redirect: tellingAddress(context, '/settings/account', { tokens: '' }), audit }
  },
}

const shared = { title: 'Revoke all tokens', heading: 'Revoke all my tokens?' }

function renderNone(): PageView {
  const body = html`
    <h1>${shared.heading}</h1>
    ${renderMessage('done', 'You have no active token.')}
    <p><a class="button" href="/settings/account">Back to your account</a></p>
  `
  return { title: shared.title, body }
}

/** The active tokens of a person, by workspace. */
async function activeTokensOf(web: WebServices, userId: string): Promise<{ workspaceId: string; active: TokenRecord[] }[]> {
  const links = await listAll(web, GLOBAL, indexes.workspacesOf(userId))
  const { clock } = web
  const byWorkspace = await Promise.all(
    links.map(async ({ workspace_id }) => {
      const { index, options } = activeTokens(userId, clock)
      const { values } = await transact(web.store, workspace_id, web.random, (tx) => tx.range(index, { ...options, weak: true }))
      const active = values.filter((token) => token !== undefined && stateOf(token, clock()) === 'active')
      return { workspaceId: workspace_id, active: active as TokenRecord[] }
    }),
  )
  return byWorkspace.filter(({ active }) => active.length > 0)
}

/** @returns the ids of the tokens that were active until now */
async function revoke(web: WebServices, workspaceId: string, tokens: readonly TokenRecord[]): Promise<string[]> {
  const ended = await transact(web.store, workspaceId, web.random, async (tx) => {
    const stored = (await tx.read(tokens.map(({ hash }) => keys.token(hash)))).filter((token) => token !== undefined)
    return stored.filter((token) => endToken(tx, token, web.clock) !== token)
  })
  for (const token of ended) logRevoked(web, workspaceId, token)
  return ended.map(({ id }) => id)
}

import type { VNode } from 'preact'
import { endToken, findToken } from '../../auth/tokens/issue.ts'
import type { TokenRecord } from '../../model/token.ts'
import { transact } from '../../store/transact.ts'
import { notFoundPage } from '../error-pages.ts'
import { formPage } from '../form-page.ts'
import { html } from '../html.ts'
import { findMemberToken } from '../memberships.ts'
import type { Page, PageView, SignedInContext, WebServices } from '../page-context.ts'
import { tellingAddress } from '../told.ts'
import { renderHeldCards } from './held-cards.ts'

/** Revokes a token. */
export const revokePage: Page = {
  path: '/settings/tokens/{workspace}/{token}/revoke',
  endsAccess: true,
  async get(context) {
    const found = await findMemberToken(context)
    return found === undefined
      ? notFoundPage()
      : revokeForm(context, found.token, {
          workspace: found.workspace.name,
          held: await renderHeldCards(context, found.workspace.id, found.token.id),
          cancel: '/settings/tokens',
        })
  },
  async post(context) {
    const found = await findMemberToken(context)
    if (found === undefined) return notFoundPage()
    const { web } = context
    const { workspace, token } = found
    const ended = await transact(web.store, workspace.id, web.random, async (tx) => {
      const stored = await findToken(tx, token.id)
      return stored !== undefined && endToken(tx, stored, web.clock) !== stored
    })
    const redirect = tellingAddress(context, '/settings/tokens', { revoked: '' })
    if (!ended) return { redirect, audit: false }
    logRevoked(web, workspace.id, token)
    return { redirect }
  },
}

/**
 * Asks whether a token is to be revoked.
 * @param holder its user, if that is another person
 * @param held what it holds, from {@link renderHeldCards}
 */
export function revokeForm(
  context: SignedInContext,
  { id, name }: TokenRecord,
  {
    workspace,
    holder,
    held,
    cancel,
  }: { readonly workspace: string; readonly holder?: string; readonly held: VNode | undefined; readonly cancel: string },
): PageView {
  return formPage(context, {
    title: 'Revoke token',
    heading: html`Revoke <bdi>${name}</bdi>${holder !== undefined && html` of <bdi>${holder}</bdi>`}?`,
    fields: html`<p>
        Everything that uses <code>${id}</code> in <bdi>${workspace}</bdi> stops working immediately. This cannot be
        undone.${holder !== undefined && html` <bdi>${holder}</bdi> sees that you revoked it, and when.`}
      </p>
      ${held}`,
    button: 'Revoke token',
    isDanger: true,
    cancel,
  })
}

/**
 * Logs that a token was revoked.
 * @param by who did it; default: its owner
 */
export function logRevoked({ log }: WebServices, workspaceId: string, { id, user_id }: TokenRecord, by = 'owner'): void {
  log.info({ event: 'token.revoked', token_id: id, user_id, workspace_id: workspaceId, by }, 'token revoked')
}

import type { VNode } from 'preact'
import { MAX_TOKEN_DAYS } from '../../model/account.ts'
import { timestamp } from '../../model/time.ts'
import type { TokenRecord, TokenRules } from '../../model/token.ts'
import type { Workspace } from '../../model/workspace.ts'
import { keys } from '../../store/keys.ts'
import { html, renderMessage } from '../html.ts'
import { sizeText } from '../size-text.ts'
import { field, formActions, postForm } from '../form-page.ts'
import { renderTime } from '../times.ts'
import { renderToken } from '../tokens/token-item.ts'
import { workspacesOf } from '../memberships.ts'
import type { Page, PageView, SignedInContext } from '../page-context.ts'
import { tellingAddress, toldBy } from '../told.ts'
import { memberTokens, type MemberTokens } from './members.ts'
import { ifAllowed } from './permission.ts'
import { rulesInput } from './rules.ts'

const PATH = '/settings/workspace'

/** Lists the workspaces of a person. What they may do there is decided on the page of each. */
export const workspacesPage: Page = {
  path: PATH,
  async get({ web, session }) {
    const workspaces = await workspacesOf(web, session.user_id)
    if (workspaces.length === 1) return { redirect: `${PATH}/${workspaces[0]!.id}` }
    const body = html`
      <h1>Workspaces</h1>
      ${
        workspaces.length === 0
          ? renderMessage('warning', 'You are not a member of any workspace. Ask your administrator to add you to one.')
          : html`<p>Owners and admins see the tokens of all members, decide about new ones, and read the audit trail.</p>`
      }
      <ul class="card plain">
        ${workspaces.map(({ id, name, role }) => html`<li><a href="${PATH}/${id}" dir="auto">${name}</a> <span class="hint">your role: ${role}</span></li>`)}
      </ul>
    `
    return { title: 'Workspaces', body }
  },
}

/** The tokens of the members of a workspace, and the rules for new ones. */
export const workspacePage: Page = {
  path: `${PATH}/{workspace}`,
  get: (context) => render(context),
  async post(context) {
    const parsed = rulesInput.safeParse(Object.fromEntries(context.form))
    const decided = await ifAllowed(context, 'workspace.token_rules', async (tx) => {
      if (!parsed.success) return
      const { session, web } = context
      await tx.get(keys.tokenRules())
      const rules: TokenRules = {
        max_days: parsed.data.max_days,
        admin: parsed.data.admin === 'on',
        updated_at: timestamp(web.clock),
        updated_by: session.user_id,
      }
      tx.put(keys.tokenRules(), rules)
    })
    if ('page' in decided) return decided.page
    if (!parsed.success) return render(context, { status: 422, error: parsed.error.issues[0]!.message })
    const workspaceId = context.params['workspace']!
    return {
      redirect: tellingAddress(context, `${PATH}/${workspaceId}`, { changed: '' }),
      audit: { operation: 'web.workspace.token_rules', workspaceId, rows: [decided.row] },
    }
  },
}

async function render(context: SignedInContext, { status = 200, error }: { status?: number; error?: string } = {}): Promise<PageView> {
  const { web, form } = context
  const told = toldBy(context)
  const decided = await ifAllowed(context, 'workspace.tokens', async (tx, workspace) => ({
    workspace,
    rules: await tx.get(keys.tokenRules()),
    lists: await memberTokens(tx, web.clock),
    files: (await tx.get(keys.fileBytes()))?.bytes ?? 0,
  }))
  if ('page' in decided) return decided.page
  const { workspace, rules, lists, files } = decided.result
  const most = web.services().workspaceBytes
  const base = `${PATH}/${workspace.id}`
  const days = form.get('max_days') ?? String(rules?.max_days ?? MAX_TOKEN_DAYS)
  const body = html`
    <h1 dir="auto">${workspace.name}</h1>
    ${told.has('revoked') && renderMessage('done', 'The token is revoked. It no longer works. Its user sees who revoked it.')}
    ${told.has('changed') && renderMessage('done', 'The rules are changed. They hold for new tokens; those that exist stay as they are.')}
    ${error && renderMessage('error', `The rules were not changed: the lifetime ${error}.`)}
    <p>Its files have ${sizeText(files)}${most !== Infinity && ` of ${sizeText(most)}`}.</p>
    <p class="actions"><a class="button" href="${base}/members">Members</a> <a class="button" href="${base}/audit">Audit trail</a></p>
    <section aria-labelledby="rules">
      <h2 id="rules">Rules for new tokens</h2>
      ${renderRules(context, base, days, rules, error)}
    </section>
    <section aria-labelledby="members">
      <h2 id="members">Tokens of members</h2>
      ${lists.map((list) => renderMember(workspace, list, web.clock()))}
    </section>
  `
  return { title: `Tokens of ${workspace.name}`, body, status }
}

function renderRules(
  { session }: SignedInContext,
  base: string,
  days: string,
  rules: TokenRules | undefined,
  error: string | undefined,
): VNode {
  const fields = html`${field({ name: 'max_days', label: 'Maximum lifetime in days', hint: `From 1 to ${MAX_TOKEN_DAYS}. A rotation follows it too.`, type: 'number', min: 1, max: MAX_TOKEN_DAYS, required: true, value: days }, error === undefined ? undefined : { errors: { max_days: [error] } })}
    <div class="option">
      <input type="checkbox" id="admin" name="admin" checked=${rules?.admin ?? true} aria-describedby="admin-hint" />
      <label for="admin">Tokens with <code>kanban:admin</code> may be issued</label>
      <p class="hint" id="admin-hint">They can delete boards and cards, and change who sees a board.</p>
    </div>
    ${rules !== undefined && html`<p class="hint">Last changed ${renderTime(rules.updated_at)}.</p>`} ${formActions('Save')}`
  return postForm({ action: base, token: session.form_token, fields })
}

function renderMember(workspace: Workspace, { member, tokens }: MemberTokens, now: number): VNode {
  return html`<section class="member" aria-label=${member.display_name}>
    <h3><bdi>${member.display_name}</bdi> <span class="hint">${member.role}</span></h3>
    ${
      tokens.length === 0
        ? html`<p class="hint">No tokens.</p>`
        : html`<ul class="tokens">
            ${tokens.map((token) => renderToken(token, now, 'h4', revokeLink(workspace, member.display_name, token)))}
          </ul>`
    }
  </section>`
}

function revokeLink(workspace: Workspace, holder: string, { id, name }: TokenRecord): VNode {
  const path = `${PATH}/${workspace.id}/tokens/${id}/revoke`
  return html`<a class="button danger" href=${path}
    >Revoke<span class="unseen"> <bdi>${name}</bdi> of <bdi>${holder}</bdi></span></a
  >`
}

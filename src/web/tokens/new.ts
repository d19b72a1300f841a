import { z } from 'zod'
import { hasRoomForToken } from '../../auth/tokens/issue.ts'
import { MAX_TOKEN_DAYS, tokenDays, tokenName, type Confirmation } from '../../model/account.ts'
import { newId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { scopes, type Scope } from '../../model/token.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { allowances } from './allowances.ts'
import { TOO_MANY, notFoundPage } from '../error-pages.ts'
import { field, formPage, type Refusal } from '../form-page.ts'
import { html } from '../html.ts'
import { tokensOf, workspaceOf, type MemberWorkspace } from '../memberships.ts'
import type { Page, PageView, SignedInContext } from '../page-context.ts'
import { brokenRules, rulesOf } from '../workspace/rules.ts'
import { daysOf, DEFAULT_DAYS, renderLifetime } from './lifetime.ts'

/** Maximum number of unconfirmed tokens per session. When it is exceeded, the oldest one is discarded. */
const MAX_CONFIRMATIONS = 5
const input = z.object({ name: tokenName, scope: z.enum(scopes, 'choose one of these scopes'), days: tokenDays })

/** Chooses the name, scope and lifetime of a new token. It is created on the next page, after confirmation. */
export const newTokenPage: Page = {
  path: '/settings/tokens/new',
  keeps: ['workspace', 'name', 'scope', 'days', 'custom_days'],
  async get(context) {
    const workspace = await workspaceOf(context.web, context.session.user_id, context.query.get('workspace') ?? '')
    return workspace === undefined
      ? notFoundPage()
      : renderNewToken(context, workspace, {
          name: await freeName(context, workspace.id),
          scope: 'kanban:read',
          ...Object.fromEntries(context.query),
        })
  },
  async post(context) {
    const { web, session, form } = context
    const workspace = await workspaceOf(web, session.user_id, form.get('workspace') ?? '')
    if (workspace === undefined) return notFoundPage()
    const values = Object.fromEntries(form)
    const parsed = input.safeParse({ ...values, days: daysOf(form) })
    if (!parsed.success) return renderNewToken(context, workspace, values, { errors: z.flattenError(parsed.error).fieldErrors })
    const { name, scope, days } = parsed.data
    const broken = brokenRules(await rulesOf(web, workspace.id), scope, days)
    if (Object.keys(broken).length > 0) return renderNewToken(context, workspace, values, { errors: broken })
    const hasRoom = await transact(web.store, workspace.id, web.random, (tx) => hasRoomForToken(tx, session.user_id, web.clock))
    if (!hasRoom) return renderNewToken(context, workspace, values, { error: TOO_MANY })
    const confirmation: Confirmation = { id: newId('confirmation', web.random), workspace_id: workspace.id, name, scopes: [scope], days }
    await transact(web.store, GLOBAL, web.random, async (tx) => {
      const stored = await tx.get(keys.session(session.hash))
      if (stored === undefined) return
      const confirmations = [...stored.confirmations.slice(1 - MAX_CONFIRMATIONS), confirmation]
      tx.put(keys.session(session.hash), { ...stored, confirmations })
    })
    return { redirect: `/settings/confirm/${confirmation.id}`, audit: false }
  },
}

/** The first name of agent-01, agent-02, … that none of the person's listed tokens has: each agent can be told from the others. */
async function freeName({ web, session }: SignedInContext, workspaceId: string): Promise<string> {
  const used = new Set((await tokensOf(web, session.user_id, workspaceId)).map(({ name }) => name))
  const nameOf = (number: number) => `agent-${String(number).padStart(2, '0')}`
  let number = 1
  while (used.has(nameOf(number))) number++
  return nameOf(number)
}

async function renderNewToken(
  context: SignedInContext,
  workspace: MemberWorkspace,
  values: Record<string, string>,
  refusal?: Refusal,
): Promise<PageView> {
  const { web } = context
  const rules = await rulesOf(web, workspace.id)
  const days = Math.min(MAX_TOKEN_DAYS, rules.max_days)
  const [scopeError] = refusal?.errors?.['scope'] ?? []
  const chosen = values['days'] === undefined ? String(Math.min(DEFAULT_DAYS, days)) : daysOf(new URLSearchParams(values))
  const renderOption = (scope: Scope, capability: string) =>
    html`<div class="option">
      <input type="radio" id=${scope} name="scope" value=${scope} checked=${values['scope'] === scope} aria-describedby="${scope}-allows" />
      <label for=${scope}><code>${scope}</code></label>
      <p class="hint" id="${scope}-allows">${capability}</p>
    </div>`
  return formPage(
    context,
    {
      title: 'New token',
      heading: html`New token in <bdi>${workspace.name}</bdi>`,
      hidden: { workspace: workspace.id },
      fields: html`${field({ name: 'name', label: 'Name', hint: 'Which agent or program uses it. Everybody who can see its work sees this name.', required: true, maxlength: limits.tokenName, dir: 'auto', value: values['name'], autocomplete: 'off' }, refusal)}
        <fieldset aria-describedby=${scopeError && 'scope-error'}>
          <legend>Scope</legend>
          ${allowances(web.services().engine, [rules.admin ? 'kanban:admin' : 'kanban:write']).map(({ scope, capability }) => renderOption(scope, capability))}
          ${!rules.admin && html`<p class="hint">This workspace does not issue tokens with <code>kanban:admin</code>.</p>`}
          ${scopeError && html`<p class="error" id="scope-error">${scopeError}</p>`}
        </fieldset>
        ${renderLifetime({ days: chosen, max: days, error: refusal?.errors?.['days']?.[0], now: web.clock() })}`,
      button: 'Continue',
      cancel: '/settings/tokens',
      note: 'This does not create the token yet. The next page shows exactly what it can do.',
    },
    refusal,
  )
}

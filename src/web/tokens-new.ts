import { z } from 'zod'
import { newId } from '../model/ids.ts'
import { tokenDays, tokenName, type Confirmation } from '../model/account.ts'
import { scopes, type Scope } from '../model/token.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { allowances } from './allowances.ts'
import { workspaceOf, type OwnWorkspace } from './memberships.ts'
import { field, html } from './html.ts'
import { notFoundPage } from './error-pages.ts'
import type { Page, PageView, SignedInContext } from './page-context.ts'

/** So many may wait to be confirmed in one session; the oldest goes. */
const MOST_WAITING = 5
const input = z.object({ name: tokenName, scope: z.enum(scopes, 'choose one of these'), days: tokenDays })
type FieldErrors = Readonly<Partial<Record<'name' | 'scope' | 'days', readonly string[]>>>

/** Choosing what a token is to be. Nothing is issued here: what was chosen is shown again, to be confirmed. */
export const newTokenPage: Page = {
  path: '/settings/tokens/new',
  open: false,
  async get(visit) {
    const workspace = await workspaceOf(visit.web, visit.session.user_id, visit.query.get('workspace') ?? '')
    return workspace === undefined ? notFoundPage() : renderNewToken(visit, workspace, { name: '', scope: 'kanban:read', days: '30' })
  },
  async post(visit) {
    const { web, session, form } = visit
    const workspace = await workspaceOf(web, session.user_id, form.get('workspace') ?? '')
    if (workspace === undefined) return notFoundPage()
    const parsed = input.safeParse(Object.fromEntries(form))
    if (!parsed.success) return renderNewToken(visit, workspace, Object.fromEntries(form), z.flattenError(parsed.error).fieldErrors)
    const { name, scope, days } = parsed.data
    const confirmation: Confirmation = { id: newId('confirmation', web.random), workspace_id: workspace.id, name, scopes: [scope], days }
    await transact(web.store, GLOBAL, web.random, async (tx) => {
      const present = await tx.get(keys.session(session.hash))
      if (present === undefined) return
      const waiting = [...present.confirmations.slice(1 - MOST_WAITING), confirmation]
      tx.put(keys.session(session.hash), { ...present, confirmations: waiting })
    })
    return { redirect: `/settings/confirm/${confirmation.id}` }
  },
}

function renderNewToken(
  { web, session }: SignedInContext,
  workspace: OwnWorkspace,
  chosen: Record<string, string>,
  problems: FieldErrors = {},
): PageView {
  const known = allowances(web.engine, ['kanban:admin'])
  const error = problems.scope?.[0]
  const option = (scope: Scope, capability: string) =>
    html`<div class="option">
      <input type="radio" id=${scope} name="scope" value=${scope} checked=${chosen['scope'] === scope} aria-describedby="${scope}-allows" />
      <label for=${scope}><code>${scope}</code></label>
      <p class="hint" id="${scope}-allows">${capability}</p>
    </div>`
  const body = html`
    <h1>New token in ${workspace.name}</h1>
    <form method="post" action="/settings/tokens/new" class="card">
      <input type="hidden" name="form_token" value=${session.form_token} />
      <input type="hidden" name="workspace" value=${workspace.id} />
      ${field({ name: 'name', label: 'Name', hint: 'What it is for, so that you know it again.', error: problems.name?.[0], required: true, maxlength: 100, value: chosen['name'], autocomplete: 'off' })}
      <fieldset aria-describedby=${error && 'scope-error'}>
        <legend>Scope</legend>
        ${known.map(({ scope, capability }) => option(scope, capability))} ${error && html`<p class="error" id="scope-error">${error}</p>`}
      </fieldset>
      ${field({ name: 'days', label: 'Lifetime in days', hint: '1 to 90.', error: problems.days?.[0], type: 'number', min: 1, max: 90, required: true, value: chosen['days'] })}
      <p class="actions"><button class="primary">Go on</button> <a class="button" href="/settings/tokens">Cancel</a></p>
      <p class="hint">Nothing is issued yet. You will see exactly what the token will be able to do.</p>
    </form>
  `
  return { title: 'New token', body, status: Object.keys(problems).length > 0 ? 422 : 200 }
}

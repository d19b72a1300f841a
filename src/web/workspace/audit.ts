import { readTrail } from '../../audit/trail.ts'
import { renderEntries } from '../activity/entries-view.ts'
import { ENTRIES, matchesFilters, readFilters, renderFilters, renderOlder } from '../activity/filters.ts'
import { html } from '../html.ts'
import type { Page } from '../page-context.ts'
import { memberTokens } from './members.ts'
import { ifAllowed } from './permission.ts'

/** The audit trail of a workspace. */
export const workspaceAuditPage: Page = {
  path: '/settings/workspace/{workspace}/audit',
  async get(context) {
    const { web, query } = context
    const decided = await ifAllowed(context, 'workspace.audit', async (tx, workspace) => ({
      workspace,
      lists: await memberTokens(tx, web.clock),
    }))
    if ('page' in decided) return decided.page
    const { workspace, lists } = decided.result
    const filters = readFilters(query)
    const { entries, next } = await readTrail(web, {
      sources: [{ partition: workspace.id, userId: filters.user }],
      matches: matchesFilters(filters),
      limit: ENTRIES,
      before: filters.before,
    })
    const names = new Map(lists.map(({ member }) => [member.user_id, member.display_name]))
    const path = `/settings/workspace/${workspace.id}/audit`
    const choices = {
      user: [...names].map(([value, label]) => ({ value, label })),
      token: lists.flatMap(({ member, tokens }) =>
        tokens.map(({ id, name }) => ({ value: id, label: `${name} of ${member.display_name} (${id.slice(-4)})` })),
      ),
    }
    const body = html`
      <h1>Audit trail of ${workspace.name}</h1>
      <p><a href="/settings/workspace/${workspace.id}">Tokens and rules</a></p>
      <p>
        Every change in the workspace and everything that was denied: who, with which token, from where. Reads that were allowed are not
        listed.
      </p>
      ${renderFilters(path, filters, choices)} ${renderEntries(entries, { path, user: (id) => names.get(id) })}
      ${renderOlder(path, filters, next)}
    `
    return { title: `Audit trail of ${workspace.name}`, body, layout: 'wide' }
  },
}

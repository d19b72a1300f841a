import { authorName } from '../../model/author.ts'
import { renderTrail } from '../activity/trail-view.ts'
import { html } from '../html.ts'
import type { Page } from '../page-context.ts'
import { memberTokens } from './members.ts'
import { ifAllowed } from './permission.ts'

/** The audit trail of a workspace. */
export const workspaceAuditPage: Page = {
  path: '/settings/workspace/{workspace}/audit',
  async get(context) {
    const decided = await ifAllowed(context, 'workspace.audit', async (tx, workspace) => ({
      workspace,
      lists: await memberTokens(tx, context.web.clock),
    }))
    if ('page' in decided) return decided.page
    const { workspace, lists } = decided.result
    const trail = await renderTrail(context, {
      partitions: [workspace.id],
      tokens: lists.flatMap(({ member, tokens }) =>
        tokens.map(({ id, name }) => ({ value: id, label: `${authorName(member.display_name, name)} (${id.slice(-4)})` })),
      ),
      people: new Map(lists.map(({ member }) => [member.user_id, member.display_name])),
    })
    const body = html`
      <h1>Audit trail of <bdi>${workspace.name}</bdi></h1>
      <p><a href="/settings/workspace/${workspace.id}">Tokens and rules</a></p>
      <p>
        Every change in the workspace and everything that was denied: who, with which token, from where. Reads that were allowed are not
        listed.
      </p>
      ${trail}
    `
    return { title: `Audit trail of ${workspace.name}`, body, layout: 'wide' }
  },
}

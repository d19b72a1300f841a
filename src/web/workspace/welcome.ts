import type { Session } from '../../model/account.ts'
import { indexes } from '../../store/indexes.ts'
import { html } from '../html.ts'
import { workspacesOf } from '../memberships.ts'
import type { Page, PageContext, PageResponse } from '../page-context.ts'
import { ifAllowed } from './permission.ts'

/** What a person finds who signs up to a workspace without boards, and may invite others: the way to a first board and to colleagues. */
export const welcomePage: Page = {
  path: '/app/{workspace}/welcome',
  async get(context) {
    const decided = await ifAllowed(context, 'workspace.members', async (_tx, { id, name }) => ({ id, name }))
    if ('page' in decided) return decided.page
    const { id, name } = decided.result
    const body = html`
      <h1>Welcome to <bdi>${name}</bdi></h1>
      <p>Two steps, in any order. You can come back to each at any time.</p>
      <div class="first">
        <div class="card">
          <h2>Create the first board</h2>
          <p>Empty, or with four columns: To do, Doing, Review and Done.</p>
          <p><a class="button primary" href="/app/${id}/do/boards.create">New board</a></p>
        </div>
        <div class="card">
          <h2>Invite your colleagues</h2>
          <p>By e-mail address. Each gets a link to sign up.</p>
          <p><a class="button" href="/settings/workspace/${id}/members/invite">Invite a member</a></p>
        </div>
      </div>
      <p><a href="/app">Skip this</a></p>
    `
    return { title: `Welcome to ${name}`, body }
  },
}

/**
 * Leads a person who has signed in for the first time to the welcome page, if there is one for them. Nobody signs up twice, so it leads
 * there once.
 */
export async function welcome(context: PageContext, session: Session, response: PageResponse): Promise<PageResponse> {
  const { web } = context
  for (const { id } of await workspacesOf(web, session.user_id)) {
    const asked = { web, session, params: { workspace: id } }
    const decided = await ifAllowed(asked, 'workspace.members', async (tx) => tx.range(indexes.workspaceBoards(), { limit: 1, weak: true }))
    if ('result' in decided && decided.result.entries.length === 0) return { ...response, redirect: `/app/${id}/welcome` }
  }
  return response
}

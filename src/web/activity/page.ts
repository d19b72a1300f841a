import { GLOBAL } from '../../store/keys.ts'
import { html } from '../html.ts'
import { tokensOf, workspacesOf } from '../memberships.ts'
import type { Page } from '../page-context.ts'
import { renderTrail } from './trail-view.ts'

/** What a person's own tokens and sessions did, and what others did with their tokens. */
export const activityPage: Page = {
  path: '/settings/activity',
  async get(context) {
    const { web, session } = context
    const workspaces = await workspacesOf(web, session.user_id)
    const lists = await Promise.all(workspaces.map(({ id }) => tokensOf(web, session.user_id, id)))
    const names = new Map(workspaces.map(({ id, name }) => [id, name]))
    const trail = await renderTrail(context, {
      partitions: [...names.keys(), GLOBAL],
      tokens: lists.flat().map(({ id, name }) => ({ value: id, label: `${name} (${id.slice(-4)})` })),
      reader: session.user_id,
      workspace: workspaces.length > 1 ? (id) => names.get(id) : undefined,
    })
    const body = html`
      <h1>Activity</h1>
      <p>
        Every change that was made with your tokens or in your sessions, and everything that was denied. Reads that were allowed are not
        listed.
      </p>
      ${trail}
    `
    return { title: 'Activity', body }
  },
}

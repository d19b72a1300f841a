import { readTrail } from '../../audit/trail.ts'
import { GLOBAL } from '../../store/keys.ts'
import { html } from '../html.ts'
import { tokensOf, workspacesOf } from '../memberships.ts'
import type { Page } from '../page-context.ts'
import { renderEntries } from './entries-view.ts'
import { ENTRIES, matchesFilters, readFilters, renderFilters, renderOlder } from './filters.ts'

const PATH = '/settings/activity'

/** What a person's own tokens and sessions did, and what others did with their tokens. */
export const activityPage: Page = {
  path: PATH,
  async get({ web, session, query }) {
    const filters = { ...readFilters(query), user: undefined }
    const workspaces = await workspacesOf(web, session.user_id)
    const partitions = [...workspaces.map(({ id }) => id), GLOBAL]
    const [{ entries, next }, ...lists] = await Promise.all([
      readTrail(web, {
        sources: partitions.map((partition) => ({ partition, userId: session.user_id })),
        matches: matchesFilters(filters),
        limit: ENTRIES,
        before: filters.before,
      }),
      ...workspaces.map(({ id }) => tokensOf(web, session.user_id, id)),
    ])
    const names = new Map(workspaces.map(({ id, name }) => [id, name]))
    const tokens = lists.flat().map(({ id, name }) => ({ value: id, label: `${name} (${id.slice(-4)})` }))
    const body = html`
      <h1>Activity</h1>
      <p>
        Every change that was made with your tokens or in your sessions, and everything that was denied. Reads that were allowed are not
        listed.
      </p>
      ${renderFilters(PATH, filters, { token: tokens })}
      ${renderEntries(entries, {
        path: PATH,
        reader: session.user_id,
        ...(workspaces.length > 1 && { workspace: (id: string) => names.get(id) }),
      })}
      ${renderOlder(PATH, filters, next)}
    `
    return { title: 'Activity', body }
  },
}

import { z } from 'zod'
import { listPage, pageQuery } from '../../listing/pages.ts'
import type { Membership } from '../../model/workspace.ts'
import { indexes } from '../../store/indexes.ts'
import { operation } from '../operation.ts'
import { directoryEntry } from './schema.ts'

/** The member directory of the workspace (spec §2, §4). */
export const memberOperations = [
  operation({
    id: 'members.list',
    method: 'GET',
    path: '/members',
    summary: 'Lists the members of the workspace, in the order they joined.',
    needs: ['read', 'Directory'],
    row: 'P1',
    query: z.strictObject(pageQuery('members.list')),
    data: z.array(directoryEntry),
    async run({ tx, query }) {
      const { data, ...page } = await listPage(tx, 'members.list', indexes.members(), query)
      return { ...page, data: data.map(toDirectoryEntry) }
    },
  }),
]

/** What the member directory says of a member. */
export function toDirectoryEntry({ user_id, role, display_name, avatar_url }: Membership): z.infer<typeof directoryEntry> {
  return { user_id, role, display_name, avatar_url }
}

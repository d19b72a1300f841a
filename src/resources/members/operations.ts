import { directoryEntry } from './schema.ts'
import { z } from 'zod'
import { type Membership } from '../../model/workspace.ts'
import { indexes } from '../../store/indexes.ts'
import { operation } from '../operation.ts'
import { listPage, pageQuery } from '../../listing/pages.ts'

const toEntry = ({ user_id, role, display_name, avatar_url }: Membership) => ({ user_id, role, display_name, avatar_url })

/** The member directory of the workspace (spec §2, §4). */
export const memberOperations = [
  operation({
    id: 'members.list',
    method: 'GET',
    path: '/members',
    summary: 'Lists the members of the workspace, in the order in which they came.',
    needs: ['read', 'Directory'],
    row: 'P1',
    query: z.strictObject(pageQuery('members.list')),
    data: z.array(directoryEntry),
    load: async () => ({}),
    run: ({ tx, query }) => listPage(tx, 'members.list', indexes.members(), query, toEntry),
  }),
]

import { keys } from '../../src/store/keys.ts'
import type { Service } from './service.ts'
import type { Stage } from './stage.ts'

/** How an operation is asked for: what goes into its path and its body. */
export interface Recipe {
  /** path parameters other than those of the same name that the stage has */
  readonly params?: (stage: Stage) => Record<string, string>
  readonly body?: (stage: Stage, field: string | undefined) => unknown
  /** brings about what the operation needs besides its situation */
  readonly prepare?: (stage: Stage, service: Service) => Promise<void>
  /** of a list decided item by item: the item that the situation is about */
  readonly listed?: (stage: Stage) => string
  /** whether asking changes what others would find */
  readonly changes: boolean
}

const values: Record<string, unknown> = {
  name: 'New',
  description: 'New',
  cover_color: '#00ff00',
  visibility: 'private',
  creator_id: 'usr_00000000000000000000',
}

/** A recipe for every operation of the table. One that is missing is a red test. */
export const recipes: Readonly<Record<string, Recipe>> = {
  'account.read': { changes: false },
  'members.list': { changes: false },
  'boards.list': { changes: false, listed: ({ params }) => params['board_id']! },
  'boards.create': { changes: true, body: () => ({ name: 'New' }) },
  'boards.read': { changes: false },
  'boards.update': { changes: true, body: (_stage, field) => ({ [field ?? 'name']: values[field ?? 'name'] }) },
  'boards.set_visibility': { changes: true, body: () => ({ visibility: 'private' }) },
  'boards.delete': { changes: true },
  'board_members.list': { changes: false },
  'board_members.add': { changes: true },
  'board_members.remove': {
    changes: true,
    async prepare({ caller, params }, service) {
      const [boardId, userId] = [params['board_id']!, params['user_id']!]
      const at = '2026-11-01T00:00:00.000Z'
      await service.write(caller.workspaceId, async (tx) => {
        await tx.get(keys.boardMember(boardId, userId))
        tx.put(keys.boardMember(boardId, userId), { board_id: boardId, user_id: userId, board_created_at: at, added_at: at })
      })
    },
  },
}

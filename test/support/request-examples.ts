import { keys, type Key } from '../../src/store/keys.ts'
import type { Service } from './service.ts'
import type { Scenario } from './scenario.ts'

/** How an operation is asked for: what goes into its body, and what it needs besides its situation. */
export interface RequestExample {
  readonly body?: (stage: Scenario, field: string | undefined) => unknown
  /** brings about what the operation needs besides its situation */
  readonly prepare?: (stage: Scenario, service: Service) => Promise<void>
  /** of a list decided item by item: the item that the situation is about */
  readonly listed?: (stage: Scenario) => string
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
const reads: RequestExample = { changes: false }
const changes: RequestExample = { changes: true }
const sends = (body: unknown): RequestExample => ({ changes: true, body: () => body })

/** Changes a record of the stage behind the API's back. */
function amend<T extends object>(
  keyOf: (stage: Scenario) => Key<T>,
  change: (stage: Scenario) => Partial<T>,
): NonNullable<RequestExample['prepare']> {
  return (stage, service) =>
    service.write(stage.caller.workspaceId, async (tx) => {
      const key = keyOf(stage)
      tx.put(key, { ...((await tx.get(key)) as T), ...change(stage) })
    })
}

const theCard = ({ params }: Scenario) => keys.card(params['card_id']!)

/** A recipe for every operation of the table. One that is missing is a red test. */
export const requestExamples: Readonly<Record<string, RequestExample>> = {
  'account.read': reads,
  'members.list': reads,
  'boards.list': { changes: false, listed: ({ params }) => params['board_id']! },
  'boards.create': sends({ name: 'New' }),
  'boards.read': reads,
  'boards.update': { changes: true, body: (_stage, field) => ({ [field ?? 'name']: values[field ?? 'name'] }) },
  'boards.set_visibility': sends({ visibility: 'private' }),
  'boards.delete': changes,
  'board_members.list': reads,
  'board_members.add': changes,
  'board_members.remove': {
    changes: true,
    prepare: amend(
      ({ params }) => keys.boardMember(params['board_id']!, params['user_id']!),
      ({ params }) => ({
        board_id: params['board_id']!,
        user_id: params['user_id']!,
        board_created_at: '2026-11-01',
        added_at: '2026-11-01',
      }),
    ),
  },
  'columns.list': reads,
  'columns.read': reads,
  'columns.create': sends({ name: 'New' }),
  'columns.rename': sends({ name: 'New' }),
  'columns.move': sends({ to: 'first' }),
  'columns.archive': changes,
  'columns.restore': changes,
  'cards.list': reads,
  'cards.read': reads,
  'cards.create': { changes: true, body: ({ params }) => ({ column_id: params['column_id'], title: 'New' }) },
  'cards.update': sends({ title: 'New' }),
  'cards.move': sends({ to: 'first' }),
  'cards.complete': sends({ completed: true }),
  'cards.archive': changes,
  'cards.restore': changes,
  'cards.delete': changes,
  'labels.list': reads,
  'labels.read': reads,
  'labels.create': sends({ name: 'New', color: '#ffffff' }),
  'labels.delete': changes,
  'cards.assign': changes,
  'cards.unassign': { changes: true, prepare: amend(theCard, ({ params }) => ({ assignee_ids: [params['user_id']!] })) },
  'cards.apply_label': changes,
  'cards.remove_label': { changes: true, prepare: amend(theCard, ({ params }) => ({ label_ids: [params['label_id']!] })) },
  'subtasks.list': reads,
  'subtasks.read': reads,
  'subtasks.create': sends({ title: 'New' }),
  'subtasks.update': sends({ title: 'New' }),
  'subtasks.delete': changes,
  'comments.list': reads,
  'comments.read': reads,
  'comments.create': sends({ body: 'New' }),
  'comments.update': sends({ body: 'New' }),
  'comments.delete': changes,
  'attachments.list': reads,
  'attachments.read': reads,
  'attachments.download': reads,
  'attachments.attach': { changes: true, body: ({ params }) => ({ file_id: params['free_file_id'] }) },
  'attachments.detach': changes,
  'cards.set_cover': { changes: true, body: ({ params }) => ({ attachment_id: params['attachment_id'] }) },
  'cards.clear_cover': changes,
  'files.update': sends({ visibility: 'private' }),
}

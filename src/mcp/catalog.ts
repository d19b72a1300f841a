/** What the calls of a tool do to the workspace. The annotations of the tool follow from it. */
export type Effect =
  /** changes nothing */
  | 'read'
  /** adds something */
  | 'add'
  /** changes what another call can set back; repeating a call changes nothing more */
  | 'arrange'
  /** replaces or deletes what no call can bring back; repeating a call changes nothing more */
  | 'replace'
  /** all of this in one call */
  | 'any'

/** A tool: operations that belong to one task and have one effect. */
export interface ToolRow {
  /** a verb, and what it acts on: many models see nothing else before they choose */
  readonly name: string
  readonly title: string
  /** what decides whether to choose it. The summaries of several operations follow; one operation has its own if this is missing. */
  readonly description?: string
  readonly effect: Effect
  /** ids of the operations table */
  readonly operations: readonly string[]
  /** the operation uploads a text ({@link textFile}), which takes the place of its body */
  readonly uploadsText?: boolean
}

/**
 * The tools, in the order of the list. One tool per operation would take three times as many tokens of a model's context, so
 * operations of one task share a tool, whose argument `operation` selects one of them. Operations that can lose something
 * never share a tool with those that cannot: clients ask their users before they call tools that can.
 */
export const tools: readonly ToolRow[] = [
  {
    name: 'read_account_and_members',
    title: 'Read your account and the members',
    description:
      'Tells who you are, what your token may do, who is in the workspace, and what your person has to know. Begin with account.read.',
    effect: 'read',
    operations: ['account.read', 'members.list', 'board_members.list', 'boards.assignable', 'notices.list'],
  },
  {
    name: 'read_boards',
    title: 'Read boards, columns and labels',
    description: 'boards.read with include=["columns","labels","members"] has the ids that other calls need.',
    effect: 'read',
    operations: ['boards.list', 'boards.read', 'columns.list', 'columns.read', 'labels.list', 'labels.read'],
  },
  {
    name: 'read_changes',
    title: 'Read what has changed',
    description:
      'What has changed on a board, in order, and who did it. Keep page.next_cursor: as `after`, it gives what came later. fields=["kind","action","actor_id"] leaves out the objects themselves.',
    effect: 'read',
    operations: ['boards.changes'],
  },
  {
    name: 'find_cards',
    title: 'Find and read cards',
    description: 'For your work, use cards.search with assignee_id="me" and completed=false. ready=true: what can be begun.',
    effect: 'read',
    operations: ['cards.search', 'cards.list', 'cards.read'],
  },
  {
    name: 'read_comments_subtasks_files',
    title: 'Read the comments, subtasks and attachments of a card',
    description: 'What is on a card apart from its own members.',
    effect: 'read',
    operations: ['comments.list', 'comments.read', 'subtasks.list', 'subtasks.read', 'attachments.list', 'attachments.read', 'files.read'],
  },
  {
    name: 'check_access',
    title: 'Check access',
    effect: 'read',
    operations: ['access.evaluate', 'access.search_action'],
  },
  {
    name: 'claim_next_card',
    title: 'Claim the next card',
    effect: 'add',
    operations: ['claims.take_next'],
  },
  {
    name: 'renew_claim',
    title: 'Renew your claim of a card, or claim a given card',
    effect: 'arrange',
    operations: ['claims.take'],
  },
  {
    name: 'end_claim',
    title: 'End a claim: release, fail, or ask',
    description: 'For a card that you do not finish.',
    effect: 'add',
    operations: ['claims.release', 'claims.fail', 'claims.ask'],
  },
  {
    name: 'create_card',
    title: 'Create a card',
    effect: 'add',
    operations: ['cards.create'],
  },
  {
    name: 'add_comment_subtask_file',
    title: 'Add a comment, an answer, a subtask or a stored file to a card',
    description: 'Adds to a card. For a new text file, use attach_text.',
    effect: 'add',
    operations: ['comments.create', 'cards.answer', 'subtasks.create', 'attachments.attach'],
  },
  {
    name: 'attach_text',
    title: 'Attach a text file to a card',
    description: 'Uploads a text of at most 64 KiB as a new file, and attaches it to a card.',
    effect: 'add',
    operations: ['attachments.upload'],
    uploadsText: true,
  },
  {
    name: 'create_boards_columns_labels',
    title: 'Create boards, columns and labels',
    description: 'Creates a board, or a column or a label on a board.',
    effect: 'add',
    operations: ['boards.create', 'columns.create', 'labels.create'],
  },
  {
    name: 'move_assign_complete_cards',
    title: 'Move, assign, complete, label, block and archive cards',
    description:
      'Changes the place or the state of a card. No text is lost. To take a card, assign yourself. Moving completes only if the column does; else use cards.complete too.',
    effect: 'arrange',
    operations: [
      'cards.move',
      'cards.complete',
      'cards.assign',
      'cards.unassign',
      'cards.apply_label',
      'cards.remove_label',
      'blockers.add',
      'blockers.remove',
      'cards.retry',
      'cards.archive',
      'cards.restore',
      'cards.set_cover',
      'cards.clear_cover',
    ],
  },
  {
    name: 'move_or_archive_columns',
    title: 'Move and archive columns',
    description: 'Changes the place or the state of a column. Each change can be set back.',
    effect: 'arrange',
    operations: ['columns.move', 'columns.archive', 'columns.restore'],
  },
  {
    name: 'edit_cards_comments_subtasks',
    title: 'Edit cards, comments and subtasks',
    description: 'Replaces texts, and completes subtasks. The previous text is lost.',
    effect: 'replace',
    operations: ['cards.update', 'comments.update', 'subtasks.update'],
  },
  {
    name: 'edit_boards_columns_labels',
    title: 'Edit boards, columns and labels',
    description: 'Replaces names, descriptions, colors and WIP limits. The previous ones are lost.',
    effect: 'replace',
    operations: ['boards.update', 'columns.rename', 'labels.update'],
  },
  {
    name: 'delete_comments_subtasks_labels',
    title: 'Delete comments, subtasks and labels, and detach files',
    description: 'Deletes for good.',
    effect: 'replace',
    operations: ['comments.delete', 'subtasks.delete', 'labels.delete', 'attachments.detach'],
  },
  {
    name: 'make_many_changes',
    title: 'Make many changes at once',
    description:
      'Up to 100 writes on one board in one step, all or none: operations of the other tools with their arguments, such as {"operation":"cards.move","card_id":"…","to":"first"}. $0 as an id stands for the resource that the first one has created, and so on.',
    effect: 'any',
    operations: ['boards.batch'],
  },
  {
    name: 'manage_access',
    title: 'Manage who has access',
    description: 'Changes who can read a board or a file. Users who lose access are unassigned.',
    effect: 'replace',
    operations: ['boards.set_visibility', 'board_members.add', 'board_members.remove', 'files.update'],
  },
  {
    name: 'delete_boards_or_cards',
    title: 'Delete boards and cards',
    description: 'Deletes for good, with everything on it. Archive a card instead to keep it.',
    effect: 'replace',
    operations: ['boards.delete', 'cards.delete'],
  },
]

/**
 * What an operation does as a part of a tool, if its summary says more than that; empty: its id says it. OpenAI refuses each request with a
 * tool whose whole description has more than 1,024 characters.
 */
export const summariesInTools: Readonly<Record<string, string>> = {
  'cards.move': 'Within its column, or to another one: by default to the end.',
  'cards.complete': 'With false, it is open again.',
  'cards.assign': 'A user who has access to the board.',
  'cards.unassign': '',
  'cards.apply_label': '',
  'cards.remove_label': '',
  'blockers.add': 'The card waits until that one is completed or archived.',
  'blockers.remove': '',
  'cards.retry': 'One that is stuck, or waits for a time, is offered again at once.',
  'cards.restore': 'An archived card, to its place.',
  'cards.set_cover': 'An image that is attached to it.',
  'cards.clear_cover': '',
  'claims.release': 'Others can take it now, you after a minute.',
  'claims.fail': 'The attempt has failed. It is tried again later.',
  'claims.ask': 'Asks in a comment. Nobody gets it before the answer.',
  'attachments.attach': 'Attaches a stored file, such as the `file_id` of another attachment.',
}

/** Parameters of the query that each call of an operation states, so that an agent need not know them. They are no arguments. */
export const statedInCalls: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // What earlier attempts have come to, and what was answered.
  'claims.take_next': { include: 'work' },
}

/** Arguments that have one value for an agent. */
export const assumedInCalls: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'access.evaluate': { subject: { type: 'user', id: 'me' } },
}

/**
 * Optional arguments that the list leaves out: the subject is always the caller, and all that may be done is one page. Notices are followed by
 * programs.
 */
const withoutUse: Readonly<Record<string, readonly string[]>> = {
  'access.search_action': ['subject', 'page'],
  'notices.list': ['order', 'wait'],
}

/** Whether the list leaves an argument out. It is taken from a client that knows the API. */
export function isUnlisted(id: string, name: string): boolean {
  return assumedInCalls[id]?.[name] !== undefined || withoutUse[id]?.includes(name) === true
}

const WEBHOOKS = 'Webhooks are set up by people and programs. They would take a fiftieth of the list.'

/** The operations that no tool has, with the reason. */
export const withoutTool: Readonly<Record<string, string>> = {
  'attachments.download': 'Bytes of files would fill the context of a model. A client downloads them by HTTP.',
  'access.evaluate_all': 'Its schema repeats the schema of access.evaluate, and would take a tenth of the list.',
  'claims.read': 'find_cards says the same with include=["claim"].',
  'access.search_subject': 'Portals and gateways ask what others may do. It would take a fiftieth of the list.',
  'access.search_resource': 'An agent works on a board that it knows, and asks about that. It would take a fiftieth of the list.',
  'webhooks.list': WEBHOOKS,
  'webhooks.read': WEBHOOKS,
  'webhooks.create':
    'Its secret is shown once, and must not be in the context of a model. People and programs create webhooks; an agent follows read_changes.',
  'webhooks.update': WEBHOOKS,
  'webhooks.delete': WEBHOOKS,
  'webhooks.rotate_secret': 'The new secret must not be in the context of a model.',
  'webhooks.test': WEBHOOKS,
  'webhooks.deliveries': WEBHOOKS,
  'notices.mark': 'Whether something is new to a person is for that person to say: a question that an agent has marked would wait unseen.',
  'boards.events': 'A tool call has one answer, and this is a stream. read_changes has the same changes.',
}

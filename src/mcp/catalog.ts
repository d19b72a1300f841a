/** What the calls of a tool do to the workspace, from which the annotations of the tool follow. */
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
  readonly name: string
  readonly title: string
  /** what it is for. The summaries of its operations follow. */
  readonly description: string
  readonly effect: Effect
  /** ids of the operations table */
  readonly operations: readonly string[]
}

/**
 * The tools, in the order of the list. One tool per operation would take three times as many tokens of a model's context, so
 * operations of one task share a tool, whose argument `operation` selects one of them. Operations that can lose something
 * never share a tool with those that cannot: clients ask their users before they call tools that can.
 */
export const tools: readonly ToolRow[] = [
  {
    name: 'read_people',
    title: 'Read people',
    description: 'Who you are, what your token may do, and who the members are. Begin with account.read.',
    effect: 'read',
    operations: ['account.read', 'members.list', 'board_members.list', 'boards.assignable'],
  },
  {
    name: 'read_boards',
    title: 'Read boards',
    description: 'Boards with their columns and labels.',
    effect: 'read',
    operations: ['boards.list', 'boards.read', 'boards.changes', 'columns.list', 'columns.read', 'labels.list', 'labels.read'],
  },
  {
    name: 'read_cards',
    title: 'Read cards',
    description: 'Find and read cards.',
    effect: 'read',
    operations: ['cards.list', 'cards.search', 'cards.read'],
  },
  {
    name: 'read_card_content',
    title: 'Read what is on a card',
    description: 'Subtasks, comments and attachments of a card, and who has access to their files.',
    effect: 'read',
    operations: ['subtasks.list', 'subtasks.read', 'comments.list', 'comments.read', 'attachments.list', 'attachments.read', 'files.read'],
  },
  {
    name: 'check_access',
    title: 'Check access',
    description: '',
    effect: 'read',
    operations: ['access.evaluate'],
  },
  {
    name: 'create_card',
    title: 'Create a card',
    description: '',
    effect: 'add',
    operations: ['cards.create'],
  },
  {
    name: 'add_to_card',
    title: 'Add to a card',
    description: 'Adds a comment, a subtask or a stored file to a card.',
    effect: 'add',
    operations: ['comments.create', 'subtasks.create', 'attachments.attach'],
  },
  {
    name: 'create_board_parts',
    title: 'Create boards, columns and labels',
    description: 'Creates a board, or a column or a label on a board.',
    effect: 'add',
    operations: ['boards.create', 'columns.create', 'labels.create'],
  },
  {
    name: 'arrange_cards',
    title: 'Move, complete, archive, assign and label cards',
    description: 'Changes the place or the state of a card. Each change can be set back.',
    effect: 'arrange',
    operations: [
      'cards.move',
      'cards.complete',
      'cards.archive',
      'cards.restore',
      'cards.assign',
      'cards.unassign',
      'cards.apply_label',
      'cards.remove_label',
      'cards.set_cover',
      'cards.clear_cover',
    ],
  },
  {
    name: 'arrange_columns',
    title: 'Move and archive columns',
    description: 'Changes the place or the state of a column. Each change can be set back.',
    effect: 'arrange',
    operations: ['columns.move', 'columns.archive', 'columns.restore'],
  },
  {
    name: 'edit_cards',
    title: 'Edit cards and what is on them',
    description: 'Replaces texts. The previous text is lost.',
    effect: 'replace',
    operations: ['cards.update', 'subtasks.update', 'comments.update'],
  },
  {
    name: 'edit_boards',
    title: 'Edit boards, columns and labels',
    description: 'Replaces names, descriptions and colors. The previous ones are lost.',
    effect: 'replace',
    operations: ['boards.update', 'columns.rename', 'labels.update'],
  },
  {
    name: 'remove_content',
    title: 'Delete labels, subtasks and comments, and detach files',
    description: 'Deletes for good.',
    effect: 'replace',
    operations: ['labels.delete', 'subtasks.delete', 'comments.delete', 'attachments.detach'],
  },
  {
    name: 'change_board_at_once',
    title: 'Change a board in one step',
    description: '',
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
    name: 'delete_permanently',
    title: 'Delete boards and cards',
    description: 'Deletes a board or a card for good, with everything on it. Archive a card instead to keep it.',
    effect: 'replace',
    operations: ['boards.delete', 'cards.delete'],
  },
]

/** The operations that no tool has, with the reason. */
export const withoutTool: Readonly<Record<string, string>> = {
  'attachments.download': 'Bytes of files would fill the context of a model. A client downloads them by HTTP.',
  'access.evaluate_all': 'Its schema repeats that of access.evaluate, and would take a tenth of the list.',
  'boards.events': 'A tool call has one answer, and this is a stream. boards.changes has the same changes.',
}

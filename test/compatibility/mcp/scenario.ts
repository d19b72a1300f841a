import { expect } from 'vitest'
import type { Scope } from '../demo.ts'

/** A call of a tool by the client, or a request of a person. */
export interface Step {
  readonly what: string
  readonly tool?: string
  /** of the token of the call, if it is not the token of the list */
  readonly scope?: Scope
  /** by a person without the client: method and path below /v1 */
  readonly person?: string
  /** of the tool, or the body of the request; `{name}` stands for what an earlier step has kept */
  readonly args?: Readonly<Record<string, unknown>>
  /** what the answer has at least */
  readonly expected: unknown
  /** what later steps use: a name, and the path to its value in the answer */
  readonly keep?: Readonly<Record<string, string>>
}

/** More than 64 KiB of UTF-8, in fewer characters than the longest answer has. */
const LONG = '…'.repeat(45_000)

/**
 * What an agent does in a day. The expected answers follow from the documents of the service (src/http/README.md, src/http/claims.md), not
 * from its code. The token has kanban:write and belongs to Olivia, an owner; the person is Mira, a member.
 */
export const steps: readonly Step[] = [
  {
    what: 'who it is',
    tool: 'read_account_and_members',
    args: { operation: 'account.read' },
    expected: { data: { display_name: 'Olivia Stone', role: 'owner', scopes: ['kanban:read', 'kanban:write'] } },
  },
  {
    what: 'a board',
    tool: 'create_boards_columns_labels',
    args: { operation: 'boards.create', name: 'Garden' },
    expected: { data: { name: 'Garden', visibility: 'workspace' } },
    keep: { board: 'data.id' },
  },
  {
    what: 'a column, with a number',
    tool: 'create_boards_columns_labels',
    args: { operation: 'columns.create', board_id: '{board}', name: 'To do', max_attempts: 3 },
    expected: { data: { name: 'To do', max_attempts: 3 } },
    keep: { column: 'data.id' },
  },
  {
    what: 'a label',
    tool: 'create_boards_columns_labels',
    args: { operation: 'labels.create', board_id: '{board}', name: 'Spring', color: '#3a7d44' },
    expected: { data: { name: 'Spring', color: '#3a7d44' } },
    keep: { label: 'data.id' },
  },
  {
    what: 'a card with lists of texts and of objects',
    tool: 'create_card',
    args: {
      board_id: '{board}',
      column_id: '{column}',
      title: 'Sow',
      label_ids: ['{label}'],
      due_at: '2027-03-01T12:00:00Z',
      subtasks: [{ title: 'Dig' }, { title: 'Water' }],
    },
    expected: { data: { title: 'Sow', label_ids: ['{label}'], due_at: '2027-03-01T12:00:00.000Z' } },
    keep: { card: 'data.id', etag: 'etag' },
  },
  {
    what: 'its subtasks',
    tool: 'read_comments_subtasks_files',
    args: { operation: 'subtasks.list', card_id: '{card}' },
    expected: { data: [{ title: 'Dig' }, { title: 'Water' }] },
  },
  {
    what: 'an update keeps what it does not name',
    tool: 'edit_cards_comments_subtasks',
    args: { operation: 'cards.update', card_id: '{card}', title: 'Sow carrots', if_match: '{etag}' },
    expected: { data: { title: 'Sow carrots', due_at: '2027-03-01T12:00:00.000Z' } },
  },
  {
    what: 'refused by precondition: the card has changed',
    tool: 'edit_cards_comments_subtasks',
    args: { operation: 'cards.update', card_id: '{card}', title: 'Sow peas', if_match: '{etag}' },
    expected: { error: { code: 'precondition_failed', current: { title: 'Sow carrots' } } },
  },
  {
    what: 'a date is cleared by its word',
    tool: 'edit_cards_comments_subtasks',
    args: { operation: 'cards.update', card_id: '{card}', due_at: 'none' },
    expected: { data: { title: 'Sow carrots', due_at: null } },
  },
  {
    what: 'a search by words, with a list and a boolean',
    tool: 'find_cards',
    args: { operation: 'cards.search', board_id: '{board}', q: 'carrots sow', completed: false, include: ['work'] },
    expected: { data: [{ id: '{card}', work: { state: 'ready' } }] },
  },
  {
    what: 'the board with its columns and labels',
    tool: 'read_boards',
    args: { operation: 'boards.read', board_id: '{board}', include: ['columns', 'labels'] },
    expected: { data: { columns: [{ id: '{column}' }], labels: [{ id: '{label}' }] } },
  },
  {
    what: 'the next card is claimed',
    tool: 'claim_next_card',
    args: { board_id: '{board}', ttl: 600 },
    expected: { data: { id: '{card}', claim: { epoch: 1 }, work: { attempts: 0 }, answered: null } },
  },
  {
    what: 'a question',
    tool: 'end_claim',
    args: { operation: 'claims.ask', card_id: '{card}', question: 'Which bed?', if_claim: 1 },
    expected: { data: { kind: 'question', body: 'Which bed?' } },
    keep: { question: 'data.id' },
  },
  {
    what: 'nobody gets the card before the answer',
    tool: 'claim_next_card',
    args: { board_id: '{board}' },
    expected: { data: null },
  },
  {
    what: 'a person answers',
    person: 'POST /cards/{card}/answer',
    args: { body: 'The left one.' },
    expected: { data: { kind: 'answer', answers: '{question}' } },
    keep: { answer: 'data.id' },
  },
  {
    what: 'the card comes back with the answer',
    tool: 'claim_next_card',
    args: { board_id: '{board}' },
    expected: { data: { id: '{card}', claim: { epoch: 2 }, answered: { answer: { body: 'The left one.' } } } },
  },
  {
    what: 'refused by permission: the comment of somebody else',
    tool: 'edit_cards_comments_subtasks',
    args: { operation: 'comments.update', comment_id: '{answer}', body: 'The right one.' },
    expected: {
      error: { code: 'forbidden', row: 'P14', reason: 'P14: Only the author may edit or delete a comment. Roles make no exception.' },
    },
  },
  {
    what: 'the attempt fails',
    tool: 'end_claim',
    args: { operation: 'claims.fail', card_id: '{card}', reason: 'The shed is locked.', retry_after: 0, if_claim: 2 },
    expected: { data: { state: 'ready', attempts: 1, reason: 'The shed is locked.' } },
  },
  {
    what: 'the card is claimed by name',
    tool: 'renew_claim',
    args: { card_id: '{card}' },
    expected: { data: { epoch: 3 } },
  },
  {
    what: 'a note, under the claim',
    tool: 'add_comment_subtask_file',
    args: { operation: 'comments.create', card_id: '{card}', body: 'Sown.', if_claim: 3 },
    expected: { data: { body: 'Sown.' } },
  },
  {
    what: 'a file is uploaded',
    tool: 'attach_text',
    args: { card_id: '{card}', name: 'notes.md', text: '# Größe' },
    expected: { data: { name: 'notes.md', size: 9 } },
    keep: { attachment: 'data.id' },
  },
  {
    what: 'the file is listed',
    tool: 'read_comments_subtasks_files',
    args: { operation: 'attachments.list', card_id: '{card}' },
    expected: { data: [{ id: '{attachment}', name: 'notes.md' }] },
  },
  { what: 'a person downloads the file', person: 'GET /attachments/{attachment}/content', expected: '# Größe' },
  {
    what: 'the card is completed',
    tool: 'move_assign_complete_cards',
    args: { operation: 'cards.complete', card_id: '{card}', completed: true, if_claim: 3 },
    expected: { data: { id: '{card}', completed_at: expect.any(String) } },
  },
  {
    what: 'refused by precondition: the claim has ended',
    tool: 'add_comment_subtask_file',
    args: { operation: 'comments.create', card_id: '{card}', body: 'Too late.', if_claim: 3 },
    expected: { error: { code: 'precondition_failed', current_claim: null } },
  },
  {
    what: 'many changes at once',
    tool: 'make_many_changes',
    args: {
      board_id: '{board}',
      operations: [
        { operation: 'cards.create', column_id: '{column}', title: 'Weed', label_ids: ['{label}'], subtasks: [{ title: 'Bend' }] },
        { operation: 'cards.move', card_id: '$0', to: 'first' },
        { operation: 'comments.create', card_id: '$0', body: 'Gently.' },
      ],
    },
    expected: { data: { results: [{ data: { title: 'Weed' } }, {}, { data: { body: 'Gently.' } }] } },
  },
  {
    what: 'the next card',
    tool: 'claim_next_card',
    args: { board_id: '{board}' },
    expected: { data: { title: 'Weed', claim: { epoch: 1 } } },
    keep: { next: 'data.id' },
  },
  {
    what: 'it is given back',
    tool: 'end_claim',
    args: { operation: 'claims.release', card_id: '{next}', retry_after: 60 },
    expected: { data: { id: '{next}' } },
  },
  {
    what: 'refused by scope: the token has been replaced by one that only reads',
    scope: 'kanban:read',
    tool: 'create_card',
    args: { board_id: '{board}', column_id: '{column}', title: 'Harvest' },
    expected: { error: { code: 'insufficient_scope', required_scope: 'kanban:write' } },
  },
  {
    what: 'a deletion among many changes names the scope that it requires',
    tool: 'make_many_changes',
    args: { board_id: '{board}', operations: [{ operation: 'cards.delete', card_id: '{card}' }] },
    expected: {
      error: {
        code: 'validation_failed',
        issues: [{ path: 'operations.0.operation', message: expect.stringContaining('requires kanban:admin') }],
      },
    },
  },
  {
    what: 'a question about access, with an object in an object',
    tool: 'check_access',
    args: { operation: 'access.evaluate', action: { name: 'cards.delete' }, resource: { type: 'card', id: '{card}' } },
    expected: { data: { decision: false } },
  },
  {
    what: 'an id of another kind is no bare 404',
    tool: 'find_cards',
    args: { operation: 'cards.read', card_id: '{column}' },
    expected: { error: { code: 'validation_failed', issues: [{ path: 'card_id' }] } },
  },
  {
    what: 'a long text is written, and comes back whole',
    tool: 'create_card',
    args: { board_id: '{board}', column_id: '{column}', title: 'Long', description: LONG },
    expected: { data: { description: LONG } },
    keep: { long: 'data.id' },
  },
  {
    what: 'an answer of more than 64 KiB is what the model reads',
    tool: 'find_cards',
    args: { operation: 'cards.read', card_id: '{long}' },
    expected: { data: { description: LONG } },
  },
  {
    what: 'what has happened',
    tool: 'read_changes',
    args: { board_id: '{board}', fields: ['kind', 'action'] },
    expected: { data: expect.arrayContaining([expect.objectContaining({ kind: 'work', action: 'failed' })]) },
  },
]

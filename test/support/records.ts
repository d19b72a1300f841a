import type { Card } from '../../src/model/card.ts'
import type { ClaimRecord } from '../../src/model/claim.ts'
import { WORKS, type WebhookProgress, type WebhookRecord } from '../../src/model/webhook.ts'

/** A card with the given members, for suites that write records directly. */
export const card = (members: Partial<Card>): Card => ({
  id: 'c',
  board_id: 'b',
  column_id: 'col_1',
  title: '',
  description: '',
  external_ref: null,
  position: 'a0',
  due_at: null,
  completed_at: null,
  completed_by_id: null,
  outcome: members.completed_at == null ? null : 'succeeded',
  archived_at: null,
  assignee_ids: [],
  label_ids: [],
  blocker_ids: [],
  cover_attachment_id: null,
  creator_id: 'u',
  created_at: '2026',
  updated_at: '2026',
  ...members,
})

/** The claim of a card with the given members: it has not run out. */
export const claimOf = (card_id: string, board_id: string, members: Partial<ClaimRecord> = {}): ClaimRecord => ({
  card_id,
  board_id,
  holder_id: 'usr_00000000000000000000',
  token_id: 'tok_00000000000000000000',
  token_hash: '0'.repeat(64),
  epoch: 1,
  taken_at: '2026-11-01T00:00:00.000Z',
  renewed_at: '2026-11-01T00:00:00.000Z',
  expires_at: '2029-01-01T00:00:00.000Z',
  attempts: 0,
  reason: null,
  failed_at: null,
  not_before: null,
  question_id: null,
  answer_id: null,
  max_attempts: 5,
  was_moved: false,
  lost_epoch: null,
  ...members,
})

/** A webhook with the given members. Its secret is not one that can be opened. */
export const webhookOf = (members: Partial<WebhookRecord>): WebhookRecord => ({
  id: 'whk_00000000000000000000',
  board_id: 'brd_00000000000000000000',
  creator_id: 'usr_00000000000000000000',
  url: 'https://hooks.example/kanban',
  kinds: null,
  secret: 'sealed1.00000000.',
  old_secrets: [],
  created_at: '2026-11-01T00:00:00.000Z',
  updated_at: '2026-11-01T00:00:00.000Z',
  ...members,
})

/** How far the deliveries of a webhook are, with the given members: nothing was delivered. */
export const progressOf = (
  { id, board_id }: Pick<WebhookRecord, 'id' | 'board_id'>,
  members: Partial<WebhookProgress> = {},
): WebhookProgress => ({
  webhook_id: id,
  board_id,
  cursor: 'AA',
  delivered_to: 'AA',
  ...WORKS,
  ...members,
})

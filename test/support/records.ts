import type { Card } from '../../src/model/card.ts'

/** A card with the given members, for suites that write records directly. */
export const card = (members: Partial<Card>): Card => ({
  id: 'c',
  board_id: 'b',
  column_id: 'col_1',
  title: '',
  description: '',
  position: 'a0',
  due_at: null,
  completed_at: null,
  completed_by_id: null,
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

// Responses with the members of the service's responses, and of their size.
const times = { created_at: '2026-11-20T12:00:00.000Z', updated_at: '2026-11-20T12:00:00.000Z' }
const id = (prefix) => `${prefix}_00000000000000000000`
const card = {
  id: id('crd'),
  board_id: id('brd'),
  column_id: id('col'),
  title: 'A card of the benchmark',
  description: 'Each card has a description of one sentence, like this one.',
  external_ref: null,
  position: 'a0V',
  due_at: null,
  completed_at: null,
  completed_by_id: null,
  outcome: null,
  archived_at: null,
  assignee_ids: [],
  label_ids: [],
  blocker_ids: [],
  cover_attachment_id: null,
  creator_id: id('usr'),
  ...times,
}
const account = {
  user_id: id('usr'),
  display_name: 'Olivia Stone',
  role: 'owner',
  workspace: { id: id('wsp'), name: 'Acme' },
  scopes: ['kanban:read', 'kanban:write', 'kanban:admin'],
  token: { id: id('tok'), name: 'demo kanban:admin', expires_at: times.created_at, last_used_at: times.created_at },
}

export const bodies = {
  '/account': { data: account },
  '/card': { data: card },
  '/cards': { data: Array.from({ length: 100 }, () => card), page: { next_cursor: null } },
}

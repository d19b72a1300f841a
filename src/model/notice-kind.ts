/** What a person gets a notice of: `resources/notices/kinds.ts` says who gets it, when, and what it says. */
export const noticeKinds = [
  'assigned',
  'mentioned',
  'card_stuck',
  'question',
  'answered',
  'commented',
  'due',
  'token_ending',
  'webhook_disabled',
] as const
export type NoticeKind = (typeof noticeKinds)[number]

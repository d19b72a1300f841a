import { isOpen, type Card } from '../../model/card.ts'
import { isStuck } from '../../model/claim.ts'
import type { Comment } from '../../model/comment.ts'
import type { NoticeKind } from '../../model/notice-kind.ts'
import type { NoticeRecord } from '../../model/notice.ts'
import { DAY, HOUR } from '../../model/time.ts'
import type { Author, CommittingTransaction } from '../../store/derivation.ts'
import { keys } from '../../store/keys.ts'

/** Whoever has to do with a card: see "Your cards" in kinds.ts, and who has commented on it. */
export type Role = 'people' | 'assignees' | 'commenters'

/** A notice that somebody gets, and who may get it: the ids of users, or those who have to do with the card. */
export interface Wanted {
  readonly kind: NoticeKind
  readonly to: readonly string[] | readonly Role[]
  /** whom a text mentions, and its earlier version does not: they get it, too */
  readonly mentionedIn?: { readonly text: string; readonly before: string } | undefined
}

/** Something that a commit does, and the notices of it: a person gets the first one of those that they may get. */
export interface Cause {
  readonly board_id: string | null
  readonly card_id: string | null
  readonly comment_id: string | null
  /** who has done it, and gets no notice of it if they have done it in the web app */
  readonly by: Pick<Author, 'actor_id' | 'token_id' | 'token_name'>
  readonly wanted: readonly Wanted[]
  readonly more?: Pick<NoticeRecord, 'webhook_id' | 'until'>
  /** its entry among the cards that are due: it is told now only if time has told later ones, and later by time otherwise */
  readonly due?: string
}

/** Time has done it, or the service. */
export const NOBODY = { actor_id: null, token_id: null, token_name: null } as const

/** What the write of one record causes. */
export function causesOf(key: string, tx: CommittingTransaction, author: Author): readonly Cause[] {
  // The kinds of records that cause notices begin with these letters.
  const [kind, id] = key.startsWith('c') || key.startsWith('w') ? (key.split(':') as [string, string]) : []
  if (kind === 'card') return causesOfCard(id!, tx, author)
  if (kind === 'comment') return causesOfComment(id!, tx, author)
  if (kind === 'claim') return causesOfClaim(id!, tx, author)
  return kind === 'webhook_progress' ? causesOfWebhook(id!, tx, author) : NONE
}

const NONE: readonly never[] = []

/** New assignees, and people whom the description mentions and did not mention before. */
function causesOfCard(id: string, tx: CommittingTransaction, by: Author): readonly Cause[] {
  const [old, card] = [tx.before(keys.card(id)), tx.known(keys.card(id))]
  if (card === undefined) return NONE
  const assigned =
    card.assignee_ids === old?.assignee_ids ? [] : card.assignee_ids.filter((one) => old?.assignee_ids.includes(one) !== true)
  const mentionedIn = mentioning(card.description, old?.description)
  const due = card.due_at !== null && card.due_at !== old?.due_at && isOpen(card) ? soonDue(card, tx.logged!.clock()) : NONE
  if (assigned.length === 0 && mentionedIn === undefined) return due
  const wanted = [
    { kind: 'assigned', to: assigned },
    { kind: 'mentioned', to: NONE, mentionedIn },
  ] as const
  return [about(card, null, by, wanted), ...due]
}

/** A card is due within a day, and an hour more: clocks of processes differ. */
function soonDue(card: Card, now: number): readonly Cause[] {
  const due = Date.parse(card.due_at!)
  return due <= now || due > now + DAY + HOUR ? NONE : [{ ...dueCause(card), due: `${card.due_at} ${card.id}` }]
}

/** A card is due. Time has done that, whoever has set the date: so it is the same notice, whether the commit tells it or time does. */
export function dueCause(card: Card): Cause {
  return { ...about(card, null, NOBODY, [{ kind: 'due', to: ['people'] }]), more: { until: card.due_at! } }
}

/** A text that may mention people; undefined: it mentions nobody, as most do, or nobody new. */
function mentioning(text: string, before = ''): Wanted['mentionedIn'] {
  return text === before || !text.includes('@usr_') ? undefined : { text, before }
}

function causesOfComment(id: string, tx: CommittingTransaction, by: Author): readonly Cause[] {
  const [old, comment] = [tx.before(keys.comment(id)), tx.known(keys.comment(id))]
  const card = comment && tx.known(keys.card(comment.card_id))
  if (comment === undefined || card === undefined || comment.body === old?.body) return NONE
  const mentioned = { kind: 'mentioned', to: NONE, mentionedIn: mentioning(comment.body, old?.body) } as const
  const wanted = old === undefined ? [...ofNew(comment, tx), mentioned, OF_COMMENT] : [mentioned]
  return wanted.some(({ to, mentionedIn }) => to.length > 0 || mentionedIn !== undefined) ? [about(card, id, by, wanted)] : NONE
}

const OF_COMMENT: Wanted = { kind: 'commented', to: ['assignees', 'commenters'] }

/** What a new question or answer is for somebody. */
function ofNew({ kind, answers }: Comment, tx: CommittingTransaction): readonly Wanted[] {
  if (kind === 'question') return [{ kind: 'question', to: ['people'] }]
  const asker = answers === null ? undefined : tx.known(keys.comment(answers))?.author_id
  return asker === undefined ? [] : [{ kind: 'answered', to: [asker] }]
}

/** A card that was not stuck before is stuck. Nobody has done that whose claim ran out: what was written shows only that it did. */
function causesOfClaim(id: string, tx: CommittingTransaction, author: Author): readonly Cause[] {
  const [old, now] = [tx.before(keys.claim(id)), tx.known(keys.claim(id))]
  if (now === undefined || !isStuck(now, now.attempts) || (old !== undefined && isStuck(old, old.attempts))) return NONE
  const isLost = now.lost_epoch !== null && now.lost_epoch !== old?.lost_epoch
  const card = { id, board_id: now.board_id }
  return [about(card, null, isLost ? NOBODY : author, [{ kind: 'card_stuck', to: ['people'] }])]
}

/** A webhook that followed its board is disabled. */
function causesOfWebhook(id: string, tx: CommittingTransaction, by: Author): readonly Cause[] {
  const [old, now] = [tx.before(keys.webhookProgress(id)), tx.known(keys.webhookProgress(id))]
  const creator = tx.known(keys.webhook(id))?.creator_id
  if (now?.state !== 'disabled' || old === undefined || old.state === 'disabled' || creator === undefined) return NONE
  const wanted = [{ kind: 'webhook_disabled', to: [creator] }] as const
  return [{ board_id: now.board_id, card_id: null, comment_id: null, by, wanted, more: { webhook_id: id } }]
}

function about(card: Pick<Card, 'id' | 'board_id'>, comment_id: string | null, by: Cause['by'], wanted: readonly Wanted[]): Cause {
  return { board_id: card.board_id, card_id: card.id, comment_id, by, wanted }
}

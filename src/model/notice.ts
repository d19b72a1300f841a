import { z } from 'zod'
import { documented, idField, idOf, timeField, timestamp } from './fields.ts'
import { limits } from './limits.ts'
import { noticeKinds } from './notice-kind.ts'
import { line } from './text.ts'
import { tokenNameField } from './token.ts'

const kind = z.enum(noticeKinds)

/** A notice as it is stored: its key has its person and its number (see `appended.ts`). Names and texts are read when it is shown. */
export const noticeRecord = z.strictObject({
  kind,
  at: timestamp,
  read_at: timestamp.nullable(),
  /** when a mail about it was sent; absent: none was */
  mailed_at: timestamp.optional(),
  /** the membership of its person: a later one of the same user does not see it. See `isOf` in workspace.ts */
  membership_id: idOf('membership').optional(),
  board_id: idOf('board').nullable(),
  card_id: idOf('card').nullable(),
  comment_id: idOf('comment').nullable(),
  /** who has caused it; null: time, the service or its operator */
  actor_id: idOf('user').nullable(),
  /** of the token that has caused it, or that ends */
  token_name: line(limits.tokenName).nullable(),
  webhook_id: idOf('webhook').optional(),
  /** when the card is due, or when the token ends */
  until: timestamp.optional(),
})
export type NoticeRecord = Readonly<z.infer<typeof noticeRecord>>

/**
 * What time has caused so far in a workspace (one record): the last entry of each index that was told. So nothing is told twice, whatever
 * clocks say, and whichever process tells it. null: nothing was told
 */
export const toldByTime = z.strictObject({
  due: z.string().max(100).nullable(),
  /** tokens, 14 days and 3 days before they end */
  tokens_early: z.string().max(100).nullable(),
  tokens_late: z.string().max(100).nullable(),
})
export type ToldByTime = Readonly<z.infer<typeof toldByTime>>

/** A notice, as the API returns it. */
export const notice = documented(
  z.strictObject({
    id: idField('notice', 'The id of the notice: notices of a person have increasing ids, in the order of their commits.'),
    kind: documented(kind, { description: 'What has happened: see "Kinds of notices".' }),
    at: timeField('When it happened.'),
    read_at: timeField('When you marked it as read; null: you have not.').nullable(),
    board_id: idField('board', 'The board that it is about; null: it is about a token of yours.').nullable(),
    card_id: idField('card', 'The card that it is about; null: it is about no card.').nullable(),
    comment_id: idField('comment', 'The comment that it is about: also a question or an answer; null: it is about no comment.').nullable(),
    actor_id: idField('user', 'The user who has caused it; null: time or the service has.').nullable(),
    token_name: tokenNameField('The name of the token that has caused it, or that ends; null without one.').nullable(),
    text: documented(z.string(), { description: 'The notice in one sentence, with the names and titles of now.', maxLength: 2_000 }),
  }),
  { id: 'Notice', description: 'Something that you have to know.' },
)
export type Notice = Readonly<z.infer<typeof notice>>

/** Digits in front of the number of a notice in its id. */
const [PREFIX, ZEROS] = ['ntc_', '0000'] as const

/** The id of a notice, from the entry that has its number. */
export function noticeId(entry: string): string {
  return PREFIX + ZEROS + entry
}

/** The entry of a notice; undefined if no notice has such an id. */
export function noticeEntry(id: string): string | undefined {
  return /^ntc_0000(\d{16})$/.exec(id)?.[1]
}

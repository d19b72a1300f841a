import { z } from 'zod'
import { idOf, timestamp } from './fields.ts'
import { noticeKinds } from './notice-kind.ts'
import { MINUTE, timestamp as timestampOf } from './time.ts'

/** When a person gets a mail about a notice. */
export const mailChoices = ['at_once', 'daily', 'never'] as const
export type MailChoice = (typeof mailChoices)[number]

/** What a person has chosen, and the key that signs the links in their mails. */
export const noticeMailsOfAccount = z.strictObject({
  key: z.string().regex(/^[\w-]{43}$/),
  choices: z.partialRecord(z.enum(noticeKinds), z.enum(mailChoices)),
})
export type NoticeMails = Readonly<z.infer<typeof noticeMailsOfAccount>>

/** A person may have to get mails about their notices from a time on. */
export const noticeMail = z.strictObject({
  id: z.string().regex(/^usr_\w{20}:d?\d{1,12}$/),
  user_id: idOf('user'),
  from: timestamp,
  due_at: timestamp,
  /** whether it is about those that are mailed once a day */
  is_daily: z.boolean(),
})
export type NoticeMail = Readonly<z.infer<typeof noticeMail>>

const DAY = 24 * 60 * MINUTE
/** The hour of the daily mail, in UTC. */
const MORNING = 7 * 60 * MINUTE

/** What follows from a notice: after the end of the next minute, so that what happens within one is one mail. It is always the same. */
export function mailAfter(userId: string, now: number): NoticeMail {
  const minute = Math.floor(now / MINUTE)
  const at = (minutes: number) => timestampOf(() => minutes * MINUTE)
  return { id: `${userId}:${minute}`, user_id: userId, from: at(minute), due_at: at(minute + 2), is_daily: false }
}

/** The next daily mail. */
export function dailyMailAfter(userId: string, now: number): NoticeMail {
  const day = Math.floor((now - MORNING) / DAY) + 1
  const due = day * DAY + MORNING
  const at = (time: number) => timestampOf(() => time)
  return { id: `${userId}:d${day}`, user_id: userId, from: at(due - DAY - 3 * MINUTE), due_at: at(due), is_daily: true }
}

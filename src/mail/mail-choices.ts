import { createHmac } from 'node:crypto'
import { equalInConstantTime, newSecret } from '../auth/secrets.ts'
import type { Account } from '../model/account.ts'
import type { MailChoice, NoticeMails } from '../model/notice-mail.ts'
import { noticeKinds, type NoticeKind } from '../model/notice-kind.ts'
import { timestamp } from '../model/time.ts'
import { kindsOfNotices } from '../resources/notices/kinds.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { transact, type Deps } from '../store/transact.ts'

/** Reads what a person has chosen. The key that signs the links in their mails is made with the first. @returns undefined without an account */
export async function readMailChoices(deps: Deps, userId: string): Promise<{ account: Account; mails: NoticeMails } | undefined> {
  return write(deps, userId, (mails) => mails)
}

/** When a person gets a mail about a kind. */
export function choiceOf(mails: NoticeMails | undefined, kind: NoticeKind): MailChoice {
  return mails?.choices[kind] ?? kindsOfNotices[kind].mail
}

/** Stores what a person has chosen. */
export async function chooseMails(deps: Deps, userId: string, choices: Readonly<Partial<Record<NoticeKind, MailChoice>>>): Promise<void> {
  await write(deps, userId, (mails) => ({ ...mails, choices: { ...mails.choices, ...choices } }))
}

/** Ends the mails about some kinds, as a link in a mail asks. @returns whether it is such a link */
export async function endMails(deps: Deps, link: URLSearchParams): Promise<boolean> {
  const kinds = kindsOfLink(link)
  if (!(await isEndLink(deps, link))) return false
  await chooseMails(deps, link.get('user')!, Object.fromEntries(kinds.map((kind) => [kind, 'never'])))
  return true
}

/** The kinds whose mails a link ends. */
export function kindsOfLink(link: URLSearchParams): readonly NoticeKind[] {
  const named = (link.get('kinds') ?? '').split(',')
  return noticeKinds.filter((kind) => named.includes(kind))
}

/** Whether the service has made a link for a mail. */
export async function isEndLink({ store, random }: Deps, link: URLSearchParams): Promise<boolean> {
  const [user, signed] = [link.get('user') ?? '', link.get('signed') ?? '']
  if (!/^usr_\w{20}$/.test(user)) return false
  const account = await transact(store, GLOBAL, random, (tx) => tx.get(keys.account(user)))
  const mails = account?.notice_mails
  return mails !== undefined && equalInConstantTime(signed, signatureOf(mails, user, link.get('kinds') ?? ''))
}

/** The address that ends the mails about some kinds for a person, without signing in (RFC 8058). */
export function endAddress(url: string, userId: string, mails: NoticeMails, kinds: readonly NoticeKind[]): string {
  const query = new URLSearchParams({ user: userId, kinds: kinds.join(',') })
  query.append('signed', signatureOf(mails, userId, kinds.join(',')))
  return `${url}/settings/mails/end?${query}`
}

function signatureOf({ key }: NoticeMails, userId: string, kinds: string): string {
  return createHmac('sha256', key).update(`end ${userId} ${kinds}`).digest('base64url')
}

async function write({ store, random, clock }: Deps, userId: string, change: (mails: NoticeMails) => NoticeMails) {
  return transact(store, GLOBAL, random, async (tx) => {
    const account = await tx.get(keys.account(userId))
    if (account === undefined) return undefined
    const known = account.notice_mails
    const mails = change(known ?? { key: newSecret(random), choices: {} })
    if (mails === known) return { account, mails }
    tx.put(keys.account(userId), { ...account, notice_mails: mails, updated_at: timestamp(clock) })
    return { account, mails }
  })
}

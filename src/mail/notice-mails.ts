import type { Logger } from 'pino'
import { Decisions } from '../authz/decisions.ts'
import type { Caller } from '../authz/context.ts'
import { limits } from '../model/limits.ts'
import { dailyMailAfter, type NoticeMail } from '../model/notice-mail.ts'
import type { NoticeKind } from '../model/notice-kind.ts'
import type { Notice } from '../model/notice.ts'
import { HOUR, MINUTE, timestamp } from '../model/time.ts'
import { isActive, isOf } from '../model/workspace.ts'
import { presentNotices } from '../resources/notices/present.ts'
import { WorkspaceRounds, type RoundsDeps } from '../reminders/workspace-rounds.ts'
import { indexes } from '../store/indexes.ts'
import { keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { transact, type Deps } from '../store/transact.ts'
import { choiceOf, readMailChoices } from './mail-choices.ts'
import { MailCounts } from './mail-counts.ts'
import type { SendMail } from './mailer.ts'
import { mailOf } from './notice-mail-text.ts'
import type { SharedCounters } from '../store/counters.ts'

/** For so long after something was done in a workspace, mails can be due in it, in milliseconds. */
const BUSY = 5 * MINUTE
/** Mails of a person within an hour after the first; what is left out is in the inbox. So in any hour at most 20. */
const [COUNTED, MOST] = [3600, 10] as const
/** How many mails are looked for at once. */
const BATCH = 50

interface NoticeMailDeps extends Deps, RoundsDeps {
  /** undefined: no mail is sent, and what would be is forgotten */
  readonly send: SendMail | undefined
  /** the public URL of the service */
  readonly url: string | undefined
  readonly counters: SharedCounters | undefined
  readonly log: Logger
}

/**
 * Mails notices to people: what is unread when it is due. It is marked as mailed in a commit before it is sent: so it is sent once at most,
 * by however many processes, and also if one of them is killed. What the person may not read any more gives no mail.
 */
export class NoticeMailer extends WorkspaceRounds {
  readonly #deps: NoticeMailDeps
  readonly #counts: MailCounts

  constructor(deps: NoticeMailDeps) {
    super(deps, { period: 5_000, idle: HOUR / 4, busy: BUSY }, { event: 'mail.waiting', message: 'notices are not mailed at present' })
    this.#deps = deps
    this.#counts = new MailCounts(deps.clock, deps.counters)
  }

  protected async visit(workspaceId: string): Promise<void> {
    for (let more = true; more;) {
      const due = await this.#dueIn(workspaceId)
      for (const mail of due) {
        // What is due stays for the next process.
        if (this.isStopping) return
        await this.#send(workspaceId, mail)
      }
      more = due.length === BATCH
    }
  }

  async #dueIn(workspaceId: string): Promise<readonly NoticeMail[]> {
    const { store, random, clock } = this.#deps
    const options = { before: `${timestamp(clock)} ~`, limit: BATCH, weak: true } as const
    const { values } = await transact(store, workspaceId, random, async (tx) => tx.range(indexes.noticeMails(), options))
    return values.filter((one) => one !== undefined)
  }

  async #send(workspaceId: string, due: NoticeMail): Promise<void> {
    const { store, random, send, url, log } = this.#deps
    // Without the public URL, there would be no link that ends such mails.
    const chosen = send && url !== undefined ? await readMailChoices(this.#deps, due.user_id) : undefined
    // An address that nobody has confirmed gets mails about the security of the account alone.
    const isMailable = chosen !== undefined && chosen.account.email_confirmed !== false
    const isNow = (kind: NoticeKind) => isMailable && choiceOf(chosen.mails, kind) === (due.is_daily ? 'daily' : 'at_once')
    const isLater = (kind: NoticeKind) => isMailable && !due.is_daily && choiceOf(chosen.mails, kind) === 'daily'
    const notices = await transact(store, workspaceId, random, (tx) => this.#take(tx, workspaceId, due, isNow, isLater))
    if (!isMailable || notices.length === 0) return
    for (const some of due.is_daily ? [notices] : byCard(notices)) {
      if ((await this.#counts.add(`${due.user_id} notices`, COUNTED)) > MOST)
        log.debug({ event: 'mail.left_out', user_id: due.user_id, reason: 'there were too many' }, 'a mail was left out')
      else send!({ to: chosen.account.email, ...mailOf({ ...due, url: url!, workspaceId, mails: chosen.mails }, some) })
    }
  }

  /** Takes what is due from the storage: the notices of the mails, oldest first. */
  async #take(
    tx: Transaction,
    workspaceId: string,
    due: NoticeMail,
    isNow: (kind: NoticeKind) => boolean,
    isLater: (kind: NoticeKind) => boolean,
  ): Promise<readonly Notice[]> {
    const { services, clock } = this.#deps
    const { engine } = services()
    const { user_id: userId, from } = due
    const [known, membership] = await tx.read([keys.noticeMail(due.id), keys.membership(userId)])
    if (known === undefined) return []
    tx.remove(keys.noticeMail(due.id))
    if (!isActive(membership)) return []
    const { entries } = await tx.range(indexes.notices(userId), { limit: limits.noticesPerPerson, reverse: true, weak: true })
    const wanted = entries.toReversed().flatMap((entry) => {
      const record = tx.known(keys.notice(userId, entry))
      const isUnread = record?.read_at === null && record.mailed_at === undefined && record.at >= from && isOf(membership, record)
      return isUnread ? [{ entry, record }] : []
    })
    if (wanted.some(({ record }) => isLater(record.kind))) {
      const daily = dailyMailAfter(userId, clock())
      tx.putUnread(keys.noticeMail(daily.id), daily)
    }
    const now = wanted.filter(({ record }) => isNow(record.kind))
    // Another process that sends them, or a person who reads them, is noticed.
    await tx.confirm(now.map(({ entry }) => keys.notice(userId, entry)))
    const caller: Caller = { userId, workspaceId, membership, isSession: true }
    const presented = await presentNotices({ tx, caller }, now)
    const decisions = Decisions.of(engine)
    const may = (permission: string, context: object) =>
      decisions.decide(permission as never, caller, context as never).outcome === 'allowed'
    if (!may('read Notice', {})) return []
    return presented.flatMap((one, i) => {
      if (one === undefined || !may(one.permission, one.context)) return []
      const { entry, record } = now[i]!
      tx.put(keys.notice(userId, entry), { ...record, mailed_at: timestamp(clock) })
      return [one.data]
    })
  }
}

/** What is about one card is one mail. So is what is about the webhooks of one board. */
function byCard(notices: readonly Notice[]): readonly (readonly Notice[])[] {
  const byCardId = new Map<string, Notice[]>()
  for (const notice of notices) {
    const about = notice.card_id ?? notice.board_id ?? notice.id
    byCardId.set(about, [...(byCardId.get(about) ?? []), notice])
  }
  return [...byCardId.values()]
}

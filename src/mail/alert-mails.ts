import type { Logger } from 'pino'
import { thingOf } from '../auth/accounts/alerts.ts'
import type { Account } from '../model/account.ts'
import { andThen, type Awaitable } from '../model/awaitable.ts'
import type { Alert } from '../model/second-factor.ts'
import type { Clock } from '../model/time.ts'
import type { SharedCounters } from '../store/counters.ts'
import { MailCounts } from './mail-counts.ts'
import type { Mail, SendMail } from './mailer.ts'

/** A mail about one kind of alert and one thing is the only one for so many seconds. */
const OF_THING = 600
/** For so many seconds after a mail, a person gets at most so many: so in any hour, which can have the ends of two such times, at most 12. */
const [HOUR, OF_PERSON] = [3600, 6] as const

/** Links that are mailed to one address, and those that one person has mailed, in a time of an hour. */
const [LINKS_TO, LINKS_BY] = [6, 60] as const

/** Whom a mail is sent to: also at an address that nobody has confirmed, because alerts protect the account. A stranger gets few. */
export type Addressee = Pick<Account, 'user_id' | 'email'>

interface AlertMailDeps {
  readonly send: SendMail
  readonly clock: Clock
  readonly log: Logger
  /** shared by all processes that count together; undefined: this process counts alone */
  readonly counters?: SharedCounters | undefined
}

/**
 * Decides whether a person gets a mail about an alert, and sends it: nothing else leads to the mail server. What is left out is an alert on
 * the pages of the person anyway. Mails about notices are counted apart: they use up none of these.
 */
export class AlertMails {
  readonly #deps: AlertMailDeps
  readonly #counts: MailCounts

  constructor(deps: AlertMailDeps) {
    this.#deps = deps
    this.#counts = new MailCounts(deps.clock, deps.counters)
  }

  /** Sends a mail about an alert, unless the person had such a mail or many a short time ago. */
  send(to: Addressee, alert: Alert, mail: Omit<Mail, 'to'>): Awaitable<void> {
    const { send, log } = this.#deps
    return andThen(this.#refusalOf(to, alert), (refusal) => {
      if (refusal === undefined) return send({ to: to.email, ...mail })
      log.debug({ event: 'mail.left_out', user_id: to.user_id, kind: alert.kind, reason: refusal }, 'a mail was left out')
    })
  }

  /**
   * Mails a link to an address, unless it or its sender had many a short time ago.
   * @param by the id of the user who asks for it
   * @returns whether it is sent
   */
  async sendLink(by: string, mail: Mail): Promise<boolean> {
    const counts = [await this.#counts.add(`${by} links`, HOUR), await this.#counts.add(`${mail.to} links`, HOUR)] as const
    const isSent = counts[0] <= LINKS_BY && counts[1] <= LINKS_TO
    if (isSent) this.#deps.send(mail)
    else this.#deps.log.warn({ event: 'mail.left_out', user_id: by, kind: 'link', reason: 'there were too many' }, 'a mail was left out')
    return isSent
  }

  #refusalOf({ user_id, email }: Addressee, alert: Alert): Awaitable<string | undefined> {
    return andThen(this.#counts.add(`${user_id} ${email} ${alert.kind} ${thingOf(alert)}`, OF_THING), (ofThing) => {
      if (ofThing > 1) return 'there was one of this kind and thing'
      return andThen(this.#counts.add(`${user_id} alerts`, HOUR), (count) => (count > OF_PERSON ? 'there were too many' : undefined))
    })
  }
}

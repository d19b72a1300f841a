import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { lazy } from '../model/lazy.ts'

/** A mail. It contains no secret, except a link that its reader asked for or is invited with, and which works once. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** the same for programs that show it; undefined: the text alone */
  readonly html?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a mail in the background. A mail that cannot be sent is logged; it never delays or fails what it tells about. */
export type SendMail = (mail: Mail) => void

/** What sends mails. */
interface Mailer {
  readonly send: SendMail
  /** Waits until mails that were begun are sent or given up, but not longer than for a mail server that does not answer. */
  settled(): Promise<unknown>
}

/** Milliseconds until a mail server that does not answer is given up. */
const TIMEOUT = 20_000

/**
 * Sends mails by SMTP. The library is loaded with the first mail or after the start, which does not wait for it.
 * @param url `smtp://` or `smtps://`, with the name and password of the account if the server needs them
 * @param from the sender, such as `Lanekeeper <kanban@example.org>`
 */
export function createMailer({ url, from, log }: { readonly url: string; readonly from: string; readonly log: Logger }): Mailer {
  const transport = lazy(async () => {
    const { createTransport } = await import('nodemailer')
    return createTransport({ url, connectionTimeout: TIMEOUT, greetingTimeout: TIMEOUT, socketTimeout: TIMEOUT })
  })
  const send = async (mail: Mail): Promise<void> => {
    // Programs that answer when somebody is away answer no such mail (RFC 3834).
    const headers = { 'Auto-Submitted': 'auto-generated', ...mail.headers }
    await (await transport()).sendMail({ from, ...mail, headers })
  }
  const begun = new Set<Promise<void>>()
  const sendOrLog = (mail: Mail): Promise<void> =>
    send(mail).catch((error: unknown) => {
      // The message of the error may contain the address of the person, and the URL contains the password of the mail account.
      const { code = 'unknown' } = error as { code?: string }
      // A mail about notices has texts of people in its subject.
      const subject = mail.html === undefined ? mail.subject : undefined
      log.error({ event: 'mail.failed', code, subject }, 'a mail was not sent')
    })
  return {
    send(mail) {
      const sent = sendOrLog(mail).then(() => void begun.delete(sent))
      begun.add(sent)
    },
    settled: () => Promise.race([Promise.all(begun), delay(TIMEOUT, undefined, { ref: false })]),
  }
}

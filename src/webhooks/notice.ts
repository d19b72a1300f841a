import type { Logger } from 'pino'
import { addNotice } from '../auth/accounts/notices.ts'
import type { SendMail } from '../mail/mailer.ts'
import { lazy } from '../model/lazy.ts'
import type { WebhookRecord } from '../model/webhook.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { type Deps, transact } from '../store/transact.ts'

const noticesModule = lazy(() => import('../web/account/notices.ts'))

interface NoticeDeps extends Deps {
  readonly log: Logger
  readonly mail: SendMail | undefined
  readonly origin: string | undefined
}

/** Notifies the creator of a webhook that it was disabled: in the web app, and by mail. It has ended already, so a failure is only logged. */
export async function announceEnd({ log, mail, origin, ...deps }: NoticeDeps, { id, creator_id, url }: WebhookRecord): Promise<void> {
  const members = { kind: 'webhook_disabled', agent: 'The service', address: id, session_id: null, name: new URL(url).host } as const
  try {
    const [account, notice] = await transact(deps.store, GLOBAL, deps.random, async (tx) => [
      await tx.get(keys.account(creator_id)),
      await addNotice(tx, creator_id, members, deps),
    ])
    if (account !== undefined) (await noticesModule()).mailNotice(mail, origin ?? '', account.email, notice)
  } catch (error) {
    log.error({ event: 'webhooks.notice_failed', webhook_id: id, err: error }, 'a notice was not stored')
  }
}

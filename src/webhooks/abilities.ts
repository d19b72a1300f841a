import { SecretKeyError } from '../auth/secret-keys.ts'
import { ApiError } from '../model/errors.ts'
import type { WebhookAbilities } from '../resources/webhooks/abilities.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { transact } from '../store/transact.ts'
import type { Attempts } from './attempts.ts'
import { newSecret } from './signature.ts'
import type { Targets } from './targets.ts'

/** What the operations on webhooks need of the service. */
export interface AbilityDeps {
  readonly attempts: Attempts
  readonly targets: Targets
  /**
   * seals a secret for a record, in the commit that stores it.
   * @throws {SecretKeyError}
   */
  readonly seal: (tx: Transaction, text: string, owner: string) => Promise<string>
}

/** Makes what the operations on webhooks need. */
export function webhookAbilities({ attempts, targets, seal }: AbilityDeps): WebhookAbilities {
  const store = () => attempts.services().store
  const sealFor: WebhookAbilities['seal'] = async (tx, webhookId, text) => {
    try {
      return await seal(tx, text, keys.webhook(webhookId))
    } catch (error) {
      if (!(error instanceof SecretKeyError)) throw error
      attempts.services().log.error({ event: 'secrets.unusable', reason: error.message }, 'the secret of a webhook cannot be stored')
      throw new ApiError('unavailable', { message: NO_KEY })
    }
  }
  return {
    refusalOf: (url) => targets.refusalOf(url),
    async newSecret(tx, webhookId, random) {
      const secret = newSecret(random)
      return { secret, sealed: await sealFor(tx, webhookId, secret) }
    },
    seal: sealFor,
    async register(workspaceId) {
      await transact(store(), GLOBAL, attempts.random, async (tx) => {
        const key = keys.webhookWorkspace(workspaceId)
        if ((await tx.get(key)) === undefined) tx.put(key, { id: workspaceId })
      })
    },
    async sendTest(webhook) {
      const attempt = await attempts.sendTest(webhook)
      if (attempt === undefined) throw new ApiError('unavailable', { message: STOPS, members: { outcome: 'unknown' } })
      return attempt.delivery
    },
  }
}

const STOPS = 'The service stops. Whether the receiver has got the test is not known.'
const NO_KEY = 'The service has no key for the secrets of webhooks: the operator has to set LANEKEEPER_SECRET_KEY.'

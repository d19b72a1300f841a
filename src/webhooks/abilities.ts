import { limits } from '../model/limits.ts'
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
  /** seals a secret for a record, in the commit that stores it. @throws {SecretKeyError} */
  readonly seal: (tx: Transaction, text: string, owner: string) => Promise<string>
  /** looks for webhooks that were created or enabled */
  readonly lookAgain: () => void
}

/** Makes what the operations on webhooks need. */
export function webhookAbilities({ attempts, targets, seal, lookAgain }: AbilityDeps): WebhookAbilities {
  const store = () => attempts.services().store
  return {
    refusalOf: (url) => targets.check(url),
    async newSecret(tx, webhookId, random) {
      const secret = newSecret(random)
      return { secret, sealed: await seal(tx, secret, keys.webhook(webhookId)) }
    },
    async register(workspaceId) {
      await transact(store(), GLOBAL, attempts.random, async (tx) => {
        const key = keys.webhookWorkspace(workspaceId)
        if ((await tx.get(key)) === undefined) tx.put(key, { id: workspaceId })
      })
      // After the commit of the request: soon enough, because it looks from time to time as well.
      setImmediate(lookAgain)
    },
    async sendTest(workspaceId, webhook) {
      const { delivery } = (await attempts.sendTest(workspaceId, webhook))!
      await transact(store(), workspaceId, attempts.random, async (tx) => {
        const [stored, before] = await tx.read([keys.webhook(webhook.id), keys.webhookDeliveries(webhook.id)])
        if (stored === undefined) return
        const deliveries = [delivery, ...(before?.deliveries ?? [])].slice(0, limits.deliveriesKept)
        tx.put(keys.webhookDeliveries(webhook.id), { webhook_id: webhook.id, deliveries })
      })
      return delivery
    },
  }
}

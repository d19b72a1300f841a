import { sealIn, type SecretKeys } from '../../auth/secret-keys.ts'
import type { WebhookRecord } from '../../model/webhook.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'

type WithSecrets = Pick<WebhookRecord, 'id' | 'secret' | 'old_secrets' | 'authorization'>

/** The secrets of a webhook, as they are stored. */
export function secretsOf({ secret, old_secrets, authorization }: WithSecrets): string[] {
  return [secret, ...old_secrets.map((old) => old.secret), ...(authorization == null ? [] : [authorization])]
}

/**
 * Checks that the secrets of a webhook can be opened.
 * @throws {SecretKeyError}
 */
export function checkSecrets(secretKeys: SecretKeys, webhook: WithSecrets): void {
  for (const secret of secretsOf(webhook)) secretKeys.open(secret, keys.webhook(webhook.id))
}

/**
 * Seals the secrets of a webhook again, with the key that its workspace records.
 * @throws {SecretKeyError} if one cannot be opened
 */
export async function resealSecrets(tx: Transaction, id: string, secretKeys: SecretKeys): Promise<void> {
  const key = keys.webhook(id)
  const webhook = await tx.get(key)
  if (webhook === undefined) return
  const { secret, old_secrets, authorization } = webhook
  const reseal = (sealed: string): Promise<string> => sealIn(tx, secretKeys, secretKeys.open(sealed, key), key)
  const resealed = await Promise.all(old_secrets.map(async (old) => ({ ...old, secret: await reseal(old.secret) })))
  const others = authorization == null ? {} : { authorization: await reseal(authorization) }
  tx.put(key, { ...webhook, secret: await reseal(secret), old_secrets: resealed, ...others })
}

import type { RandomSource } from '../../model/ids.ts'
import type { Delivery, WebhookRecord } from '../../model/webhook.ts'
import type { Transaction } from '../../store/transaction.ts'
import { Ability } from '../operation.ts'

/** Why a webhook cannot be tested. */
export const TESTED = 'The webhook is being tested already.'

/** What webhooks need beside the records of their workspace: it is the service's, and no operation decides with it. */
export interface WebhookAbilities {
  /** What is wrong with a URL; undefined: nothing is known to be. */
  refusalOf(url: string): Promise<string | undefined>
  /**
   * Makes a secret, and seals it for the record of a webhook.
   * @throws {ApiError} `unavailable` if the service has no key
   */
  newSecret(tx: Transaction, webhookId: string, random: RandomSource): Promise<{ readonly secret: string; readonly sealed: string }>
  /**
   * Seals another secret for the record of a webhook.
   * @throws {ApiError} `unavailable` if the service has no key
   */
  seal(tx: Transaction, webhookId: string, text: string): Promise<string>
  /**
   * Remembers that a workspace has webhooks, so that they are found after a start. It may be repeated.
   * @throws {StorageUnavailable}
   */
  register(workspaceId: string): Promise<void>
  /**
   * Sends a delivery without entries. It never throws because of the receiver.
   * @throws {ApiError} `conflict` ({@link TESTED}); `unavailable` if the service stops
   */
  sendTest(webhook: WebhookRecord): Promise<Delivery>
}

export const WEBHOOKS = new Ability<WebhookAbilities>()

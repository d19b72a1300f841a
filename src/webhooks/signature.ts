import { createHmac } from 'node:crypto'
import type { RandomSource } from '../model/ids.ts'

// Signatures by Standard Webhooks 1.0 (https://www.standardwebhooks.com), with symmetric keys: `v1`
// (src/http/webhooks.md, "Verifying").

const PREFIX = 'whsec_'
/** Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32
const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** What is signed. */
export interface Signing {
  /** the secrets of the webhook, the newest first; two while the old one still signs after a rotation */
  readonly secrets: readonly [string, ...string[]]
  /** the `webhook-id`: the same for each attempt at the same entries */
  readonly id: string
  /** when this attempt is made, in seconds since 1970 */
  readonly timestamp: number
  /** the body, exactly as it is sent */
  readonly body: string
}

/** The headers that a receiver verifies. */
export type SignatureHeaders = Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>>

/** Returns a new secret: `whsec_` and 256 random bits in base64. */
export function newSecret(random: RandomSource): string {
  return PREFIX + Buffer.from(random(SECRET_BYTES)).toString('base64')
}

/**
 * Signs one attempt at a delivery: `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64, for each secret, separated by spaces.
 * @throws {TypeError} an argument is not of its shape, which is a defect of the caller; the message contains no secret
 */
export function sign({ secrets, id, timestamp, body }: Signing): SignatureHeaders {
  // With a full stop in the id, two deliveries could have the same signed text.
  if (!/^[\w-]+$/.test(id)) throw new TypeError('the id of a delivery has a character that is not allowed')
  if (!Number.isSafeInteger(timestamp)) throw new TypeError('the time of a delivery is not a whole number of seconds')
  const text = `${id}.${timestamp}.${body}`
  const signatures = secrets.map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(text).digest('base64')}`)
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') }
}

function keyOf(secret: string): Buffer {
  if (!SECRET.test(secret)) throw new TypeError('it is not a secret of a webhook')
  return Buffer.from(secret.slice(PREFIX.length), 'base64')
}

import { createHash } from 'node:crypto'
import { expect } from 'vitest'

// The headers of each kind of response, written by hand.

const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
export const [ETAG, PAGE_ETAG] = [/^"[0-9A-Za-z]{20}"$/, /^W\/"[0-9a-f]{40}"$/].map((form) => expect.stringMatching(form))
const LENGTH = expect.stringMatching(/^[1-9][0-9]*$/)

// What Node adds to each response, and to one after which the connection stays open.
const DATED = { date: expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/) }
export const OPEN = { ...DATED, connection: 'keep-alive', 'keep-alive': expect.stringMatching(/^timeout=\d+$/) }
export const CLOSED = { ...DATED, connection: 'close' }

const UNLIMITED = { vary: 'Authorization, Accept-Encoding', 'x-content-type-options': 'nosniff', 'x-request-id': UUID }
/** The clock of the service stands at the begin of a minute. */
const RATED = {
  'ratelimit-policy': '"token";q=300;w=60, "workspace";q=600;w=60',
  ratelimit: expect.stringMatching(/^"token";r=2\d\d;t=60, "workspace";r=5\d\d;t=60$/),
}
/** Only the address of the client is known. */
export const RATED_BY_ADDRESS = {
  'ratelimit-policy': '"address";q=1000;w=60',
  ratelimit: expect.stringMatching(/^"address";r=(1000|9\d\d);t=60$/),
}
const SHARED = { ...UNLIMITED, ...RATED }
const NOT_STORED = { ...SHARED, 'cache-control': 'private, no-store' }
export const REVALIDATED = { ...SHARED, 'cache-control': 'private, no-cache' }
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', 'content-length': LENGTH }
export const JSON_BODY = { ...OPEN, ...NOT_STORED, ...JSON_TYPE }
/** A response outside of /v1. */
export const UNLIMITED_JSON_BODY = { ...OPEN, ...UNLIMITED, 'cache-control': 'private, no-store', ...JSON_TYPE }
export const UNAUTHORIZED = { ...JSON_BODY, ...RATED_BY_ADDRESS, 'www-authenticate': 'Bearer' }
/** A response to what is no valid HTTP. */
export const REFUSED = { ...UNLIMITED, 'cache-control': 'private, no-store', ...JSON_TYPE, connection: 'close' }

export const CONTENT = 'Hello, world'
export const CONTENT_ETAG = `"${createHash('sha256').update(CONTENT).digest('hex')}"`
export const DOWNLOAD = {
  ...OPEN,
  ...NOT_STORED,
  'content-type': 'image/png',
  'content-disposition': `attachment; filename="a 'b' _.png"; filename*=UTF-8''a%20%27b%27%20%C3%A9.png`,
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'accept-ranges': 'bytes',
  etag: CONTENT_ETAG,
  vary: 'Authorization',
}
export const UNCHANGED_DOWNLOAD = { ...OPEN, ...REVALIDATED, etag: CONTENT_ETAG, vary: 'Authorization' }

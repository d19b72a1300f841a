import type { HeaderObject, ParameterObject, Reference } from './types.ts'

const text = (maxLength: number, further: object = {}) => ({ type: 'string', maxLength, ...further })
const ETAG = { type: 'string', pattern: '^(W/)?"[0-9A-Za-z.]+(-br|-gzip|-zstd)?"$', maxLength: 100 }
/** A header that always has the same value. */
const constant = (value: string, description: string, further: { readonly required?: true } = {}): HeaderObject => ({
  description,
  ...further,
  schema: { type: 'string', const: value },
  example: value,
})
const ALWAYS = { required: true } as const
const EXAMPLE_ETAG = '"0x1vq5k3m8zr7t2c9wgd"'

/** The headers of responses. */
export const headers = {
  'X-Request-Id': {
    description: 'The id of the request. The log of the service names it.',
    required: true,
    schema: text(36, { format: 'uuid' }),
    example: '4a2f0c1e-8f0b-4a57-9f0e-2f6d4f3b1c55',
  },
  'Cache-Control': {
    description: 'No shared cache may store a response. With `no-cache`, the client may store it and must revalidate it.',
    required: true,
    schema: { type: 'string', enum: ['private, no-store', 'private, no-cache'] },
    example: 'private, no-store',
  },
  Vary: {
    description: 'The response depends on the token, and its coding on what the client accepts. The bytes of files are not compressed.',
    required: true,
    schema: { type: 'string', enum: ['Authorization, Accept-Encoding', 'Authorization'] },
    example: 'Authorization, Accept-Encoding',
  },
  'Content-Encoding': {
    description:
      'How the body is compressed: only if the request has an Accept-Encoding that prefers it, and the body more than 1024 bytes.',
    schema: { type: 'string', enum: ['br', 'gzip'] },
    example: 'br',
  },
  'X-Content-Type-Options': constant('nosniff', 'Browsers must not guess another media type.'),
  RateLimit: {
    description:
      'What remains of each limit until its window ends (IETF draft RateLimit header fields): `r` requests, `t` seconds. Absent if the operator has turned the limits off.',
    schema: text(200, { pattern: '^"(token|workspace|address)";r=\\d+;t=\\d+(, "workspace";r=\\d+;t=\\d+)?$' }),
    example: '"token";r=1199;t=60, "workspace";r=11874;t=60',
  },
  'RateLimit-Policy': {
    description: 'The limits: `q` requests in `w` seconds. Absent if the operator has turned them off.',
    schema: text(200, { pattern: '^"(token|workspace|address)";q=\\d+;w=\\d+(, "workspace";q=\\d+;w=\\d+)?$' }),
    example: '"token";q=1200;w=60, "workspace";q=12000;w=60',
  },
  'Lanekeeper-Token-Expires': {
    description: 'When the token expires: only in its last 14 days.',
    schema: text(24, { format: 'date-time' }),
    example: '2027-02-18T12:00:00.000Z',
  },
  ETag: {
    description:
      'The version of the resource of the path; of a created resource, its own. The version of a compressed response has a suffix, which is ignored in conditions. A list has a weak one, of the page. A response with counts has none.',
    schema: ETAG,
    example: EXAMPLE_ETAG,
  },
  Location: {
    description: 'The path of the created resource, including the path of `servers`. A dry run has none.',
    schema: text(1000, { pattern: '^/(.+/)?v1/[a-z]+/[a-z]{3}_[0-9a-z]{20}$', format: 'uri-reference' }),
    example: '/v1/boards/brd_0123456789abcdefghjk',
  },
  'Dry-Run': constant('true', 'Nothing was changed: the request has `dry_run=true`.'),
  'Idempotent-Replayed': constant(
    'true',
    'The response of an earlier request with the same Idempotency-Key. This request changed nothing.',
  ),
  'WWW-Authenticate': {
    description:
      'On a 401: `Bearer`. On a 403 with `insufficient_scope`: with the scope that is required (RFC 6750 §3). On `forbidden`: absent.',
    schema: text(100, { pattern: '^Bearer( error="insufficient_scope", scope="kanban:(read|write|admin)")?$' }),
    example: 'Bearer error="insufficient_scope", scope="kanban:write"',
  },
  'Retry-After': {
    description: 'The seconds until the request may be sent again.',
    schema: { type: 'string', pattern: '^[1-9]\\d*$', maxLength: 10 },
    example: '1',
  },
  'Accept-Post': { description: 'The media types that a POST accepts.', schema: text(100), example: 'application/json' },
  'Accept-Patch': {
    description: 'The media types that a PATCH accepts.',
    schema: text(100),
    example: 'application/json, application/merge-patch+json',
  },
  'Accept-Encoding': constant('identity', 'The content codings that are accepted.'),
  'Accept-Ranges': constant('bytes', 'Parts of the file can be requested with Range.', ALWAYS),
  'Content-Range': {
    description: 'Which bytes of the file the response has, or only how many it has in all.',
    required: true,
    schema: text(100, { pattern: '^bytes (\\d+-\\d+|\\*)/\\d+$' }),
    example: 'bytes 7-11/12',
  },
  'X-Accel-Buffering': constant('no', 'A proxy must send each event as soon as it gets it.', ALWAYS),
  'Content-Disposition': {
    description: 'The name of the file.',
    required: true,
    schema: text(4000, { pattern: '^attachment; filename=' }),
    example: `attachment; filename="notes.txt"; filename*=UTF-8''notes.txt`,
  },
  'Content-Security-Policy': constant("sandbox; default-src 'none'", 'Keeps a browser from running the file.', ALWAYS),
  'Cross-Origin-Resource-Policy': constant('same-origin', 'Other origins cannot embed the file.', ALWAYS),
} as const satisfies Record<string, HeaderObject>

export type HeaderName = keyof typeof headers

/** The headers of every response. */
export const SHARED: readonly HeaderName[] = [
  'X-Request-Id',
  'Cache-Control',
  'Vary',
  'Content-Encoding',
  'X-Content-Type-Options',
  'RateLimit',
  'RateLimit-Policy',
  'Lanekeeper-Token-Expires',
]

/**
 * References to the headers of a response.
 * @param further those that not every response has
 */
export function headersOf(...further: readonly HeaderName[]): Record<string, Reference> {
  return Object.fromEntries([...SHARED, ...further].map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const CONDITION = text(1000, { pattern: '^(\\*|\\s*(W/)?"[^"]*"(\\s*,\\s*(W/)?"[^"]*")*\\s*)$' })

/** The headers of requests, except Authorization. */
export const requestHeaders = {
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'The write succeeds only if the resource still has one of these ETags; otherwise it gets 412. `*` always matches.',
    schema: CONDITION,
    example: EXAMPLE_ETAG,
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'If the resource still has one of these ETags, the response is 304 without a body.',
    schema: CONDITION,
    example: EXAMPLE_ETAG,
  },
  IfClaim: {
    name: 'If-Claim',
    in: 'header',
    description:
      'The `epoch` of a claim. The write succeeds only if the calling token holds the card with it at the moment of the change; otherwise it gets 412 with `current_claim`.',
    // A header is a text: kubb cannot call an operation with a number in one.
    schema: text(15, { pattern: '^[1-9][0-9]*$' }),
    example: '7',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Any text of 1 to 255 visible ASCII characters, such as a random UUID. The first request with a key makes the change; for a day, each repetition gets the same response, and changes nothing. A request that fails leaves its key unused.',
    schema: text(257, { minLength: 1 }),
    example: '"8e03978e-40d5-43e8-bc93-6894a57f9324"',
  },
  Range: {
    name: 'Range',
    in: 'header',
    description: 'One range of bytes (RFC 9110 §14.2). Several ranges, or a malformed one, get the whole file.',
    schema: text(100, { pattern: '^bytes=' }),
    example: 'bytes=0-1023',
  },
  IfRange: {
    name: 'If-Range',
    in: 'header',
    description: 'The range is returned only if the file has this ETag; otherwise the whole file.',
    schema: text(100),
    example: EXAMPLE_ETAG,
  },
} as const satisfies Record<string, ParameterObject>

/** References to the headers with these names. */
export function requestHeaderReferences(...names: (keyof typeof requestHeaders)[]): Reference[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

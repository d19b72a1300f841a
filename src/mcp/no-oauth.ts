import { randomUUID } from 'node:crypto'
import { jsonResponse } from '../http/envelope.ts'

// An MCP client without a token, or with a wrong one, looks for OAuth, and shows its user what it gets here.

/** What OAuth metadata is called (RFC 8414, RFC 9728, OpenID Connect Discovery). */
const METADATA = ['oauth-authorization-server', 'oauth-protected-resource', 'openid-configuration']

/**
 * Where MCP clients look for OAuth: on the origin, and before and below the path of the endpoint.
 * @param base the path of the service, or empty
 */
export function oauthAddresses(base: string): ReadonlySet<string> {
  const ends = ['', '/mcp', base, `${base}/mcp`]
  return new Set([
    ...['register', 'authorize', 'token'].flatMap((name) => [`/${name}`, `/mcp/${name}`]),
    ...METADATA.flatMap((name) => [...ends.map((end) => `/.well-known/${name}${end}`), `/mcp/.well-known/${name}`]),
  ])
}

/**
 * Says that there is no OAuth, and where tokens are made, in the form of OAuth (RFC 6749, section 5.2): a client shows its user the
 * description.
 * @param base the path of the service, or empty
 */
export function answerNoOAuth(base: string): Response {
  const description = `There is no OAuth here: a person creates an access token in the web app, at ${base}/settings, and the client sends it as "Authorization: Bearer <token>".`
  return jsonResponse(randomUUID(), 404, JSON.stringify({ error: 'not_found', error_description: description }), {})
}

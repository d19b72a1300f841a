import { randomUUID } from 'node:crypto'
import { errorResponse } from '../http/envelope.ts'
import { ApiError } from '../model/errors.ts'

// An MCP client without a token, or with a wrong one, looks for OAuth, and shows its user what it gets here.

/** What OAuth metadata is called (RFC 8414, RFC 9728, OpenID Connect Discovery). */
const METADATA = ['oauth-authorization-server', 'oauth-protected-resource', 'openid-configuration']

/** Where MCP clients look for OAuth: on the origin, and before and below the path of the endpoint. */
export const oauthAddresses: readonly string[] = [
  ...['register', 'authorize', 'token'].flatMap((name) => [`/${name}`, `/mcp/${name}`]),
  ...METADATA.flatMap((name) => [`/.well-known/${name}`, `/.well-known/${name}/mcp`, `/mcp/.well-known/${name}`]),
]

const MESSAGE =
  'There is no OAuth here: a person creates an access token in the web app, at /settings, and the client sends it as "Authorization: Bearer <token>".'

/** Says that there is no OAuth, and where tokens are made. */
export function answerNoOAuth(): Response {
  return errorResponse(randomUUID(), new ApiError('not_found', { message: MESSAGE }))
}

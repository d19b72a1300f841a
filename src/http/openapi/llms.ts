import type { OpenApiDocument } from './types.ts'

/** The calls that an agent needs most. */
const CALLS = [
  'account.read',
  'members.list',
  'boards.list',
  'boards.read',
  'cards.search',
  'cards.read',
  'cards.create',
  'cards.update',
  'cards.move',
  'comments.create',
]

/**
 * `/llms.txt`: what an agent needs first, in a few lines.
 * @param origin the origin under which the client reaches the service
 */
export function createLlmsText({ info, paths }: OpenApiDocument, origin: string): string {
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ line: `${method.toUpperCase()} ${path}`, operation })),
  )
  const calls = CALLS.flatMap((id) => rows.filter(({ operation }) => operation.operationId === id)).map(
    ({ line, operation: { operationId, summary, security } }) =>
      `- \`${line}\`: ${summary}. (${operationId}, ${Object.values(security[0]!).flat().join(' ')})`,
  )
  return [
    `# ${info.title}`,
    `> ${String(info['summary'])}`,
    `Base URL: ${origin}/v1`,
    'Send `Authorization: Bearer <ACCESS_TOKEN>` with every request. A token begins with `lk_pat_` and represents one user in one workspace. Users create tokens in the web app, at ' +
      `${origin}/settings. Its scope is kanban:read, kanban:write or kanban:admin; each includes those before it.`,
    'Success is `{"data": …}`, for a list with `{"page": {"next_cursor": …}}`. Failure is `{"error": {"code", "message", "request_id"}}`. Bodies are JSON. Retry only 429 and 503, after `Retry-After` seconds. Give each write an `Idempotency-Key`, such as a random UUID: sent again with the same key, it is made once. `?dry_run=true` checks a write and changes nothing. What the user has no access to is 404.',
    `MCP: ${origin}/mcp (Streamable HTTP) takes the same token, and has the tools that its scopes allow.`,
    '## Most used calls',
    calls.join('\n'),
    '## Documents',
    [
      `- [OpenAPI 3.1](${origin}/openapi.json): every operation with its parameters, schemas, examples, errors and headers`,
      `- [Reference](${origin}/docs): the same as pages`,
    ].join('\n'),
    '',
  ].join('\n\n')
}

import type { OpenApiDocument } from './types.ts'

/**
 * The calls that an agent needs most, in this order, each with a query or a body that works. `{name}` stands for a value from the answer of
 * another call.
 */
const calls: Readonly<Record<string, string>> = {
  'account.read': '',
  'members.list': '',
  'boards.list': '',
  'boards.read': '?include=columns,cards,labels,members',
  'boards.changes': '?after={changes_cursor}&wait=20',
  'cards.search': '?assignee_id=me&completed=false',
  'cards.list': '?column_id={column_id}&fields=title,due_at',
  'cards.read': '',
  'boards.create': '{"name":"Garden"}',
  'columns.create': '{"name":"To do"}',
  'cards.create': '{"column_id":"{column_id}","title":"Sow carrots"}',
  'cards.update': '{"description":"Row 3"}',
  'cards.move': '{"column_id":"{column_id}","to":"first"}',
  'cards.complete': '{"completed":true}',
  'cards.assign': '',
  'comments.create': '{"body":"Done."}',
}

/**
 * `/llms.txt`: what an agent needs first, on one screen. Each call is run by a test.
 * @param url the URL that the client reaches the service at
 */
export function createLlmsText({ info, paths }: OpenApiDocument, url: string): string {
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const lines = Object.entries(calls).flatMap(([id, example]) =>
    rows
      .filter(({ operation }) => operation.operationId === id)
      .map(({ method, path, operation: { operationId, summary, security } }) => {
        const request = `${method} ${path}${example.startsWith('{') ? ' ' : ''}${example}`
        return `- \`${request}\`: ${summary}. (${operationId}, ${Object.values(security[0]!).flat().join(' ')})`
      }),
  )
  return [
    `# ${info.title}`,
    `> ${String(info['summary'])}`,
    `Base URL: ${url}/v1`,
    `MCP: ${url}/mcp (Streamable HTTP) takes the same token, and has the tools that its scopes allow.`,
    'Send `Authorization: Bearer <ACCESS_TOKEN>` with every request. A token begins with `lk_pat_` and represents one user in one workspace. Users create tokens in the web app, at ' +
      `${url}/settings. Its scope is kanban:read, kanban:write or kanban:admin; each includes those before it.`,
    [
      '- Success is `{"data": …}`, for a list with `{"page": {"next_cursor": …}}`. Failure is `{"error": {"code", "message", "request_id"}}`. Bodies are JSON. What the user has no access to is 404.',
      '- Mistakes are errors: a parameter, filter or member that is not known, or malformed, is 422, and `issues` names it. Nothing is ignored.',
      '- Overwrite nobody: the answer about one resource, such as a card, has an `ETag`; send it with the write as `If-Match`. 412 means that someone has changed it since: read it again, and decide anew. Do not just repeat the write.',
      '- Retry only 429 and 503, after `Retry-After` seconds. Give each write an `Idempotency-Key`, such as a random UUID: sent again with the same key, it is made once. `?dry_run=true` checks a write and changes nothing.',
      '- What has changed: keep `changes_cursor` of a board read with `include`, then ask for the changes `after` it. Each answer has the next cursor in `page.next_cursor`; `wait` waits for a change.',
    ].join('\n'),
    '## Most used calls',
    lines.join('\n'),
    '## Documents',
    [
      `- [OpenAPI 3.1](${url}/openapi.json): every operation with its parameters, schemas, examples, errors and headers`,
      `- [Reference](${url}/docs): the same as pages`,
    ].join('\n'),
    '',
  ].join('\n\n')
}

import { limits } from '../../model/limits.ts'
import type { DocumentSource } from './source.ts'
import { httpClients, mcpClients, versionsInWords } from './tried-with.ts'

/** What the document says of the whole service, in Markdown. */
export function overview({ uploadBytes, quotas, base = '' }: Pick<DocumentSource, 'uploadBytes' | 'quotas' | 'base'>): string {
  return [
    'A workspace has boards; a board has columns, cards and labels; a card has assignees, labels, subtasks, comments and attachments.',
    '## Authentication',
    'Every request carries `Authorization: Bearer <ACCESS_TOKEN>`. Begin with `account.read`. A missing, malformed, unknown, revoked or expired token gets 401 on every path: do not retry it. There are no cookies, no sessions and no CORS headers.',
    'A scope limits the token. The permission of its user is checked in addition, for every request. A resource that the user has no access to is answered like one that does not exist, with 404.',
    '## Responses',
    'Success is `{"data": …}`, with `{"page": {"next_cursor": …}}` for a list. Failure is `{"error": {"code", "message", "request_id"}}`. Responses may get further members: ignore those that you do not know. Requests with unknown members are refused. HEAD is answered like GET, without a body. A slash at the end of a path is ignored. A PATCH merges the members that it has; its type may also be `application/merge-patch+json`.',
    `## Lists`,
    `A list accepts \`limit\` (1 to ${limits.pageSize.max}, ${limits.pageSize.default} by default) and \`cursor\`. A page ends early at ${limits.pageBytes} bytes. If a list changes while you page through it, no unchanged item is repeated or skipped. \`next_cursor: null\` marks the last page. A page has a weak ETag: \`If-None-Match\` with it saves the transfer of an unchanged page. \`fields\` selects members of reads and lists. A filter that names nothing that you can see is refused (404), and so is one that is malformed or empty (422): an empty list is always an answer. A parameter that is a list can be repeated, with or without brackets (\`include[]\`), or have commas.`,
    '## Concurrent changes',
    'Resources have strong ETags. `If-Match` makes a write conditional: of several writers with the same ETag, one succeeds and the others get 412. `If-None-Match` saves the transfer of an unchanged resource. When you create something, they refer to its parent. (`If-None-Match` on a write and `If-Match` on a read work as RFC 9110 says: 412 if the condition is false.) `If-Match` on something without a strong ETag is 412. The ETag of a compressed response has a suffix, or is weak if a proxy has compressed it: both work in the same conditions.',
    '## Working beside others',
    'A worker takes a card with `POST /boards/{board_id}/claims`, renews the claim while it works, and sends its `epoch` as `If-Claim` with each write to the card: the write is refused (412) if the claim has run out or is held by another token, whatever the clock of the client says. What others write to the card does not disturb it.',
    '## Retrying',
    'Retry 429 and 503 after the seconds in `Retry-After`. With `outcome: not_done`, nothing was changed. With `outcome: unknown`, read before you retry, unless you sent an `Idempotency-Key`: with it, a repeated write changes nothing and gets the first response. Do not retry 500.',
    '## Tools',
    'The ids of operations have a dot, such as `boards.list`. Generators of clients make it a name of their language. Arazzo reads `$sourceDescriptions.NAME.ID` up to the dot, so a workflow (redocly respect) names an operation by its place: `operationPath: "{$sourceDescriptions.NAME.url}#/paths/~1boards/get"`.',
    `These generators and libraries are tried with each version of the service, as packages of npm: ${versionsInWords(httpClients)}. Some make the file of an upload a text (openapi-typescript, typed-openapi), or read each download as text (openapi-typescript-codegen) or as JSON (kubb): there, write the transport of that call yourself.`,
    `MCP has the same operations, at \`${base}/mcp\`. These clients are tried with each version of the service, as packages of npm: ${versionsInWords(mcpClients)}.`,
    '## Limits',
    ...(quotas === undefined
      ? []
      : [
          `${quotas.token} requests of a token and ${quotas.workspace} in a workspace in a minute, and ${quotas.address} failed credentials from one address. \`RateLimit\` states what remains.`,
        ]),
    `Lengths are in characters (Unicode code points). A JSON body has at most ${limits.jsonBytes} bytes, an upload ${uploadBytes} bytes. A request that exceeds a length gets 422, a size 413, and a number of stored resources 409.`,
    '## What is no request',
    'Before anything else, an invalid HTTP message gets 400, a head that does not arrive in time 408, one that is too large 431, and an unknown method 501. After authentication, a path that does not exist gets 404, and a method that a path does not have 405 with `Allow`.',
  ].join('\n\n')
}

/** What a tag is about, by the first word of its operation ids. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  access: 'What the calling token may do.',
  account: 'The user, the workspace and the scopes of the calling token.',
  members: 'The members of the workspace.',
  notices: 'What you have to know: who asks you, mentions you, or assigns you, and more.',
  boards: 'Boards: their names, their visibility and their deletion.',
  board_members: 'Who has access to a private board.',
  columns: 'The columns of a board, in their order.',
  blockers: 'What a card waits for: other cards of its board.',
  cards: 'Cards: their text, place, state, assignees, labels and cover.',
  claims: 'Who works on a card, and until when.',
  labels: 'The labels of a board.',
  subtasks: 'The steps of the work on a card.',
  comments: 'The comments on a card.',
  attachments: 'Files on cards, and their bytes.',
  files: 'Who can use a file.',
  webhooks: 'URLs that the changes of a board are sent to.',
}

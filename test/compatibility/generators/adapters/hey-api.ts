import { createClient } from '../../.generated/hey-api/client/index.ts'
import * as sdk from '../../.generated/hey-api/sdk.gen.ts'
import type { Connect } from '../../scenario.ts'

export const connect: Connect = (baseUrl, token) => {
  const client = createClient({ baseUrl, auth: token })
  const body = ({ data, error }: { data?: unknown; error?: unknown }) => data ?? error
  const board = (board_id: string) => ({ client, path: { board_id } })
  const card = (card_id: string) => ({ client, path: { card_id } })
  const held = (card_id: string, epoch: string) => ({ client, path: { card_id }, headers: { 'If-Claim': epoch } })
  return {
    createBoard: async (name) => body(await sdk.boardsCreate({ client, body: { name } })),
    createColumn: async (id, name) => body(await sdk.columnsCreate({ ...board(id), body: { name } })),
    createLabel: async (id, name) => body(await sdk.labelsCreate({ ...board(id), body: { name, color: '#aa3300' } })),
    createCard: async (id, cardBody) => body(await sdk.cardsCreate({ ...board(id), body: cardBody })),
    search: async (query) => body(await sdk.cardsSearch({ client, query })),
    claim: async (id) => body(await sdk.claimsTake({ ...card(id), body: { ttl: 60 } })),
    ask: async (id, epoch, question) => body(await sdk.claimsAsk({ ...held(id, epoch), body: { question } })),
    answer: async (id, text) => body(await sdk.cardsAnswer({ ...card(id), body: { body: text } })),
    fail: async (id, epoch, reason) => body(await sdk.claimsFail({ ...held(id, epoch), body: { reason, retry_after: 0 } })),
    complete: async (id, epoch) => body(await sdk.cardsComplete({ ...held(id, epoch), body: { completed: true } })),
    rename: async (id, etag, title) => body(await sdk.cardsUpdate({ ...card(id), headers: { 'If-Match': etag }, body: { title } })),
    upload: async (id, file) => body(await sdk.attachmentsUpload({ ...card(id), body: { file } })),
    download: async (attachment_id) => (await sdk.attachmentsDownload({ client, path: { attachment_id } })).data,
    makePrivate: async (id) => body(await sdk.boardsSetVisibility({ ...board(id), body: { visibility: 'private' } })),
    deleteBoard: async (id) => body(await sdk.boardsDelete(board(id))),
  }
}

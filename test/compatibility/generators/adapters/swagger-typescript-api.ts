import { Api } from '../../.generated/swagger-typescript-api/api.ts'
import type { Connect } from '../../scenario.ts'

export const connect: Connect = (baseUrl, token) => {
  const api = new Api({ baseUrl, baseApiParams: { headers: { authorization: `Bearer ${token}` } } })
  const held = (epoch: string) => ({ headers: { 'If-Claim': epoch } })
  // It throws the response of a failure, with the body as `error`.
  const body = (call: Promise<{ data: unknown }>) =>
    call.then(
      ({ data }) => data,
      ({ error }: { error: unknown }) => error,
    )
  const none = undefined
  return {
    createBoard: (name) => body(api.boards.boardsCreate({ name })),
    createColumn: (id, name) => body(api.boards.columnsCreate(id, { name })),
    createLabel: (id, name) => body(api.boards.labelsCreate(id, { name, color: '#aa3300' })),
    createCard: (id, card) => body(api.boards.cardsCreate(id, card)),
    search: (query) => body(api.cards.cardsSearch(query)),
    claim: (id) => body(api.cards.claimsTake(id, none, { ttl: 60 })),
    ask: (id, epoch, question) => body(api.cards.claimsAsk(id, { question }, none, held(epoch))),
    answer: (id, text) => body(api.cards.cardsAnswer(id, { body: text })),
    fail: (id, epoch, reason) => body(api.cards.claimsFail(id, { reason, retry_after: 0 }, none, held(epoch))),
    complete: (id, epoch) => body(api.cards.cardsComplete(id, { completed: true }, none, held(epoch))),
    rename: (id, etag, title) => body(api.cards.cardsUpdate(id, { title }, none, { headers: { 'If-Match': etag } })),
    upload: (id, file) => body(api.cards.attachmentsUpload(id, { file })),
    download: (id) => body(api.attachments.attachmentsDownload(id, { format: 'blob' })),
    makePrivate: (id) => body(api.boards.boardsSetVisibility(id, { visibility: 'private' })),
    deleteBoard: (id) => body(api.boards.boardsDelete(id)),
  }
}

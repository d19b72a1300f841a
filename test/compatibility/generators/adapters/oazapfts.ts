import * as api from '../../.generated/oazapfts.ts'
import type { Connect } from '../../scenario.ts'

export const connect: Connect = (baseUrl, token) => {
  const options = { baseUrl, headers: { authorization: `Bearer ${token}` } }
  const body = (answer: { status: number; data?: unknown }) => answer.data
  const none = {}
  return {
    createBoard: async (name) => body(await api.boardsCreate({ name }, none, options)),
    createColumn: async (id, name) => body(await api.columnsCreate(id, { name }, none, options)),
    createLabel: async (id, name) => body(await api.labelsCreate(id, { name, color: '#aa3300' }, none, options)),
    createCard: async (id, { column_id, title, label_ids }) =>
      body(await api.cardsCreate(id, { column_id, title, label_ids }, none, options)),
    search: async ({ q, board_id, column_id, include }) =>
      body(await api.cardsSearch({ q, boardId: board_id, columnId: column_id, include }, options)),
    claim: async (id) => body(await api.claimsTake(id, { ttl: 60 }, none, options)),
    ask: async (id, ifClaim, question) => body(await api.claimsAsk(id, { question }, { ifClaim }, options)),
    answer: async (id, text) => body(await api.cardsAnswer(id, { body: text }, none, options)),
    fail: async (id, ifClaim, reason) => body(await api.claimsFail(id, { reason, retry_after: 0 }, { ifClaim }, options)),
    complete: async (id, ifClaim) => body(await api.cardsComplete(id, { completed: true }, { ifClaim }, options)),
    rename: async (id, ifMatch, title) => body(await api.cardsUpdate(id, { title }, { ifMatch }, options)),
    upload: async (id, file) => body(await api.attachmentsUpload(id, { file }, none, options)),
    download: async (id) => body(await api.attachmentsDownload(id, none, options)),
    makePrivate: async (id) => body(await api.boardsSetVisibility(id, { visibility: 'private' }, none, options)),
    deleteBoard: async (id) => body(await api.boardsDelete(id, none, options)),
  }
}

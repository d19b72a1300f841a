import * as api from '../../.generated/orval.ts'
import type { Connect } from '../../scenario.ts'

export const connect: Connect = (_url, token) => {
  const headers = { authorization: `Bearer ${token}` }
  const held = (epoch: string) => ({ headers: { ...headers, 'If-Claim': epoch } })
  const body = ({ data }: { data: unknown }) => data
  const none = undefined
  const mine = { headers }
  return {
    createBoard: async (name) => body(await api.boardsCreate({ name }, none, mine)),
    createColumn: async (id, name) => body(await api.columnsCreate(id, { name }, none, mine)),
    createLabel: async (id, name) => body(await api.labelsCreate(id, { name, color: '#aa3300' }, none, mine)),
    createCard: async (id, card) => body(await api.cardsCreate(id, card, none, mine)),
    search: async (query) => body(await api.cardsSearch(query, mine)),
    claim: async (id) => body(await api.claimsTake(id, { ttl: 60 }, none, mine)),
    ask: async (id, epoch, question) => body(await api.claimsAsk(id, { question }, none, held(epoch))),
    answer: async (id, text) => body(await api.cardsAnswer(id, { body: text }, none, mine)),
    fail: async (id, epoch, reason) => body(await api.claimsFail(id, { reason, retry_after: 0 }, none, held(epoch))),
    complete: async (id, epoch) => body(await api.cardsComplete(id, { completed: true }, none, held(epoch))),
    rename: async (id, etag, title) => body(await api.cardsUpdate(id, { title }, none, { headers: { ...headers, 'If-Match': etag } })),
    upload: async (id, file) => body(await api.attachmentsUpload(id, { file }, none, mine)),
    download: async (id) => body(await api.attachmentsDownload(id, mine)),
    makePrivate: async (id) => body(await api.boardsSetVisibility(id, { visibility: 'private' }, none, mine)),
    deleteBoard: async (id) => body(await api.boardsDelete(id, none, mine)),
  }
}

import type { Client } from '@kubb/plugin-client/clients/fetch'
import * as api from '../../.generated/kubb/clients/index.ts'
import type { Connect } from '../../scenario.ts'

export const connect: Connect = (baseURL, token) => {
  const authorization = `Bearer ${token}`
  const json = { baseURL, headers: { authorization, 'Content-Type': 'application/json' } }
  const bare = { baseURL, headers: { authorization } }
  // Its own transport reads every answer as JSON.
  const bytes = (async ({ url }: { url?: string }) => {
    const response = await fetch(`${baseURL}${url}`, { headers: { authorization } })
    return { data: await response.blob(), status: response.status, statusText: response.statusText, headers: response.headers }
  }) as unknown as Client
  const none = undefined
  return {
    createBoard: (name) => api.boardsCreate({ name }, none, none, json),
    createColumn: (id, name) => api.columnsCreate(id, { name }, none, none, json),
    createLabel: (id, name) => api.labelsCreate(id, { name, color: '#aa3300' }, none, none, json),
    createCard: (id, card) => api.cardsCreate(id, card, none, none, json),
    search: (query) => api.cardsSearch(query, none, bare),
    claim: (id) => api.claimsTake(id, { ttl: 60 }, none, none, json),
    ask: (id, epoch, question) => api.claimsAsk(id, { question }, none, { 'If-Claim': epoch }, json),
    answer: (id, body) => api.cardsAnswer(id, { body }, none, none, json),
    fail: (id, epoch, reason) => api.claimsFail(id, { reason, retry_after: 0 }, none, { 'If-Claim': epoch }, json),
    complete: (id, epoch) => api.cardsComplete(id, { completed: true }, none, { 'If-Claim': epoch }, json),
    rename: (id, etag, title) => api.cardsUpdate(id, { title }, none, { 'If-Match': etag }, json),
    upload: (id, file) => api.attachmentsUpload(id, { file }, none, none, bare),
    download: (id) => api.attachmentsDownload(id, none, { ...bare, client: bytes }),
    makePrivate: (id) => api.boardsSetVisibility(id, { visibility: 'private' }, none, none, json),
    deleteBoard: (id) => api.boardsDelete(id, none, none, bare),
  }
}

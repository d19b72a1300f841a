// openapi-typescript states types only. openapi-fetch sends the requests.
import createClient from 'openapi-fetch'
import type { paths } from '../../.generated/openapi-typescript.ts'
import type { Connect } from '../../scenario.ts'

export const connect: Connect = (baseUrl, token) => {
  const api = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
  const body = ({ data, error }: { data?: unknown; error?: unknown }) => data ?? error
  const board = (board_id: string) => ({ path: { board_id } })
  const card = (card_id: string) => ({ path: { card_id } })
  const held = (card_id: string, epoch: string) => ({ path: { card_id }, header: { 'If-Claim': epoch } })
  return {
    createBoard: async (name) => body(await api.POST('/boards', { body: { name } })),
    createColumn: async (id, name) => body(await api.POST('/boards/{board_id}/columns', { params: board(id), body: { name } })),
    createLabel: async (id, name) =>
      body(await api.POST('/boards/{board_id}/labels', { params: board(id), body: { name, color: '#aa3300' } })),
    createCard: async (id, cardBody) => body(await api.POST('/boards/{board_id}/cards', { params: board(id), body: cardBody })),
    search: async (query) => body(await api.GET('/cards', { params: { query } })),
    claim: async (id) => body(await api.PUT('/cards/{card_id}/claim', { params: card(id), body: { ttl: 60 } })),
    ask: async (id, epoch, question) =>
      body(await api.POST('/cards/{card_id}/claim/question', { params: held(id, epoch), body: { question } })),
    answer: async (id, text) => body(await api.POST('/cards/{card_id}/answer', { params: card(id), body: { body: text } })),
    fail: async (id, epoch, reason) =>
      body(await api.POST('/cards/{card_id}/claim/failure', { params: held(id, epoch), body: { reason, retry_after: 0 } })),
    complete: async (id, epoch) =>
      body(await api.PUT('/cards/{card_id}/completion', { params: held(id, epoch), body: { completed: true } })),
    rename: async (card_id, etag, title) =>
      body(await api.PATCH('/cards/{card_id}', { params: { path: { card_id }, header: { 'If-Match': etag } }, body: { title } })),
    // A file is a text in the types: the documentation of openapi-fetch has this way.
    upload: async (id, file) => {
      const bodySerializer = () => {
        const form = new FormData()
        form.set('file', file)
        return form
      }
      return body(await api.POST('/cards/{card_id}/files', { params: card(id), body: { file: '' }, bodySerializer }))
    },
    download: async (attachment_id) =>
      (await api.GET('/attachments/{attachment_id}/content', { params: { path: { attachment_id } }, parseAs: 'blob' })).data,
    makePrivate: async (id) => body(await api.PUT('/boards/{board_id}/visibility', { params: board(id), body: { visibility: 'private' } })),
    deleteBoard: async (id) => body(await api.DELETE('/boards/{board_id}', { params: board(id) })),
  }
}

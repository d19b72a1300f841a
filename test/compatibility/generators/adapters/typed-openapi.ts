import { createApiClient, type Fetcher } from '../../.generated/typed-openapi.ts'
import type { Connect } from '../../scenario.ts'

/** It brings no transport: the caller writes one, as in its README. */
const fetcherOf = (token: string): Fetcher => ({
  async fetch({ method: lowerCase, url, urlSearchParams, parameters }) {
    const method = lowerCase.toUpperCase()
    if (urlSearchParams) url.search = urlSearchParams.toString()
    const headers = new Headers(parameters?.header as Record<string, string> | undefined)
    headers.set('authorization', `Bearer ${token}`)
    const body = parameters?.body as Record<string, unknown> | undefined
    if (body === undefined) return fetch(url, { method, headers })
    if (url.pathname.endsWith('/files')) {
      const form = new FormData()
      for (const [name, part] of Object.entries(body)) form.set(name, part as Blob)
      return fetch(url, { method, headers, body: form })
    }
    headers.set('content-type', 'application/json')
    return fetch(url, { method, headers, body: JSON.stringify(body) })
  },
  parseResponseData: (response) =>
    response.headers.get('content-type')?.includes('json') === true ? response.json() : response.arrayBuffer(),
})

export const connect: Connect = (url, token) => {
  const api = createApiClient(fetcherOf(token), url)
  // Its types require a query and a header, which may be empty.
  const options = { query: {}, header: {}, throwOnStatusError: false, withResponse: true } as const
  const body = ({ data }: { data: unknown }) => data
  const board = (board_id: string) => ({ ...options, path: { board_id } })
  const card = (card_id: string) => ({ ...options, path: { card_id } })
  const held = (card_id: string, epoch: string) => ({ ...card(card_id), header: { 'If-Claim': epoch } })
  return {
    createBoard: async (name) => body(await api.post('/boards', { ...options, body: { name } })),
    createColumn: async (id, name) => body(await api.post('/boards/{board_id}/columns', { ...board(id), body: { name } })),
    createLabel: async (id, name) => body(await api.post('/boards/{board_id}/labels', { ...board(id), body: { name, color: '#aa3300' } })),
    createCard: async (id, cardBody) => body(await api.post('/boards/{board_id}/cards', { ...board(id), body: cardBody })),
    search: async (query) => body(await api.get('/cards', { ...options, query })),
    claim: async (id) => body(await api.put('/cards/{card_id}/claim', { ...card(id), body: { ttl: 60 } })),
    ask: async (id, epoch, question) => body(await api.post('/cards/{card_id}/claim/question', { ...held(id, epoch), body: { question } })),
    answer: async (id, text) => body(await api.post('/cards/{card_id}/answer', { ...card(id), body: { body: text } })),
    fail: async (id, epoch, reason) =>
      body(await api.post('/cards/{card_id}/claim/failure', { ...held(id, epoch), body: { reason, retry_after: 0 } })),
    complete: async (id, epoch) => body(await api.put('/cards/{card_id}/completion', { ...held(id, epoch), body: { completed: true } })),
    rename: async (id, etag, title) =>
      body(await api.patch('/cards/{card_id}', { ...card(id), header: { 'If-Match': etag }, body: { title } })),
    // A file is a text in its types.
    upload: async (id, file) => body(await api.post('/cards/{card_id}/files', { ...card(id), body: { file: file as unknown as string } })),
    download: async (attachment_id) => {
      const { data }: { data: unknown } = await api.get('/attachments/{attachment_id}/content', { ...options, path: { attachment_id } })
      return data
    },
    makePrivate: async (id) => body(await api.put('/boards/{board_id}/visibility', { ...board(id), body: { visibility: 'private' } })),
    deleteBoard: async (id) => body(await api.delete('/boards/{board_id}', board(id))),
  }
}

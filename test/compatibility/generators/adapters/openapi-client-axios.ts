import { OpenAPIClientAxios, type Document } from 'openapi-client-axios'
import type { Connect } from '../../scenario.ts'

/** It generates nothing: it reads the document when it starts. */
export const connect: Connect = async (url, token) => {
  const definition = (await (await fetch(url.replace(/\/v1$/, '/openapi.json'))).json()) as Document
  const settings = { headers: { authorization: `Bearer ${token}` }, validateStatus: () => true }
  const api = await new OpenAPIClientAxios({ definition, axiosConfigDefaults: settings }).init()
  const call = async (id: string, parameters: unknown, body?: unknown, headers: Record<string, string> = {}) =>
    (await api[id]!(parameters as never, body, { headers })).data as unknown
  const held = (epoch: string) => ({ 'If-Claim': epoch })
  return {
    createBoard: (name) => call('boards.create', null, { name }),
    createColumn: (board_id, name) => call('columns.create', { board_id }, { name }),
    createLabel: (board_id, name) => call('labels.create', { board_id }, { name, color: '#aa3300' }),
    createCard: (board_id, card) => call('cards.create', { board_id }, card),
    search: (query) => call('cards.search', query),
    claim: (card_id) => call('claims.take', { card_id }, { ttl: 60 }),
    ask: (card_id, epoch, question) => call('claims.ask', { card_id }, { question }, held(epoch)),
    answer: (card_id, body) => call('cards.answer', { card_id }, { body }),
    fail: (card_id, epoch, reason) => call('claims.fail', { card_id }, { reason, retry_after: 0 }, held(epoch)),
    complete: (card_id, epoch) => call('cards.complete', { card_id }, { completed: true }, held(epoch)),
    rename: (card_id, etag, title) => call('cards.update', { card_id }, { title }, { 'If-Match': etag }),
    upload: (card_id, file) => {
      const form = new FormData()
      form.set('file', file)
      return call('attachments.upload', { card_id }, form)
    },
    download: (attachment_id) => call('attachments.download', { attachment_id }),
    makePrivate: (board_id) => call('boards.set_visibility', { board_id }, { visibility: 'private' }),
    deleteBoard: (board_id) => call('boards.delete', { board_id }),
  }
}

import { createApiClient } from '../../zodios/.generated/client.ts'
import type { Connect } from '../../scenario.ts'

/** It checks each request and each answer with the schemas of the document. */
export const connect: Connect = (url, token) => {
  const api = createApiClient(url, { axiosConfig: { headers: { authorization: `Bearer ${token}` } } })
  // axios throws on failures; the answer of a failure is checked by nobody.
  const body = (call: Promise<unknown>) =>
    call.catch((error: { response?: { data: unknown } }) => {
      if (error.response === undefined) throw error
      return error.response.data
    })
  const held = (card_id: string, epoch: string) => ({ params: { card_id }, headers: { 'If-Claim': epoch } })
  return {
    createBoard: (name) => body(api['boards.create']({ name })),
    createColumn: (board_id, name) => body(api['columns.create']({ name }, { params: { board_id } })),
    createLabel: (board_id, name) => body(api['labels.create']({ name, color: '#aa3300' }, { params: { board_id } })),
    createCard: (board_id, card) => body(api['cards.create'](card, { params: { board_id } })),
    search: (queries) => body(api['cards.search']({ queries })),
    claim: (card_id) => body(api['claims.take']({ ttl: 60 }, { params: { card_id } })),
    ask: (id, epoch, question) => body(api['claims.ask']({ question }, held(id, epoch))),
    answer: (card_id, text) => body(api['cards.answer']({ body: text }, { params: { card_id } })),
    fail: (id, epoch, reason) => body(api['claims.fail']({ reason, retry_after: 0 }, held(id, epoch))),
    complete: (id, epoch) => body(api['cards.complete']({ completed: true }, held(id, epoch))),
    rename: (card_id, etag, title) => body(api['cards.update']({ title }, { params: { card_id }, headers: { 'If-Match': etag } })),
    upload: (card_id, file) => body(api['attachments.upload']({ file }, { params: { card_id } })),
    download: (attachment_id) => body(api['attachments.download']({ params: { attachment_id } })),
    makePrivate: (board_id) => body(api['boards.set_visibility']({ visibility: 'private' }, { params: { board_id } })),
    deleteBoard: (board_id) => body(api['boards.delete'](undefined, { params: { board_id } })),
  }
}

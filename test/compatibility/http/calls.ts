import type { Body, Calls } from '../scenario.ts'

/** A request of the scenario, before a library writes it. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly query?: Record<string, string | string[]>
  readonly json?: unknown
  /** as the part `file` of a form */
  readonly file?: File
  readonly headers?: Record<string, string>
  /** whether the body of the response is a file */
  readonly bytes?: boolean
}

/** The calls of the scenario as plain requests. @param send returns the parsed body, also of a failure */
export function callsOf(send: (request: Request) => Promise<Body>): Calls {
  const held = (epoch: string) => ({ 'If-Claim': epoch })
  return {
    createBoard: (name) => send({ method: 'POST', path: '/boards', json: { name } }),
    createColumn: (id, name) => send({ method: 'POST', path: `/boards/${id}/columns`, json: { name } }),
    createLabel: (id, name) => send({ method: 'POST', path: `/boards/${id}/labels`, json: { name, color: '#aa3300' } }),
    createCard: (id, json) => send({ method: 'POST', path: `/boards/${id}/cards`, json }),
    search: (query) => send({ method: 'GET', path: '/cards', query }),
    claim: (id) => send({ method: 'PUT', path: `/cards/${id}/claim`, json: { ttl: 60 } }),
    ask: (id, epoch, question) => send({ method: 'POST', path: `/cards/${id}/claim/question`, json: { question }, headers: held(epoch) }),
    answer: (id, body) => send({ method: 'POST', path: `/cards/${id}/answer`, json: { body } }),
    fail: (id, epoch, reason) =>
      send({ method: 'POST', path: `/cards/${id}/claim/failure`, json: { reason, retry_after: 0 }, headers: held(epoch) }),
    complete: (id, epoch) => send({ method: 'PUT', path: `/cards/${id}/completion`, json: { completed: true }, headers: held(epoch) }),
    rename: (id, etag, title) => send({ method: 'PATCH', path: `/cards/${id}`, json: { title }, headers: { 'If-Match': etag } }),
    upload: (id, file) => send({ method: 'POST', path: `/cards/${id}/files`, file }),
    download: (id) => send({ method: 'GET', path: `/attachments/${id}/content`, bytes: true }),
    makePrivate: (id) => send({ method: 'PUT', path: `/boards/${id}/visibility`, json: { visibility: 'private' } }),
    deleteBoard: (id) => send({ method: 'DELETE', path: `/boards/${id}` }),
  }
}

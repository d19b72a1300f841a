import type { ApiAnswer, ApiRequest, Exchange } from './exchange.ts'

/** The resource that a path begins with: an ETag is that of this one. */
const RESOURCE = /^\/\w+\/[^/]+/

/**
 * Adds to the refusal of a write with `if_match` what is there now. The ETag alone would help a client to overwrite a change that it has
 * not seen, and not to see it. It is one more request of the same token, which the pipeline decides.
 * @returns the answer with `current` and its `current_etag`; the answer itself if it is no such refusal, or if there is nothing to read
 */
export async function withCurrentState(exchange: Exchange, { path }: ApiRequest, answer: ApiAnswer): Promise<ApiAnswer> {
  if (answer.status !== 412) return answer
  const { error } = answer.body
  // Of a part of a batch, `current_etag` is not that of the path.
  if (error?.['current_etag'] === undefined || error['index'] !== undefined) return answer
  const [resource = path] = RESOURCE.exec(path) ?? []
  const { status, headers, body } = await exchange.send({ method: 'GET', path: resource, search: '', headers: {}, body: undefined })
  if (status !== 200) return answer
  const { content } = answer
  return {
    status: answer.status,
    headers: answer.headers,
    content,
    body: { error: { ...error, current_etag: headers.get('etag'), current: body.data } },
  }
}

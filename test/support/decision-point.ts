import { readText, localRequest } from './local-request.ts'
import type { Reply, Service } from './service.ts'

/** A token, or none. */
type Token = string | null

/** Sends a request to the decision point, below /access/v1. A body that is a text is sent as it is. */
export async function askPoint(
  service: Service,
  token: Token,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const all = new Headers({ 'content-type': 'application/json', ...(token !== null && { authorization: `Bearer ${token}` }), ...headers })
  const sent = { method: 'POST', headers: all, body: typeof body === 'string' ? body : JSON.stringify(body) }
  const response = await service.app.fetch(localRequest(`http://localhost/access/v1${path}`, sent))
  const { status, headers: answered } = response
  const text = await readText(response)
  const isJson = answered.get('content-type')!.startsWith('application/json')
  return { status, headers: answered, text, body: isJson ? JSON.parse(text) : {} }
}

/** A response without what differs between two requests: both ids, and the date. */
export function pointBytes({ status, headers, text }: Reply): string {
  const shown = [...headers].filter(([name]) => !/^(date|x-request-id|lanekeeper-request-id|ratelimit)$/.test(name))
  return [String(status), ...shown.map((pair) => pair.join(': ')), text].join('\n')
}

// The entities of a question.

export const user = (id: string, properties?: object) => ({ type: 'user', id, ...(properties && { properties }) })
export const to = (name: string, properties?: object) => ({ action: { name, ...(properties && { properties }) } })
export const on = (id: string, properties?: object, type = 'board') => ({ resource: { type, id, ...(properties && { properties }) } })

/** `ok`, or the code of a denial, with what names something absent. */
export const codeOf = ({ decision, context }: any): string =>
  decision ? 'ok' : [context.code, context.parameter].filter(Boolean).join(' ')

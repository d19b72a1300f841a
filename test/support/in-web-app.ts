import { randomUUID } from 'node:crypto'
import { Call, type Surface } from '../../src/http/call.ts'
import { conclude } from '../../src/http/pipeline.ts'
import { SessionPrincipal } from '../../src/http/principal.ts'
import type { Person, Service } from './service.ts'

/** The answer to what a person does in the web app. */
export interface WebAnswer {
  readonly status: number
  readonly data: any
}

/** Makes a request as a person in the web app, without a token. */
export async function inWebApp(
  service: Service,
  { id, workspaceId }: Pick<Person, 'id' | 'workspaceId'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<WebAnswer> {
  const { services } = service.app
  const surface: Surface = { name: 'web_app', isCounted: true, identify: () => new SessionPrincipal(id, workspaceId) }
  const content = body === undefined ? {} : { body: JSON.stringify(body) }
  const request = new Request(`http://localhost/v1${path}`, { method, headers: { 'content-type': 'application/json' }, ...content })
  const [address, search = ''] = path.split('?') as [string, string?]
  const call = new Call(services, { request, requestId: randomUUID(), method, path: address, search: search && `?${search}` }, surface)
  return conclude<WebAnswer>(services, call, {
    answer: (answer) => ({ status: answer.operation.status, data: answer.kind === 'done' ? answer.data : undefined }),
    refuse: (error) => ({ status: error.status, data: error }),
  })
}

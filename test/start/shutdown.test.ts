import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { startService, type RunningProcess } from '../support/process.ts'

const BODY = JSON.stringify({ name: 'A board' })

describe('the shutdown of a process', () => {
  let service: RunningProcess
  afterEach(() => service.stop('SIGKILL'))

  /** Starts a service and a request whose body is not complete yet. */
  const begin = async (env: Record<string, string> = {}): Promise<{ url: string; pending: ClientRequest }> => {
    const started = await startService([], env)
    service = started
    const { url, world } = started
    const { token } = world.tokens.find(({ state, scopes }: any) => state === 'active' && scopes[0] === 'kanban:write')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': BODY.length }
    const pending = request(`${url}/v1/boards`, { method: 'POST', headers: { ...headers, expect: '100-continue' } })
    pending.flushHeaders()
    // The service has begun to read the body.
    await once(pending, 'continue')
    return { url, pending }
  }
  const finish = async (pending: ClientRequest): Promise<number | undefined> => {
    pending.end(BODY)
    const [response] = (await once(pending, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
  const signalled = (count: number) =>
    expect.poll(() => service.stderr().split('finishing requests in flight').length).toBeGreaterThan(count)

  test('a second signal does not end a request that is in flight', async () => {
    const { pending } = await begin()
    const ended = once(service.child, 'exit')
    service.child.kill('SIGINT')
    await signalled(1)
    service.child.kill('SIGTERM')
    await signalled(2)
    expect(await finish(pending)).toBe(201)
    expect((await ended)[0]).toBe(0)
  })

  test('while a service drains, /readyz answers 503 and requests are still answered', async () => {
    const { url, pending } = await begin({ LANEKEEPER_DRAIN: '3600' })
    const statusOf = async (path: string) => (await fetch(url + path)).status
    expect({ readyz: await statusOf('/readyz'), healthz: await statusOf('/healthz') }).toEqual({ readyz: 200, healthz: 200 })
    service.child.kill('SIGTERM')
    await signalled(1)
    expect({ readyz: await statusOf('/readyz'), healthz: await statusOf('/healthz'), account: await statusOf('/v1/account') }).toEqual({
      readyz: 503,
      healthz: 200,
      account: 401,
    })
    expect(await finish(pending)).toBe(201)
  })
})

import { expect, test } from 'vitest'
import { setUpMcp } from '../support/mcp.ts'

const mcp = setUpMcp({ rateLimits: { quotas: { token: 3, workspace: 100, address: 2 }, inFlight: 1 }, proxies: 1 })
const read = (token: string | null = mcp.ann.read, from = '192.0.2.1') =>
  mcp.call(token, 'read_account_and_members', { operation: 'account.read' }, { 'x-forwarded-for': from })

test('each call counts as one request of its token, together with requests to the API', async () => {
  const replies = [await read(), await read()]
  expect(replies.map(({ headers }) => headers.get('ratelimit'))).toEqual([
    '"token";r=2;t=60, "workspace";r=99;t=60',
    '"token";r=1;t=60, "workspace";r=98;t=60',
  ])
  expect((await mcp.service.send(mcp.ann.read, 'GET', '/account')).headers.get('ratelimit')).toContain('"token";r=0')
  const refused = await read()
  expect({ status: refused.status, retryAfter: refused.headers.get('retry-after'), code: refused.error.data.code }).toEqual({
    status: 429,
    retryAfter: '60',
    code: 'rate_limited',
  })
  expect(refused.error.data).toMatchObject({ retry_after: 60, next: 'Wait `retry_after` seconds.' })
})

test('a message costs its weight, also where no tool reads it', async () => {
  mcp.service.now += 60_000
  const unread = Array.from({ length: 3000 }, () => 0)
  const first = await mcp.send(mcp.ann.read, 'tools/call', {
    name: 'read_account_and_members',
    arguments: { operation: 'account.read' },
    unread,
  })
  expect(first.status).toBe(200)
  expect((await read()).status).toBe(429)
})

test('failed credentials count for their address', async () => {
  const replies = [await read('lk_pat_x', '192.0.2.9'), await read(null, '192.0.2.9'), await read('lk_pat_y', '192.0.2.9')]
  expect(replies.map(({ status }) => status)).toEqual([401, 401, 429])
  expect((await read('lk_pat_x', '192.0.2.10')).status).toBe(401)
})

test('a call is in progress until its response was sent, and the token has a limited number of them', async () => {
  mcp.service.now += 60_000
  const client = await mcp.connect(mcp.ann.write)
  let release!: () => void
  const released = new Promise<void>((resolve) => (release = resolve))
  let held = 0
  const { read: readStore } = mcp.service.store
  mcp.service.store.read = async (partition, request) => {
    // The list is read after authentication.
    if (request.ranges.length > 0 && ++held === 1) await released
    return readStore.call(mcp.service.store, partition, request)
  }
  const list = () => client.callTool({ name: 'read_boards', arguments: { operation: 'boards.list' } })
  const first = list()
  await expect.poll(() => held).toBe(1)
  await expect(list()).rejects.toThrow('Too many requests of this token are in progress')
  release()
  expect((await first).structuredContent).toMatchObject({ data: [] })
})

import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, describe, test } from 'vitest'
import { otherFiles, policyFolder, writePolicy } from '../support/other-policy.ts'
import { shippedFiles } from '../support/policy.ts'
import { startProcess, startService, type RunningProcess } from '../support/process.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

describe('a service with several workers', () => {
  const folder = policyFolder()
  let redis: RedisServer
  let service: RunningProcess | undefined
  beforeAll(async () => void (redis = await startRedis()))
  afterAll(() => redis.stop())
  afterEach(async () => void (await service?.stop('SIGKILL')))

  const start = async (...args: string[]) => {
    const command = ['--storage', redis.url, '--demo', '--workers', '3', ...args]
    const started = await startService(command, { LANEKEEPER_ACCESS_LOG: 'on' }, { underLoad: true })
    service = started
    return { url: started.url, tokens: started.world.tokens as any[] }
  }
  const logLines = () =>
    service!
      .stderr()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { pid: number; msg: string; operation?: string })
  /** Each request has a new connection: they are distributed one by one. */
  const read = async (url: string, token: string) =>
    (
      await fetch(`${url}/v1/account`, {
        headers: { authorization: `Bearer ${token}`, connection: 'close' },
        signal: AbortSignal.timeout(60_000),
      })
    ).status
  /** Sends requests until this many workers have answered. @returns the ids of their processes, and the number of requests */
  const reach = async (url: string, token: string, count: number) => {
    const pids = () => new Set(logLines().flatMap(({ pid, operation }) => (operation === 'account.read' ? [pid] : [])))
    let sent = 0
    while (pids().size < count) {
      expect(await read(url, token)).toBe(200)
      sent++
      // The workers need the processor to start.
      await delay(50)
    }
    return { pids: [...pids()], sent }
  }
  const metric = (text: string, name: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)

  test('the workers share the port and the storage, their metrics are added, and a worker that ends is replaced', async () => {
    const { url, tokens } = await start('--metrics', '0')
    const { token } = tokens.find(({ state }) => state === 'active')
    const { pids, sent } = await reach(url, token, 3)
    expect(pids).not.toContain(service!.child.pid)
    await expect.poll(() => logLines().find(({ msg }) => msg.startsWith('metrics are served'))).toBeDefined()
    const metrics = logLines()
      .find(({ msg }) => msg.startsWith('metrics are served'))!
      .msg.split(' ')
      .at(-1)!
    const text = await (await fetch(metrics)).text()
    expect(metric(text, 'lanekeeper_requests_total')).toBe(sent)
    process.kill(pids[1]!, 'SIGKILL')
    const after = await reach(url, token, 4)
    expect(after.pids.filter((pid) => !pids.includes(pid))).toHaveLength(1)
    expect(logLines().some(({ msg }) => msg === 'a worker ended and is replaced')).toBe(true)
    // The banner is printed once.
    expect(service!.stdout().trim().split('\n')).toHaveLength(1)
    expect(await service!.stop()).toBe(0)
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
  })

  test('a signal lets the requests of all workers finish', async () => {
    const { url } = await start()
    // The demo data exists already, so its tokens come from the first start: the request is one without a token.
    const pending = Array.from({ length: 6 }, () => {
      const sent = request(`${url}/revoke`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': 7, expect: '100-continue' },
      })
      sent.flushHeaders()
      return sent
    })
    await Promise.all(pending.map((sent) => once(sent, 'continue')))
    const ended = once(service!.child, 'exit')
    service!.child.kill('SIGTERM')
    service!.child.kill('SIGINT')
    await expect.poll(() => logLines().filter(({ msg }) => msg.includes('finishing requests in flight')).length).toBeGreaterThan(0)
    const statuses = pending.map(async (sent) => {
      const answered = once(sent, 'response')
      sent.end('token=x')
      const [response] = (await answered) as [IncomingMessage]
      response.resume()
      return response.statusCode
    })
    expect(await Promise.all(statuses)).toEqual(pending.map(() => 200))
    expect((await ended)[0]).toBe(0)
  })

  test('SIGHUP lets each worker load its policy folder again', async () => {
    await writePolicy(folder, shippedFiles)
    const { url } = await start('--policies', folder)
    // The demo data exists by now, and its tokens are not printed again.
    const seen = () => new Set(logLines().flatMap(({ pid, msg }) => (msg === 'request' ? [pid] : [])))
    await expect.poll(() => read(url, 'none').then(() => seen().size), { interval: 50 }).toBe(3)
    await writePolicy(folder, otherFiles)
    service!.child.kill('SIGHUP')
    const replaced = () => logLines().filter(({ msg }) => msg === 'the policy was replaced')
    await expect.poll(() => new Set(replaced().map(({ pid }) => pid)).size).toBe(3)
  })

  test('SIGHUP ends no worker that is starting, and each one has the new policy', async () => {
    await writePolicy(folder, shippedFiles)
    // The first one serves, and the others are starting.
    const { url } = await start('--policies', folder)
    const policyNow = async () => {
      const response = await fetch(`${url}/readyz`, { headers: { connection: 'close' } })
      return ((await response.json()) as { policy: string }).policy
    }
    const before = await policyNow()
    await writePolicy(folder, otherFiles)
    service!.child.kill('SIGHUP')
    const pids = () => new Set(logLines().flatMap(({ pid, msg }) => (msg === 'request' ? [pid] : [])))
    await expect.poll(() => read(url, 'none').then(() => pids().size), { interval: 50 }).toBe(3)
    const isOld = async () => new Set(await Promise.all(Array.from({ length: 20 }, policyNow))).has(before)
    await expect.poll(isOld, { interval: 200 }).toBe(false)
    expect(logLines().filter(({ msg }) => msg.includes('a worker ended'))).toEqual([])
  })

  test('a service whose first worker cannot start ends with its exit code', async () => {
    service = startProcess(['--storage', 'redis://127.0.0.1:1', '--workers', '2'])
    const [code] = await once(service.child, 'exit')
    expect(code).toBe(4)
  })
})

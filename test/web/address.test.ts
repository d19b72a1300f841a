import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startListener, type Listener } from '../../src/http/server.ts'
import { drivers } from '../support/drivers.ts'
import { Service } from '../support/service.ts'

/** From where a request is taken to come, seen by what is throttled together. */
describe('the address of a request', () => {
  let service: Service
  let listener: Listener | undefined
  const start = async (proxies: number) => {
    service = await Service.start(drivers[0]!, { proxies })
    listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  }
  beforeEach(() => (listener = undefined))
  afterEach(async () => {
    await listener?.close()
    await service.stop()
  })
  /** How many of 40 calls are let through; 30 are, of one network at once. */
  const through = async (forwarded: (i: number) => string | undefined) => {
    let count = 0
    for (let i = 0; i < 40; i++) {
      const header = forwarded(i)
      const headers = {
        'content-type': 'application/x-www-form-urlencoded',
        ...(header === undefined ? {} : { 'x-forwarded-for': header }),
      }
      const { status } = await fetch(`${listener!.url}/revoke`, { method: 'POST', headers, body: 'token=x' })
      if (status === 200) count++
    }
    return count
  }

  test('without proxies is that of the connection, whatever is told', async () => {
    await start(0)
    expect(await through((i) => `198.51.100.${i}`)).toBe(30)
  })
  test('behind one is what it added, not what was sent to it', async () => {
    await start(1)
    expect(await through((i) => `198.51.100.${i}, 203.0.113.7`)).toBe(30)
    expect(await through((i) => `203.0.113.9, 198.51.100.${i}`)).toBe(40)
  })
  test('behind two is what the outer one added', async () => {
    await start(2)
    expect(await through((i) => `192.0.2.${i}, 203.0.113.7, 198.51.100.${i}`)).toBe(30)
    expect(await through((i) => `203.0.113.9, 198.51.100.${i}, 10.0.0.1`)).toBe(40)
  })
  test('where nothing was added, or nonsense, is that of the connection', async () => {
    await start(1)
    expect(await through((i) => (i % 2 === 0 ? undefined : `nonsense ${i}`))).toBe(30)
  })
  test.each([
    ['with ports', (i: number) => `203.0.113.7:${40_000 + i}`],
    ['of one IPv6 network', (i: number) => `2001:db8:1:2::${i + 1}`],
    ['of one IPv6 network, with ports and zeros', (i: number) => `[2001:0DB8:0001:2::${i + 1}]:${40_000 + i}`],
    ['of IPv4 in IPv6', (i: number) => (i % 2 === 0 ? '::ffff:203.0.113.7' : '::ffff:cb00:7107')],
  ])('is one network, %s', async (_how, forwarded) => {
    await start(1)
    expect(await through(forwarded)).toBe(30)
  })
})

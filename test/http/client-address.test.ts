import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { networkOf } from '../../src/http/client-address.ts'
import { startListener, type Listener } from '../../src/listener/listener.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['192.0.2.7:4711', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['[::ffff:192.0.2.7]:4711', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['2001:db8::', '2001:db8:0:0'],
  ['[2001:0DB8::6]', '2001:db8:0:0'],
  ['2001:db8:0:0:1::6', '2001:db8:0:0'],
  ['2001::3:4:5:6:7', '2001:0:0:3'],
  ['::FFFF:C000:0207', '192.0.2.7'],
  ['::1', '0:0:0:0'],
  ['::', '0:0:0:0'],
  ['::192.0.2.7', '0:0:0:0'],
  ['64:ff9b::192.0.2.7', '64:ff9b:0:0'],
  ['fe80::1%eth0.100', 'fe80:0:0:0'],
  [undefined, 'unknown'],
  ['', 'unknown'],
  ['localhost', 'unknown'],
  ['192.0.2.7:', 'unknown'],
  ['192.0.2', 'unknown'],
  ['0300.0.2.7', 'unknown'],
  ['0x7f000001', 'unknown'],
  ['2130706433', 'unknown'],
  ['[192.0.2.7', 'unknown'],
  ['2001:db8::6::', 'unknown'],
])('the network of %s is %s', (address, expected) => expect(networkOf(address)).toBe(expected))

/** The address is observed through the rate limit: requests of one network share it. */
describe('the client address', () => {
  let service: Service
  let listener: Listener | undefined
  const start = async (proxies: number) => {
    service = await Service.start(memory, { proxies })
    listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  }
  beforeEach(() => (listener = undefined))
  afterEach(async () => {
    await listener?.close()
    await service.stop()
  })
  /** Sends 40 requests. @returns how many are allowed: 30 if all of them come from one network */
  const countAllowed = async (forwarded: (i: number) => string | undefined) => {
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

  test('without proxies, the client address is that of the connection, whatever X-Forwarded-For says', async () => {
    await start(0)
    expect(await countAllowed((i) => `198.51.100.${i}`)).toBe(30)
  })
  test('behind one proxy, the client address is the last one in X-Forwarded-For', async () => {
    await start(1)
    expect(await countAllowed((i) => `198.51.100.${i}, 203.0.113.7`)).toBe(30)
    expect(await countAllowed((i) => `203.0.113.9, 198.51.100.${i}`)).toBe(40)
  })
  test('behind two proxies, the client address is the last but one in X-Forwarded-For', async () => {
    await start(2)
    expect(await countAllowed((i) => `192.0.2.${i}, 203.0.113.7, 198.51.100.${i}`)).toBe(30)
    expect(await countAllowed((i) => `203.0.113.9, 198.51.100.${i}, 10.0.0.1`)).toBe(40)
  })
  test('if X-Forwarded-For is absent or invalid, the client address is that of the connection', async () => {
    await start(1)
    expect(await countAllowed((i) => (i % 2 === 0 ? undefined : `nonsense ${i}`))).toBe(30)
  })
  test.each([
    ['an IPv4 address with different ports', (i: number) => `203.0.113.7:${40_000 + i}`],
    ['addresses of one IPv6 network', (i: number) => `2001:db8:1:2::${i + 1}`],
    ['addresses of one IPv6 network, with ports and leading zeros', (i: number) => `[2001:0DB8:0001:2::${i + 1}]:${40_000 + i}`],
    ['an IPv4 address in two IPv6 notations', (i: number) => (i % 2 === 0 ? '::ffff:203.0.113.7' : '::ffff:cb00:7107')],
  ])('%s count as one network', async (_case, forwarded) => {
    await start(1)
    expect(await countAllowed(forwarded)).toBe(30)
  })
})

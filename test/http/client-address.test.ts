import { expect, test } from 'vitest'
import { networkOf } from '../../src/http/client-address.ts'
import { startListener } from '../../src/listener/listener.ts'
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
test.each<[what: string, proxies: number, forwarded: (i: number) => string | undefined, networks: 'one' | 'many']>([
  ["without proxies, it is the connection's, whatever X-Forwarded-For says", 0, (i) => `198.51.100.${i}`, 'one'],
  ['behind one proxy, it is the last one in X-Forwarded-For', 1, (i) => `198.51.100.${i}, 203.0.113.7`, 'one'],
  ['behind one proxy, others do not matter', 1, (i) => `203.0.113.9, 198.51.100.${i}`, 'many'],
  ['behind two proxies, it is the last but one', 2, (i) => `192.0.2.${i}, 203.0.113.7, 198.51.100.${i}`, 'one'],
  ['behind two proxies, others do not matter', 2, (i) => `203.0.113.9, 198.51.100.${i}, 10.0.0.1`, 'many'],
  ["if the header is absent or invalid, it is the connection's", 1, (i) => (i % 2 === 0 ? undefined : `nonsense ${i}`), 'one'],
  ['its port is no part of it', 1, (i) => `[2001:0DB8:0001:2::${i + 1}]:${40_000 + i}`, 'one'],
])('the client address: %s', async (_what, proxies, forwarded, networks) => {
  const service = await Service.start(memory, { proxies })
  const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  let allowed = 0
  for (let i = 0; i < 40; i++) {
    const header = forwarded(i)
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const headers = { ...type, ...(header === undefined ? {} : { 'x-forwarded-for': header }) }
    const { status } = await fetch(`${listener.url}/revoke`, { method: 'POST', headers, body: 'token=x' })
    if (status === 200) allowed++
  }
  expect(allowed).toBe(networks === 'one' ? 30 : 40)
  await listener.close()
  await service.stop()
})

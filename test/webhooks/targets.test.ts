import { describe, expect, test } from 'vitest'
import { lookUp, lookUpByDns, lookUpLocally } from '../../src/webhooks/lookup.ts'
import { BadTargets, Targets, type Refusal } from '../../src/webhooks/targets.ts'
import { VirtualClock, atRest } from '../support/virtual-clock.ts'

type Addresses = readonly string[] | Error

/** Targets whose names have these addresses: no name is looked up outside of the test. */
function targets(setting: string | undefined, names: Readonly<Record<string, Addresses>> = {}) {
  const asked: string[] = []
  const lookup = async (name: string) => {
    asked.push(name)
    const found = names[name] ?? Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' })
    if (found instanceof Error) throw found
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return { asked, targets: Targets.from(setting, { lookup }) }
}

const NO_URL = 'is not a URL like https://ci.example.com/hook'
const NO_HTTPS = 'does not begin with https://'
const NAMED = 'contains a user name or a password'
const NOT_PUBLIC = 'has a host that is not a public name or address'
const PORT = 'has a port that is not for HTTP'
const LONG = 'has more than 2,000 characters'

/** What it is, how it is written, and why it is refused. */
const HOSTILE: readonly (readonly [what: string, url: string, refusal: Refusal])[] = [
  ['loopback', 'https://127.0.0.1/', NOT_PUBLIC],
  ['loopback, another address of it', 'https://127.255.255.254/', NOT_PUBLIC],
  ['loopback, as one decimal number', 'https://2130706433/', NOT_PUBLIC],
  ['loopback, as one hexadecimal number', 'https://0x7f000001/', NOT_PUBLIC],
  ['loopback, as one octal number', 'https://017700000001/', NOT_PUBLIC],
  ['loopback, with octal parts', 'https://0177.0.0.01/', NOT_PUBLIC],
  ['loopback, with mixed parts', 'https://0x7F.0.0x0.1/', NOT_PUBLIC],
  ['loopback, with two parts', 'https://127.1/', NOT_PUBLIC],
  ['loopback, with three parts', 'https://127.0.1/', NOT_PUBLIC],
  ['loopback, with a full stop at its end', 'https://127.0.0.1./', NOT_PUBLIC],
  ['loopback, with ideographic full stops', 'https://127。0。0。1/', NOT_PUBLIC],
  ['loopback, with circled digits', 'https://①②⑦.⓪.⓪.①/', NOT_PUBLIC],
  ['loopback, with fullwidth digits', 'https://\uff11\uff12\uff17.\uff10.\uff10.\uff11/', NOT_PUBLIC],
  ['loopback, percent-encoded', 'https://%31%32%37.0.0.1/', NOT_PUBLIC],
  ['loopback, with a soft hyphen', 'https://127.0\u00ad.0.1/', NOT_PUBLIC],
  ['loopback, with a port', 'https://127.0.0.1:8443/', NOT_PUBLIC],
  ['loopback, without a path and with a query', 'https://127.0.0.1?x=https://ci.example.com', NOT_PUBLIC],
  ['loopback, with a scheme in capitals', 'HTTPS://127.0.0.1/', NOT_PUBLIC],
  ['this network', 'https://0.0.0.0/', NOT_PUBLIC],
  ['this network, as a number', 'https://0/', NOT_PUBLIC],
  ['this network, another address of it', 'https://0.1.2.3/', NOT_PUBLIC],
  ['private, 10/8', 'https://10.0.0.1/', NOT_PUBLIC],
  ['private, 10/8, its last', 'https://10.255.255.255/', NOT_PUBLIC],
  ['private, 172.16/12', 'https://172.16.0.1/', NOT_PUBLIC],
  ['private, 172.16/12, its last', 'https://172.31.255.255/', NOT_PUBLIC],
  ['private, 192.168/16', 'https://192.168.1.1/', NOT_PUBLIC],
  ['private, as a hexadecimal number', 'https://0xc0a80101/', NOT_PUBLIC],
  ['shared by carriers', 'https://100.64.0.1/', NOT_PUBLIC],
  ['shared by carriers, its last', 'https://100.127.255.255/', NOT_PUBLIC],
  ['metadata of AWS, Azure, Google', 'https://169.254.169.254/latest/meta-data/', NOT_PUBLIC],
  ['metadata, as a decimal number', 'https://2852039166/', NOT_PUBLIC],
  ['metadata, with octal parts', 'https://0251.0376.0251.0376/', NOT_PUBLIC],
  ['metadata of containers on AWS', 'https://169.254.170.2/v2/credentials', NOT_PUBLIC],
  ['metadata of Alibaba Cloud', 'https://100.100.100.200/', NOT_PUBLIC],
  ['metadata of Oracle Cloud', 'https://192.0.0.192/', NOT_PUBLIC],
  ['the platform of Azure', 'https://168.63.129.16/', NOT_PUBLIC],
  ['protocol assignments', 'https://192.0.0.8/', NOT_PUBLIC],
  ['documentation, 192.0.2/24', 'https://192.0.2.1/', NOT_PUBLIC],
  ['documentation, 198.51.100/24', 'https://198.51.100.7/', NOT_PUBLIC],
  ['documentation, 203.0.113/24', 'https://203.0.113.7/', NOT_PUBLIC],
  ['a relay of 6to4', 'https://192.88.99.1/', NOT_PUBLIC],
  ['benchmarks', 'https://198.19.255.255/', NOT_PUBLIC],
  ['multicast', 'https://224.0.0.1/', NOT_PUBLIC],
  ['multicast, its last', 'https://239.255.255.255/', NOT_PUBLIC],
  ['reserved', 'https://240.0.0.1/', NOT_PUBLIC],
  ['broadcast', 'https://255.255.255.255/', NOT_PUBLIC],
  ['v6: unspecified', 'https://[::]/', NOT_PUBLIC],
  ['v6: loopback', 'https://[::1]/', NOT_PUBLIC],
  ['v6: loopback, written in full', 'https://[0000:0000:0000:0000:0000:0000:0000:0001]/', NOT_PUBLIC],
  ['v6: mapped loopback', 'https://[::ffff:127.0.0.1]/', NOT_PUBLIC],
  ['v6: mapped loopback, hexadecimal', 'https://[::ffff:7f00:1]/', NOT_PUBLIC],
  ['v6: mapped loopback, written in full', 'https://[0:0:0:0:0:FFFF:7F00:0001]/', NOT_PUBLIC],
  ['v6: mapped metadata', 'https://[::ffff:169.254.169.254]/', NOT_PUBLIC],
  ['v6: compatible with v4, which is obsolete', 'https://[::127.0.0.1]/', NOT_PUBLIC],
  ['v6: compatible with a public v4', 'https://[::8.8.8.8]/', NOT_PUBLIC],
  ['v6: translated, RFC 2765', 'https://[::ffff:0:8.8.8.8]/', NOT_PUBLIC],
  ['v6: NAT64 of loopback', 'https://[64:ff9b::127.0.0.1]/', NOT_PUBLIC],
  ['v6: NAT64 of metadata', 'https://[64:ff9b::a9fe:a9fe]/', NOT_PUBLIC],
  ['v6: NAT64 of a local prefix', 'https://[64:ff9b:1::8.8.8.8]/', NOT_PUBLIC],
  ['v6: NAT64, beyond its prefix of 96 bits', 'https://[64:ff9b::1:0808:0808]/', NOT_PUBLIC],
  ['v6: 6to4 of a private address', 'https://[2002:c0a8:101::1]/', NOT_PUBLIC],
  ['v6: 6to4 of loopback', 'https://[2002:7f00:1::]/', NOT_PUBLIC],
  ['v6: Teredo', 'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/', NOT_PUBLIC],
  ['v6: benchmarks', 'https://[2001:2::1]/', NOT_PUBLIC],
  ['v6: ORCHID', 'https://[2001:20::1]/', NOT_PUBLIC],
  ['v6: documentation', 'https://[2001:db8::1]/', NOT_PUBLIC],
  ['v6: documentation, RFC 9637', 'https://[3fff:fff::1]/', NOT_PUBLIC],
  ['v6: discard', 'https://[100::1]/', NOT_PUBLIC],
  ['v6: segment routing', 'https://[5f00::1]/', NOT_PUBLIC],
  ['v6: unique local', 'https://[fc00::1]/', NOT_PUBLIC],
  ['v6: metadata of AWS', 'https://[fd00:ec2::254]/', NOT_PUBLIC],
  ['v6: metadata of Google', 'https://[fd20:ce::254]/', NOT_PUBLIC],
  ['v6: link-local', 'https://[fe80::1]/', NOT_PUBLIC],
  ['v6: link-local, its last', 'https://[febf::1]/', NOT_PUBLIC],
  ['v6: site-local, which is obsolete', 'https://[fec0::1]/', NOT_PUBLIC],
  ['v6: multicast', 'https://[ff02::1]/', NOT_PUBLIC],
  ['v6: not assigned', 'https://[4000::1]/', NOT_PUBLIC],
  ['v6: with a zone', 'https://[fe80::1%eth0]/', NO_URL],
  ['v6: with an encoded zone', 'https://[fe80::1%25eth0]/', NO_URL],
  ['localhost', 'https://localhost/', NOT_PUBLIC],
  ['localhost in capitals', 'https://LocalHost/', NOT_PUBLIC],
  ['localhost with a full stop', 'https://localhost./', NOT_PUBLIC],
  ['localhost, percent-encoded', 'https://%6cocalhost/', NOT_PUBLIC],
  ['localhost with a circled letter', 'https://ⓛocalhost/', NOT_PUBLIC],
  ['localhost with a soft hyphen', 'https://local\u00adhost/', NOT_PUBLIC],
  ['a name below localhost', 'https://ci.localhost/', NOT_PUBLIC],
  ['localhost with a domain', 'https://localhost.localdomain/', NOT_PUBLIC],
  ['a name of mDNS', 'https://printer.local/', NOT_PUBLIC],
  ['a private name', 'https://ci.internal/', NOT_PUBLIC],
  ['a private name with a full stop', 'https://ci.INTERNAL./', NOT_PUBLIC],
  ['metadata of Google by name', 'https://metadata.google.internal/computeMetadata/v1/', NOT_PUBLIC],
  ['a name of one label', 'https://metadata/', NOT_PUBLIC],
  ['a name of a home', 'https://router.home.arpa/', NOT_PUBLIC],
  ['a hidden service', 'https://abc.onion/', NOT_PUBLIC],
  ['an empty label', 'https://ci..example.com/', NO_URL],
  ['an empty first label', 'https://.example.com/', NO_URL],
  ['two full stops at the end', 'https://localhost../', NO_URL],
  ['a label of 64 characters', `https://${'a'.repeat(64)}.example.com/`, NO_URL],
  ['a name of 254 characters', `https://${'a.'.repeat(126)}aa/`, NO_URL],
  ['a wildcard', 'https://*.example.com/', NO_URL],
  ['a label that begins with a hyphen', 'https://-a.example.com/', NO_URL],
  ['Punycode of what is not ASCII', 'https://xn--é/', NO_URL],
  ['too large a number', 'https://4294967296/', NO_URL],
  ['too large a part', 'https://256.256.256.256/', NO_URL],
  ['five parts', 'https://1.2.3.4.5/', NO_URL],
  ['no host', 'https:///127.0.0.1/', NO_URL],
  ['no slashes', 'https:127.0.0.1', NO_URL],
  ['backslashes', 'https:\\\\127.0.0.1\\', NO_URL],
  ['a backslash before another host', 'https://ci.example.com\\@127.0.0.1/', NO_URL],
  ['a line break in the host', 'https://127.0\n.0.1/', NO_URL],
  ['a tab in the scheme', 'ht\ttps://127.0.0.1/', NO_URL],
  ['a space before it', ' https://127.0.0.1/', NO_URL],
  ['a second request line', 'https://ci.example.com/ HTTP/1.1\r\nHost: localhost', NO_URL],
  ['an encoded zero byte', 'https://127.0.0.1%00.example.com/', NO_URL],
  ['a name and a password', 'https://me:hunter2@ci.example.com/', NAMED],
  ['a name', 'https://me@ci.example.com/', NAMED],
  ['a host as the name', 'https://ci.example.com@127.0.0.1/', NAMED],
  ['an empty name', 'https://@ci.example.com/', NAMED],
  ['an empty password', 'https://:@ci.example.com/', NAMED],
  ['http', 'http://ci.example.com/', NO_HTTPS],
  ['http to the port of https', 'http://ci.example.com:443/', NO_HTTPS],
  ['a file', 'file:///etc/passwd', NO_HTTPS],
  ['gopher', 'gopher://127.0.0.1:6379/_FLUSHALL', NO_HTTPS],
  ['ftp', 'ftp://ci.example.com/', NO_HTTPS],
  ['data', 'data:text/plain,x', NO_HTTPS],
  ['a socket', 'unix:/var/run/docker.sock', NO_HTTPS],
  ['a script', 'javascript:alert(1)', NO_HTTPS],
  ['a WebSocket', 'wss://ci.example.com/', NO_HTTPS],
  ['nothing', '', NO_URL],
  ['a path', '/hook', NO_URL],
  ['no scheme', '//ci.example.com/', NO_URL],
  ['the port of SMTP', 'https://ci.example.com:25/', PORT],
  ['the port of SSH', 'https://ci.example.com:22/', PORT],
  ['the port of IRC', 'https://ci.example.com:6667/', PORT],
  ['port 0', 'https://ci.example.com:0/', PORT],
  ['too large a port', 'https://ci.example.com:65536/', NO_URL],
  ['2,001 characters', `https://ci.example.com/${'a'.repeat(1978)}`, LONG],
  ['2,001 characters as it is sent', `https://ci.example.com/${'é'.repeat(330)}`, LONG],
]

const HARMLESS = [
  'https://ci.example.com/hook',
  'https://CI.Example.COM./hook?a=1#part',
  'https://ci.example.com:8443/hook',
  'https://ci.example.com/with@sign?mail=a@b.example',
  'https://ci.example.com?mail=a@b.example',
  'https://a_b.example.com/',
  'https://bücher.example.com/ä',
  'https://localhost.example.com/',
  'https://internal.example.com/',
  'https://my.notlocal/',
  'https://1.1.1.1/',
  'https://16843009/',
  'https://9.255.255.255/',
  'https://11.0.0.0/',
  'https://100.63.255.255/',
  'https://100.128.0.0/',
  'https://172.15.255.255/',
  'https://172.32.0.0/',
  'https://198.17.255.255/',
  'https://223.255.255.255/',
  'https://168.63.129.17/',
  'https://[2606:4700:4700::1111]/',
  'https://[::ffff:1.1.1.1]/',
  'https://[64:ff9b::1.1.1.1]/',
  'https://[2002:101:101::1]/',
  'https://[2001:200::1]/',
  'https://[2001:db7::1]/',
  `https://ci.example.com/${'a'.repeat(1977)}`,
]

describe('the text of a URL', () => {
  test('has at least 60 hostile forms', () => {
    expect(new Set(HOSTILE.map(([, url]) => url)).size).toBe(HOSTILE.length)
    expect(HOSTILE.length).toBeGreaterThanOrEqual(60)
  })

  test.each(HOSTILE)('is refused: %s', async (_what, url, refusal) => {
    const { targets: strict, asked } = targets(undefined)
    expect(strict.check(url)).toBe(refusal)
    expect(await strict.resolve(url)).toEqual({ error: 'address not allowed' })
    expect(asked).toEqual([])
  })

  // To some versions of Node.js it is a name of one label, and no URL to others.
  test('is refused: Punycode that is not valid', () => {
    expect([NO_URL, NOT_PUBLIC]).toContain(targets(undefined).targets.check('https://xn--a/'))
  })

  test.each(HARMLESS)('is accepted: %.60s', (url) => {
    expect(targets(undefined).targets.check(url)).toBeUndefined()
  })

  test('has ports that browsers refuse', async () => {
    // The fetch of Node.js has the list of the standard, and answers before it connects.
    const refusedByFetch = async (port: number): Promise<boolean> => {
      const error: unknown = await fetch(`https://127.0.0.1:${port}/`).catch((error: unknown) => error)
      return /bad port/.test(String((error as Error).cause))
    }
    const strict = targets(undefined).targets
    const refused = Array.from({ length: 65_536 }, (_, port) => port).filter(
      (port) => strict.check(`https://ci.example.com:${port}/`) === PORT,
    )
    expect(refused).toHaveLength(83)
    for (const port of refused.filter((port) => port !== 0)) expect([port, await refusedByFetch(port)]).toEqual([port, true])
  })
})

describe('the addresses of a name', () => {
  const resolved = (...addresses: string[]) =>
    targets(undefined, { 'ci.example.com': addresses }).targets.resolve('https://ci.example.com/')

  /** Every address of the table above, as a resolver writes it. */
  const LITERALS = HOSTILE.filter(([, , refusal]) => refusal === NOT_PUBLIC)
    .map(([what, url]) => [what, new URL(url).hostname.replace(/[[\]]/g, '')] as const)
    .filter(([, host]) => /^[\d.]+$|:/.test(host))

  test.each<readonly [what: string, address: string]>([
    ...LITERALS,
    ['v6: link-local with a zone', 'fe80::1%eth0'],
    ['v6: mapped private, with a zone', '::ffff:10.0.0.1%2'],
    ['no address', 'ci.example.com'],
    ['nothing', ''],
  ])('are refused: %s', async (_what, address) => {
    const refused = { error: 'address not allowed' }
    expect(await resolved(address)).toEqual(refused)
    expect(await resolved('1.1.1.1', address)).toEqual(refused)
    expect(await resolved(address, '2606:4700:4700::1111')).toEqual(refused)
  })

  test('are returned in the order of the resolver', async () => {
    expect(LITERALS.length).toBeGreaterThanOrEqual(60)
    expect(await resolved('1.1.1.1', '2606:4700:4700::1111')).toEqual({ address: '1.1.1.1', family: 4 })
    expect(await resolved('2606:4700:4700::1111', '1.1.1.1')).toEqual({ address: '2606:4700:4700::1111', family: 6 })
  })

  test('of an address that is written in a URL are not looked up', async () => {
    const { targets: strict, asked } = targets(undefined)
    expect(await strict.resolve('https://0x01010101/')).toEqual({ address: '1.1.1.1', family: 4 })
    expect(await strict.resolve('https://[2606:4700:4700::1111]:8443/')).toEqual({ address: '2606:4700:4700::1111', family: 6 })
    expect(asked).toEqual([])
  })

  test('are looked up once, by the name in ASCII, without the full stop at its end', async () => {
    const { targets: strict, asked } = targets(undefined, { 'xn--bcher-kva.example.com': ['1.1.1.1'] })
    expect(await strict.resolve('https://Bücher.example.com.:8443/x')).toEqual({ address: '1.1.1.1', family: 4 })
    expect(asked).toEqual(['xn--bcher-kva.example.com'])
  })

  test.each([
    ['ENOTFOUND', 'name not found'],
    ['EAI_AGAIN', 'name lookup failed'],
    ['ENOMEM', 'name lookup failed'],
  ])('cannot be resolved: %s', async (code, error) => {
    const failing = targets(undefined, { 'ci.example.com': Object.assign(new Error('getaddrinfo'), { code }) }).targets
    expect(await failing.resolve('https://ci.example.com/')).toEqual({ error })
    expect(await resolved()).toEqual({ error: 'name not found' })
  })

  test('are not waited for beyond five seconds, or when the signal is aborted', async () => {
    const clock = new VirtualClock()
    let answer: (addresses: { address: string; family: number }[]) => void = () => {}
    const slow = Targets.from(undefined, { timers: clock, lookup: () => new Promise((resolve) => (answer = resolve)) })
    const results: unknown[] = []
    const settle = () => atRest(() => false)
    void slow.resolve('https://ci.example.com/').then((result) => results.push(result))
    await clock.pass(4999, settle)
    expect(results).toEqual([])
    await clock.pass(1, settle)
    expect(results).toEqual([{ error: 'timed out' }])
    const controller = new AbortController()
    void slow.resolve('https://ci.example.com/', controller.signal).then((result) => results.push(result))
    controller.abort()
    await settle()
    expect(results[1]).toEqual({ error: 'stopped' })
    expect(await slow.resolve('https://ci.example.com/', controller.signal)).toEqual({ error: 'stopped' })
    const late = slow.resolve('https://ci.example.com/')
    answer([{ address: '1.1.1.1', family: 4 }])
    expect(await late).toEqual({ address: '1.1.1.1', family: 4 })
  })
})

describe('a webhook', () => {
  test.each<[what: string, setting: string | undefined, addresses: string[] | Error, refusal: string | undefined]>([
    ['of a public address', undefined, ['1.1.1.1'], undefined],
    ['of a name with a private address', undefined, ['1.1.1.1', '10.0.0.1'], NOT_PUBLIC],
    ['of a name with an address that is allowed', '10.0.0.0/8', ['10.0.0.1'], undefined],
    ['of a name that has no address yet', undefined, [], undefined],
    ['of a name that cannot be looked up now', undefined, Object.assign(new Error('query'), { code: 'ESERVFAIL' }), undefined],
  ])('%s', async (_what, setting, addresses, refusal) => {
    expect(await targets(setting, { 'ci.example.com': addresses }).targets.refusalOf('https://ci.example.com/')).toBe(refusal)
  })

  test('is refused, whatever its URL, if the operator has turned webhooks off', async () => {
    const off = targets(' off ', { 'ci.example.com': ['1.1.1.1'] }).targets
    expect(await off.refusalOf('https://ci.example.com/')).toBe('cannot be used: the operator has turned webhooks off')
    expect(await off.resolve('https://ci.example.com/')).toEqual({ error: 'address not allowed' })
    expect({ off: off.isOff, empty: targets('').targets.isOff, listed: targets('off.example').targets.isOff }).toEqual({
      off: true,
      empty: false,
      listed: false,
    })
  })

  test('is refused by the text of its URL, without a lookup', async () => {
    const { targets: strict, asked } = targets(undefined)
    expect(await strict.refusalOf('https://printer.local/')).toBe(NOT_PUBLIC)
    expect(asked).toEqual([])
  })
})

describe('a name is looked up', () => {
  test.each<[setting: string, url: string, isLocal: boolean]>([
    ['', 'https://ci.example.com/', false],
    ['10.0.0.0/8', 'https://ci.example.com/', false],
    ['10.0.0.0/8', 'https://ci.internal/', true],
    ['10.0.0.0/8', 'https://ci/', true],
    ['ci.example.com', 'https://ci.example.com/', true],
    ['http://ci.example.com:*', 'http://ci.example.com/', true],
    ['http://ci.example.com:*', 'https://ci.example.com/', false],
  ])('with "%s" allowed, %s: as a local one: %s', async (setting, url, isLocal) => {
    const asked: boolean[] = []
    const lookup = async (_name: string, local: boolean) => (asked.push(local), [])
    await Targets.from(setting, { lookup }).resolve(url)
    expect(asked).toEqual([isLocal])
  })

  const has = (...addresses: string[]) => Promise.resolve(addresses) as never
  const fails = (code: string) => Promise.reject(Object.assign(new Error('query'), { code }))
  test.each<[what: string, v4: () => Promise<never>, v6: () => Promise<never>, found: string[] | string]>([
    ['has addresses of both kinds', () => has('1.1.1.1', '1.0.0.1'), () => has('2606::1'), ['1.0.0.1', '1.1.1.1', '2606::1']],
    ['has v4 only', () => has('1.1.1.1'), () => fails('ENODATA'), ['1.1.1.1']],
    ['has v6 only', () => fails('ENODATA'), () => has('2606::1'), ['2606::1']],
    ['has v4, and no answer about v6', () => has('1.1.1.1'), () => fails('ETIMEOUT'), ['1.1.1.1']],
    ['does not exist', () => fails('ENOTFOUND'), () => fails('ENOTFOUND'), 'ENOTFOUND'],
    ['has no addresses', () => fails('ENODATA'), () => fails('ENODATA'), 'ENOTFOUND'],
    ['has no v4, and no answer about v6', () => fails('ENODATA'), () => fails('ETIMEOUT'), 'ETIMEOUT'],
    ['has no answer', () => fails('ESERVFAIL'), () => fails('ENODATA'), 'ESERVFAIL'],
  ])('by DNS: it %s', async (_what, v4, v6, found) => {
    const answer = lookUpByDns('ci.example.com', { resolve4: v4, resolve6: v6 })
    if (typeof found === 'string') return expect(answer).rejects.toMatchObject({ code: found })
    expect((await answer).map(({ address }) => address).toSorted()).toEqual(found)
    for (const { address, family } of await answer) expect(family).toBe(address.includes(':') ? 6 : 4)
  })

  const never = (): Promise<never> => new Promise(() => {})
  const asError = (error: unknown) => error
  test.each<[what: string, v4: () => Promise<never>, v6: () => Promise<never>, found: string[]]>([
    ['v6', () => has('1.1.1.1'), never, ['1.1.1.1']],
    ['v4', never, () => has('2606::1'), ['2606::1']],
  ])('by DNS: a server that drops questions about %s is waited for for a second', async (_what, v4, v6, found) => {
    const clock = new VirtualClock()
    const results: unknown[] = []
    const settle = () => atRest(() => false)
    void lookUpByDns('ci.example.com', { resolve4: v4, resolve6: v6 }, clock).then((all) => results.push(all))
    await clock.pass(999, settle)
    expect(results).toEqual([])
    await clock.pass(1, settle)
    expect(results).toEqual([found.map((address) => expect.objectContaining({ address }))])
  })

  test('by DNS: the other kind is waited for as long as it takes, if one has no addresses', async () => {
    const clock = new VirtualClock()
    let answer = (_addresses: string[]): void => {}
    const late = new Promise<never>((resolve) => (answer = resolve as never))
    const asked = lookUpByDns('ci.example.com', { resolve4: () => fails('ENODATA'), resolve6: () => late }, clock)
    await clock.pass(4000, () => atRest(() => false))
    answer(['2606::1'])
    expect(await asked).toEqual([{ address: '2606::1', family: 6 }])
  })

  test('by DNS, with all addresses that came within a second, so that each of them is checked', async () => {
    const clock = new VirtualClock()
    let answer = (_addresses: string[]): void => {}
    const late = new Promise<never>((resolve) => (answer = resolve as never))
    const lookup = () => lookUpByDns('ci.example.com', { resolve4: () => has('1.1.1.1'), resolve6: () => late }, clock)
    const asked = Targets.from(undefined, { lookup, timers: clock }).resolve('https://ci.example.com/')
    await clock.pass(999, () => atRest(() => false))
    answer(['::1'])
    expect(await asked).toEqual({ error: 'address not allowed' })
  })

  test.each<[what: string, v4: () => Promise<never>, found: unknown]>([
    [
      'with v4 alone, if it takes longer than a second',
      () => Promise.resolve([{ address: '10.0.0.1', family: 4 }]) as never,
      [{ address: '10.0.0.1', family: 4 }],
    ],
    ['with its own error, if there is no v4 either', () => fails('ENOTFOUND'), expect.objectContaining({ code: 'EAI_AGAIN' })],
  ])('in the files of the system, %s', async (_what, v4, found) => {
    const clock = new VirtualClock()
    let end = (_error: Error): void => {}
    const both = new Promise<never>((_resolve, reject) => (end = reject))
    const asked = lookUpLocally('ci.internal', (_name, { family }) => (family === 4 ? v4() : both), clock).catch(asError)
    await clock.pass(1000, () => atRest(() => false))
    end(Object.assign(new Error('lookup'), { code: 'EAI_AGAIN' }))
    expect(await asked).toEqual(found)
  })

  test('in the files of the system, if it is local', async () => {
    expect(await lookUp('localhost', true)).toContainEqual({ address: '127.0.0.1', family: 4 })
  })
})

describe('LANEKEEPER_WEBHOOK_TARGETS', () => {
  const LOCAL = {
    'ci.internal': ['10.1.2.3'],
    'both.internal': ['10.1.2.3', '10.2.0.1'],
    'other.internal': ['10.2.0.1'],
    'ci.example.com': ['10.1.2.3', '::1'],
    'mapped.example.com': ['::ffff:10.1.2.3'],
    localhost: ['127.0.0.1', '::1'],
    deploy: ['127.0.0.1'],
  }
  const NOT_ALLOWED = { error: 'address not allowed' }

  test.each<[setting: string, url: string, result: object]>([
    // A name, for https on any port and whatever its addresses are.
    ['ci.internal', 'https://ci.internal/', { address: '10.1.2.3', family: 4 }],
    ['ci.internal', 'https://CI.internal.:8443/', { address: '10.1.2.3', family: 4 }],
    ['CI.INTERNAL.', 'https://ci.internal/', { address: '10.1.2.3', family: 4 }],
    ['ci.internal', 'http://ci.internal/', NOT_ALLOWED],
    ['ci.internal', 'https://a.ci.internal/', NOT_ALLOWED],
    ['ci.internal', 'https://other.internal/', NOT_ALLOWED],
    ['ci.internal', 'https://10.1.2.3/', NOT_ALLOWED],
    ['ci.example.com', 'https://ci.example.com/', { address: '10.1.2.3', family: 4 }],
    ['https://localhost , https://deploy:*', 'https://deploy/', { address: '127.0.0.1', family: 4 }],
    // Addresses and networks, also for names that have them.
    ['10.1.0.0/16', 'https://10.1.2.3/', { address: '10.1.2.3', family: 4 }],
    ['10.1.0.0/16', 'https://0x0a010203/', { address: '10.1.2.3', family: 4 }],
    ['10.1.0.0/16', 'https://[::ffff:10.1.2.3]/', { address: '::ffff:a01:203', family: 6 }],
    ['10.1.0.0/16', 'https://ci.internal/', { address: '10.1.2.3', family: 4 }],
    ['10.1.0.0/16', 'https://mapped.example.com/', { address: '::ffff:10.1.2.3', family: 6 }],
    ['10.1.0.0/16', 'https://both.internal/', NOT_ALLOWED],
    ['10.1.0.0/16', 'https://ci.example.com/', NOT_ALLOWED],
    ['10.1.0.0/16', 'https://10.2.0.1/', NOT_ALLOWED],
    ['10.1.0.0/16', 'http://10.1.2.3/', NOT_ALLOWED],
    ['127.0.0.1', 'https://localhost/', NOT_ALLOWED],
    ['127.0.0.1,::1', 'https://localhost/', { address: '127.0.0.1', family: 4 }],
    ['fd00::/8', 'https://[fd12::1]/', { address: 'fd12::1', family: 6 }],
    ['fd00::7', 'https://[fd00::8]/', NOT_ALLOWED],
    ['0.0.0.0/0', 'https://127.0.0.1/', { address: '127.0.0.1', family: 4 }],
    ['0.0.0.0/0', 'https://[::1]/', NOT_ALLOWED],
    ['::/0', 'https://127.0.0.1/', NOT_ALLOWED],
    // Origins.
    ['http://127.0.0.1:*', 'http://127.0.0.1:8080/', { address: '127.0.0.1', family: 4 }],
    ['http://127.0.0.1:*', 'http://2130706433/', { address: '127.0.0.1', family: 4 }],
    ['http://127.0.0.1:*', 'http://127.0.0.1:25/', NOT_ALLOWED],
    ['http://127.0.0.1:*', 'http://127.0.0.2/', NOT_ALLOWED],
    ['http://127.0.0.1:*', 'https://127.0.0.1/', NOT_ALLOWED],
    ['http://127.0.0.1:*', 'http://localhost/', NOT_ALLOWED],
    ['http://127.0.0.1:*', 'http://ci.example.com/', NOT_ALLOWED],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/x', { address: '127.0.0.1', family: 4 }],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8081/', NOT_ALLOWED],
    ['http://deploy', 'http://deploy:80/', { address: '127.0.0.1', family: 4 }],
    ['http://deploy', 'http://deploy:8080/', NOT_ALLOWED],
    ['http://[::1]:*', 'http://[0:0::1]:3000/', { address: '::1', family: 6 }],
    ['https://Deploy.:8443', 'https://deploy:8443/', { address: '127.0.0.1', family: 4 }],
    ['https://deploy:8443', 'https://deploy/', NOT_ALLOWED],
    // Credentials and what is no URL stay refused.
    ['https://deploy,0.0.0.0/0,::/0,http://deploy:*', 'https://me@deploy/', NOT_ALLOWED],
    [' ci.internal, 10.1.0.0/16,, http://127.0.0.1:* ,', 'http://127.0.0.1/', { address: '127.0.0.1', family: 4 }],
    ['', 'https://127.0.0.1/', NOT_ALLOWED],
  ])('%s: %s', async (setting, url, result) => {
    const { targets: open } = targets(setting, LOCAL)
    expect(await open.resolve(url)).toEqual(result)
    if ('address' in result) expect(open.check(url)).toBeUndefined()
  })

  test.each([
    '10.1.0.0/33',
    '::1/129',
    '10.1.0.0/',
    '10.1.0.0/-1',
    '10.1.0.0/0x8',
    '010.1.0.0/16',
    '010.1.0.0',
    '10.1',
    '0x7f.1',
    '2130706433',
    '256.1.1.1',
    ':::1',
    '::ffff:10.1.2.3',
    '64:ff9b::/96',
    '[::1]',
    'fe80::1%eth0',
    '127.0.0.1:8080',
    'ci.internal:8080',
    '*',
    '*.internal',
    '.internal',
    'a..internal',
    'ci internal',
    'ci.internal/hook',
    'ftp://ci.internal',
    'http://',
    'http://*',
    'http://ci.internal/',
    'http://ci.internal/hook',
    'http://*.internal:80',
    'http://ci.internal:8*',
    'http://ci.internal:80:*',
    'http://ci.internal:70000',
    'http://10.1.0.0/16',
    'http://ci.internal?x',
    'http://ci.internal#x',
    'https:ci.internal',
    'http:\\\\ci.internal',
    '127.0.0.1-127.0.0.9',
    'ci.internal;a',
    // Other words for off, and off beside something else.
    'off',
    'none',
    'None.',
    'false',
    'disabled',
    'no',
    'null',
    '0',
    'on',
    'localhost',
  ])('refuses the entry %s', (entry) => {
    for (const setting of [`ci.example.com, ${entry}`, ...(entry === 'off' ? [] : [entry])]) {
      const attempt = (): unknown => Targets.from(setting)
      expect(attempt).toThrow(BadTargets)
      expect(attempt).toThrow(`"${entry}" is not a host name with a dot (ci.internal), an address or a network (10.1.0.0/16), or an origin`)
      expect(attempt).toThrow('To turn webhooks off, write off alone')
    }
  })

  test.each(['off', 'OFF', 'Off', ' oFF '])('turns webhooks off with %j', (setting) => {
    const { isOff, check } = Targets.from(setting)
    expect({ isOff, refusal: check.call(Targets.from(setting), 'https://ci.example.com/') }).toEqual({
      isOff: true,
      refusal: expect.stringContaining('turned webhooks off'),
    })
  })

  test('does not show a password in its error', () => {
    expect(() => Targets.from('http://me:hunter2@ci.internal')).toThrow('an entry with @ is not a host name with a dot')
    expect(() => Targets.from('http://me:hunter2@ci.internal')).not.toThrow(/hunter2/)
  })
})

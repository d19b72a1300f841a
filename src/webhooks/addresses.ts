import { BlockList, isIP, isIPv4 } from 'node:net'

// Which IP addresses are public (src/http/webhooks.md, "Where it may send"). IANA's special-purpose registries (RFC 6890) name the others.

type Range = readonly [network: string, prefix: number]

const NOT_PUBLIC_V4: readonly Range[] = [
  ['0.0.0.0', 8], // this network, RFC 791
  ['10.0.0.0', 8], // private, RFC 1918
  ['100.64.0.0', 10], // shared by carriers, RFC 6598; metadata of Alibaba Cloud: 100.100.100.200
  ['127.0.0.0', 8], // loopback, RFC 1122
  ['168.63.129.16', 32], // the platform of Azure: a public address that is answered by the host of the machine
  ['169.254.0.0', 16], // link-local, RFC 3927; metadata of most clouds: 169.254.169.254
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments, RFC 6890; metadata of Oracle Cloud: 192.0.0.192
  ['192.0.2.0', 24], // documentation, RFC 5737
  ['192.88.99.0', 24], // 6to4 relays, RFC 7526
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks, RFC 2544
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast, RFC 5771
  ['240.0.0.0', 4], // reserved, and broadcast, RFC 1112 and 919
]

/**
 * Global unicast addresses: IANA has assigned no others. So ::, ::1, 100::/64, 64:ff9b:1::/48, 5f00::/16, fc00::/7, fe80::/10,
 * fec0::/10, ff00::/8 and what is reserved are not public.
 */
const GLOBAL_V6: Range = ['2000::', 3]
const NOT_PUBLIC_V6: readonly Range[] = [
  ['2001::', 23], // protocol assignments, RFC 2928, with Teredo, benchmarks and ORCHID
  ['2001:db8::', 32], // documentation, RFC 3849
  ['3fff::', 20], // documentation, RFC 9637
]

/** IPv6 addresses that contain an IPv4 address, and the group of 16 bits where it begins. */
const EMBEDDING: readonly (readonly [range: Range, group: number])[] = [
  [['::ffff:0:0', 96], 6], // mapped, RFC 4291
  [['64:ff9b::', 96], 6], // NAT64, RFC 6052
  [['2002::', 16], 1], // 6to4, RFC 3056
]

const notPublicV4 = listOf(NOT_PUBLIC_V4, 'ipv4')
const notPublicV6 = listOf(NOT_PUBLIC_V6, 'ipv6')
const globalV6 = listOf([GLOBAL_V6], 'ipv6')
const embedding = EMBEDDING.map(([range, group]) => ({ list: listOf([range], 'ipv6'), group }))

function listOf(ranges: readonly Range[], type: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, type)
  return list
}

/**
 * Whether anybody on the internet can have an address. A network that translates with a prefix of its own (RFC 6052 §2.2) cannot be
 * told from other global addresses.
 * @param address an IPv4 or IPv6 address, with or without a zone
 * @returns false if it is no address
 */
export function isPublicAddress(address: string): boolean {
  const plain = plainAddress(address)
  if (isIPv4(plain)) return !notPublicV4.check(plain, 'ipv4')
  return isIP(plain) === 6 && globalV6.check(plain, 'ipv6') && !notPublicV6.check(plain, 'ipv6')
}

/** Networks by family: a BlockList alone would find an IPv4 address in `::/0`. */
export class Networks {
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  #isEmpty = true

  get isEmpty(): boolean {
    return this.#isEmpty
  }

  /**
   * @param prefix the bits that all addresses of the network begin with
   * @returns false if it is no network
   */
  add(address: string, prefix: number): boolean {
    // One that contains an IPv4 address would never be found: it is looked for by that.
    if (isIP(address) === 0 || plainAddress(address) !== address || prefix > (isIPv4(address) ? 32 : 128)) return false
    const type = isIPv4(address) ? 'ipv4' : 'ipv6'
    this.#lists[type].addSubnet(address, prefix, type)
    this.#isEmpty = false
    return true
  }

  has(address: string): boolean {
    const plain = plainAddress(address)
    const type = isIPv4(plain) ? 'ipv4' : 'ipv6'
    return isIP(plain) !== 0 && this.#lists[type].check(plain, type)
  }
}

/** The address that decides: an IPv6 address that contains an IPv4 address is what that is, and a zone does not matter. */
function plainAddress(address: string): string {
  return embeddedIPv4(address) ?? withoutZone(address)
}

/** @returns undefined if it is not an IPv6 address with an IPv4 address in it */
function embeddedIPv4(address: string): string | undefined {
  const plain = withoutZone(address)
  if (isIP(plain) !== 6) return undefined
  const group = embedding.find(({ list }) => list.check(plain, 'ipv6'))?.group
  if (group === undefined) return undefined
  const [high, low] = groupsOf(plain).slice(group) as [number, number]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/**
 * The eight groups of 16 bits of an IPv6 address. The host of a URL has no dotted form
 * (https://url.spec.whatwg.org/#concept-ipv6-serializer).
 */
function groupsOf(address: string): number[] {
  const [head = [], tail] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':')))
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length
  return [...head, ...Array<string>(zeros).fill('0'), ...(tail ?? [])].map((group) => Number.parseInt(group, 16))
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '')
}

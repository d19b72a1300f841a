import { isIP, isIPv4, SocketAddress } from 'node:net'
import type { ServerRequest } from 'srvx'

/** An address with an optional port, as some proxies write it: `192.0.2.7:4711` or `[2001:db8::7]:4711`. */
const WITH_PORT = /^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/

/**
 * The address of the client, as text. It may contain a port.
 * @param proxies the number of trusted proxies in front of the service; each appends the address that it was called
 * from to X-Forwarded-For, so entries further to the left come from the client and are ignored
 * @returns the address of the connection if the header has no valid address at that position; undefined if there is
 * no connection
 */
export function clientAddress(request: ServerRequest, proxies: number): string | undefined {
  if (proxies === 0) return request.ip
  const forwarded = request.headers.get('x-forwarded-for')?.split(',').at(-proxies)?.trim()
  return parseAddress(forwarded) === undefined ? request.ip : forwarded
}

/**
 * The network that an address belongs to. Rate limits count per network, because one client usually controls all of
 * it: an IPv4 address, or the first 64 bits of an IPv6 address.
 * @param address may contain a port
 * @returns `unknown` if it is not an address
 */
export function networkOf(address: string | null | undefined): string {
  const parsed = parseAddress(address)
  if (parsed === undefined) return 'unknown'
  if (isIPv4(parsed)) return parsed
  const [head, tail] = parsed.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const zeros = tail === undefined ? 0 : 8 - head!.length - tail.length
  return [...head!, ...Array<string>(zeros).fill('0'), ...(tail ?? [])].slice(0, 4).join(':')
}

/**
 * The shortest form of an address (RFC 5952 §4). IPv4 in IPv6 notation (`::ffff:192.0.2.7`) becomes IPv4. A zone (`%eth0`) is dropped.
 * @returns undefined if it is not an address
 */
function parseAddress(text: string | null | undefined): string | undefined {
  const trimmed = text?.trim() ?? ''
  const [, ipv6, ipv4] = WITH_PORT.exec(trimmed) ?? []
  const address = (ipv6 ?? ipv4 ?? trimmed).replace(/%.*$/, '')
  if (isIP(address) !== 6) return isIPv4(address) ? address : undefined
  return new SocketAddress({ address, family: 'ipv6' }).address.replace(/^::ffff:(?=[\d.]+$)/, '')
}

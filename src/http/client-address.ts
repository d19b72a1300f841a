import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
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
export function networkOf(address: string | undefined): string {
  const parsed = parseAddress(address)
  if (parsed === undefined) return 'unknown'
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')
}

/** IPv4 in IPv6 notation (`::ffff:192.0.2.7`) becomes IPv4. A zone (`%eth0`) is dropped. */
function parseAddress(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (text === undefined) return undefined
  const trimmed = text.trim()
  const [, ipv6, ipv4] = WITH_PORT.exec(trimmed) ?? []
  const address = (ipv6 ?? ipv4 ?? trimmed).replace(/%.*$/, '')
  // The check by node:net is the stricter one: ipaddr.js also accepts IPv4 in octal, in hexadecimal or shortened.
  return isIP(address) === 0 ? undefined : ipaddr.process(address)
}

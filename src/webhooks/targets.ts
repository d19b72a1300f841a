import { isIP } from 'node:net'
import { limits } from '../model/limits.ts'
import { refusedPorts } from '../model/ports.ts'
import { isPublicAddress, Networks } from './addresses.ts'
import { lookUp, type Lookup } from './lookup.ts'
import { limitTime, systemTimers, type EndOfWaiting, type Timers } from './time-limit.ts'

// Where webhooks may be delivered to (src/http/webhooks.md, "Where it may send").

/** Milliseconds until the lookup of a name is given up. */
const LOOKUP_LIMIT = 5000

/**
 * The ends of names that only a private network has: RFC 6761, 6762, 7686, 8375 and 9476, `internal` of ICANN, and what routers and
 * companies use. This makes an early answer possible. What is connected to is decided by the addresses of a name.
 */
const LOCAL_NAME = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|lan|home|home\.arpa|onion|alt|test|invalid)$/
/** Letters, digits, hyphens and underscores, in labels of at most 63 characters (RFC 1035 §2.3.4). Other alphabets are in Punycode here. */
const NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/** Why the text of a URL is refused, as the end of a sentence about it. */
export type Refusal =
  | 'is not a URL like https://ci.example.com/hook'
  | 'has more than 2,000 characters'
  | 'does not begin with https://'
  | 'contains a user name or a password'
  | 'has a port that is not for HTTP'
  | 'has a host that is not a public name or address'
  | 'cannot be used: the operator has turned webhooks off'

/** The address that a delivery connects to. */
export interface ResolvedTarget {
  readonly address: string
  readonly family: 4 | 6
}

/** Why a delivery has no address, in words that may be shown and stored. */
export type ResolutionError = EndOfWaiting | 'address not allowed' | 'name not found' | 'name lookup failed'

/** What {@link Targets} works with; by default {@link lookUp}, and the timers of the process. */
export interface TargetOptions {
  readonly lookup?: Lookup
  readonly timers?: Timers
}

/** LANEKEEPER_WEBHOOK_TARGETS is invalid. */
export class BadTargets extends Error {
  override readonly name = 'BadTargets'
}

/** What an operator allows beyond public addresses with https. */
interface Allowed {
  /** names, for https on any port, whatever their addresses are */
  readonly names: Set<string>
  /** addresses, for https, and what names have that are not in `names` */
  readonly addresses: Networks
  /** `http://127.0.0.1:8080` or `http://127.0.0.1:*`, as text: another name of the same address is not allowed by it */
  readonly origins: Set<string>
}

/** A URL in its parts. All spellings of a host are one here (https://url.spec.whatwg.org/#host-parsing), without a full stop at its end. */
interface Parts {
  readonly protocol: string
  readonly host: string
  readonly port: number
}

/** The addresses that webhooks may be delivered to: public ones by https, and what the operator allows. */
export class Targets {
  /** whether nothing is sent at all */
  readonly isOff: boolean
  readonly #allowed: Allowed
  readonly #lookup: Lookup
  readonly #timers: Timers

  private constructor(isOff: boolean, allowed: Allowed, { lookup = lookUp, timers = systemTimers }: TargetOptions) {
    this.isOff = isOff
    this.#allowed = allowed
    this.#lookup = lookup
    this.#timers = timers
  }

  /**
   * Reads LANEKEEPER_WEBHOOK_TARGETS, a list that is separated by commas: host names (`ci.internal`), addresses and networks
   * (`10.1.0.0/16`, `fd00::7`), and origins (`http://127.0.0.1:8080`, with `*` any port). Only an origin with http allows http. `off` alone, in any case of letters:
   * nothing is sent. A name without a dot is refused, because `none`, `false` and the like are meant as another word for `off`.
   * @throws {BadTargets} if an entry has none of these forms
   */
  static from(setting: string | undefined, options: TargetOptions = {}): Targets {
    const allowed: Allowed = { names: new Set(), addresses: new Networks(), origins: new Set() }
    const isOff = setting?.trim().toLowerCase() === 'off'
    const entries = isOff ? [] : (setting ?? '').split(',').flatMap((text) => text.trim() || [])
    for (const entry of entries) addEntry(allowed, entry)
    return new Targets(isOff, allowed, options)
  }

  /**
   * Says what is wrong with the text of a URL; no name is looked up. A fragment is accepted, and never sent.
   * @returns undefined if nothing is
   */
  check(url: string): Refusal | undefined {
    if (this.isOff) return 'cannot be used: the operator has turned webhooks off'
    const parts = partsOf(url)
    if (typeof parts === 'string') return parts
    // All other ports may be used.
    if (refusedPorts.has(parts.port)) return 'has a port that is not for HTTP'
    if (this.#isTrusted(parts)) return undefined
    if (parts.protocol !== 'https:') return 'does not begin with https://'
    const mayBePublic = isIP(parts.host) === 0 ? this.#mayNameBePublic(parts.host) : this.#isAllowedAddress(parts.host)
    return mayBePublic ? undefined : 'has a host that is not a public name or address'
  }

  /**
   * Says whether a webhook may be created with a URL. A name that has no address now may get one: {@link resolve} decides at each delivery.
   * @returns undefined if it may
   */
  async refusalOf(url: string): Promise<Refusal | undefined> {
    const refusal = this.check(url)
    if (refusal !== undefined) return refusal
    const target = await this.resolve(url)
    return 'error' in target && target.error === 'address not allowed' ? 'has a host that is not a public name or address' : undefined
  }

  /**
   * Checks a URL again and looks up its name. A name with even one address that is not allowed is refused: which one of them a
   * connection uses could be chosen by whoever answers for the name.
   *
   * After 5 s nothing waits for the lookup any more.
   * @returns the address to connect to, the first that the resolver returned; it is not to be looked up again
   */
  async resolve(url: string, signal?: AbortSignal): Promise<ResolvedTarget | { readonly error: ResolutionError }> {
    if (this.check(url) !== undefined) return { error: 'address not allowed' }
    const parts = partsOf(url) as Parts
    const family = isIP(parts.host)
    if (family !== 0) return { address: parts.host, family: family as 4 | 6 }
    const addresses = await this.#addressesOf(parts, signal)
    if ('error' in addresses) return addresses
    const isAllowed = this.#isTrusted(parts) || addresses.every(({ address }) => this.#isAllowedAddress(address))
    const [first] = addresses
    if (first === undefined) return { error: 'name not found' }
    return isAllowed ? { address: first.address, family: isIP(first.address) as 4 | 6 } : { error: 'address not allowed' }
  }

  #addressesOf(parts: Parts, signal: AbortSignal | undefined): Promise<Awaited<ReturnType<Lookup>> | { readonly error: ResolutionError }> {
    return new Promise((resolve) => {
      const stop = limitTime({ milliseconds: LOOKUP_LIMIT, timers: this.#timers, signal }, (error) => resolve({ error }))
      this.#lookup(parts.host, this.#isTrusted(parts) || !mayBePublic(parts.host))
        .then(resolve, ({ code }: NodeJS.ErrnoException) =>
          resolve({ error: code === 'ENOTFOUND' ? 'name not found' : 'name lookup failed' }),
        )
        .finally(stop)
    })
  }

  /** Whether the operator allows this host by its text: its addresses do not matter. */
  #isTrusted({ protocol, host, port }: Parts): boolean {
    const { names, origins } = this.#allowed
    return (protocol === 'https:' && names.has(host)) || ([port, '*'] as const).some((one) => origins.has(originOf(protocol, host, one)))
  }

  #isAllowedAddress(address: string): boolean {
    return isPublicAddress(address) || this.#allowed.addresses.has(address)
  }

  /** A local name is not refused by its text where the operator allows addresses: one of these may be its. */
  #mayNameBePublic(name: string): boolean {
    return !this.#allowed.addresses.isEmpty || mayBePublic(name)
  }
}

function mayBePublic(name: string): boolean {
  return name.includes('.') && !LOCAL_NAME.test(name)
}

function partsOf(url: string): Parts | Refusal {
  if (url.length > limits.webhookUrl) return 'has more than 2,000 characters'
  // A URL parser drops line breaks, reads \ as / and adds what is missing: a person would read another host.
  if (/[\s\\\p{Cc}]/u.test(url) || !/^[a-z][a-z0-9+.-]*:/i.test(url)) return 'is not a URL like https://ci.example.com/hook'
  if (!/^https?:/i.test(url)) return 'does not begin with https://'
  const parsed = /^https?:\/\/[^/]/i.test(url) ? parse(url) : undefined
  if (parsed === undefined) return 'is not a URL like https://ci.example.com/hook'
  if (/^https?:\/\/[^/?#]*@/i.test(url)) return 'contains a user name or a password'
  const { protocol, hostname, port, href } = parsed
  if (href.length > limits.webhookUrl) return 'has more than 2,000 characters'
  const host = plainHost(hostname)
  if (isIP(host) === 0 && !NAME.test(host)) return 'is not a URL like https://ci.example.com/hook'
  return { protocol, host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) }
}

// URL.canParse of Node.js 20 refuses ü and other letters of Latin-1 after some thousand calls.
function parse(url: string): URL | undefined {
  try {
    return new URL(url)
  } catch {
    return undefined
  }
}

/** The host of a parsed URL, without the brackets of IPv6 and the full stop at the end of a name. */
function plainHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

function originOf(protocol: string, host: string, port: number | '*'): string {
  return `${protocol}//${host}:${port}`
}

function addEntry({ names, addresses, origins }: Allowed, entry: string): void {
  const [, address = '', prefix] = /^([\d.]+|[\da-f:.]*:[\da-f:.]*)(?:\/(\d{1,3}))?$/i.exec(entry) ?? []
  if (isIP(address) !== 0) {
    if (!addresses.add(address, Number(prefix ?? (isIP(address) === 4 ? 32 : 128)))) throw badEntry(entry)
    return
  }
  if (!entry.includes(':')) return void names.add(nameOf(entry))
  const [, origin, any] = /^(https?:\/\/[^/?#@*]+?)(:\*)?$/i.exec(entry) ?? []
  const parts = origin === undefined ? undefined : partsOf(origin)
  if (parts === undefined || typeof parts === 'string' || (any !== undefined && /:\d*$/.test(origin!))) throw badEntry(entry)
  origins.add(originOf(parts.protocol, parts.host, any === undefined ? parts.port : '*'))
}

/** @throws {BadTargets} it is not a host name with a dot; `010.1.0.0` and `0x7f.1` are addresses that are not written plainly */
function nameOf(entry: string): string {
  const parts = /^[^/?#@*:]+$/.test(entry) ? partsOf(`https://${entry}`) : undefined
  if (parts === undefined || typeof parts === 'string' || isIP(parts.host) !== 0 || !parts.host.includes('.')) throw badEntry(entry)
  return parts.host
}

// An entry that is not understood may be a URL with a password.
function badEntry(entry: string): BadTargets {
  const shown = entry.includes('@') ? 'an entry with @' : `"${entry}"`
  return new BadTargets(
    `${shown} is not a host name with a dot (ci.internal), an address or a network (10.1.0.0/16), or an origin (http://127.0.0.1:8080, https://ci). To turn webhooks off, write off alone; for public addresses only, leave the setting out`,
  )
}

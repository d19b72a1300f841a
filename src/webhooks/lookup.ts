import { lookup, Resolver } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'

/** Looks up all addresses of a name, in the order in which they are to be tried. @param isLocal whether only this network may know the name */
export type Lookup = (name: string, isLocal: boolean) => Promise<readonly { readonly address: string; readonly family: number }[]>

/**
 * Local names are looked up as every program of the machine does, `/etc/hosts` included. That takes one of two threads, which cannot be freed: names
 * of strangers, whose servers may never answer, are asked for by DNS alone.
 */
export const lookUp: Lookup = (name, isLocal) => (isLocal ? lookup(name, { all: true, verbatim: true }) : lookUpByDns(name))

/**
 * Asks for the addresses of a name by DNS.
 * @param resolver another one is for tests only
 */
export async function lookUpByDns(
  name: string,
  resolver: Pick<Resolver, 'resolve4' | 'resolve6'> = new Resolver({ timeout: 2000, tries: 2 }),
): ReturnType<Lookup> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const found = [addressesOf(v4, 4), addressesOf(v6, 6)]
  const all = (hasIpv4() ? found : found.toReversed()).flat()
  if (all.length > 0) return all
  throw [v4, v6].map(errorOf).find((error) => error !== undefined) ?? Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): { address: string; family: 4 | 6 }[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []
}

/** A name without addresses of a kind is none that cannot be looked up. */
function errorOf(answer: PromiseSettledResult<string[]>): NodeJS.ErrnoException | undefined {
  if (answer.status === 'fulfilled') return undefined
  const error = answer.reason as NodeJS.ErrnoException
  return error.code === 'ENODATA' || error.code === 'ENOTFOUND' ? undefined : error
}

/** Whether the machine reaches addresses of IPv4. */
function hasIpv4(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ family, internal }) => family === 'IPv4' && !internal))
}

import { lookup, Resolver } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { systemTimers, type Timers } from './time-limit.ts'

/**
 * How long the other kind of addresses is waited for when one kind is known, in milliseconds. Some servers of names drop questions about
 * IPv6: without this, their names would have no addresses at all. What is not known then is not connected to.
 */
const OTHER_KIND = 1000

/**
 * Looks up the addresses of a name, in the order in which they are to be tried.
 * @param isLocal whether only this network may know the name
 */
export type Lookup = (name: string, isLocal: boolean) => Promise<Addresses>
type Addresses = readonly { readonly address: string; readonly family: number }[]

/**
 * Local names are looked up as every program of the machine does, `/etc/hosts` included. That takes one of two threads, which cannot be
 * freed: names of strangers, whose servers may never answer, are asked for by DNS alone.
 */
export const lookUp: Lookup = (name, isLocal) => (isLocal ? lookUpLocally(name) : lookUpByDns(name))

/** What looks names up as programs of the machine do. */
type SystemLookup = (name: string, options: { readonly all: true; readonly family: 0 | 4; readonly verbatim: true }) => Promise<Addresses>

/**
 * Asks for the addresses of a name as every program of the machine does. That waits for both kinds, so if it takes long, v4 is asked for
 * alone.
 * @param system another one, and other timers, are for tests only
 */
export async function lookUpLocally(name: string, system: SystemLookup = lookup, timers: Timers = systemTimers): Promise<Addresses> {
  const both = system(name, { all: true, family: 0, verbatim: true })
  if (await isSettledIn(OTHER_KIND, both, timers)) return both
  return Promise.any([both, system(name, { all: true, family: 4, verbatim: true })]).catch(() => both)
}

/**
 * Asks for the addresses of a name by DNS.
 * @param resolver another one, and other timers, are for tests only
 */
export async function lookUpByDns(
  name: string,
  resolver: Pick<Resolver, 'resolve4' | 'resolve6'> = new Resolver({ timeout: 2000, tries: 2 }),
  timers: Timers = systemTimers,
): Promise<Addresses> {
  const answers: PromiseSettledResult<string[]>[] = []
  const asked = [resolver.resolve4(name), resolver.resolve6(name)].map(async (question, i) => {
    const [answer] = await Promise.allSettled([question])
    answers[i] = answer
    // Such an answer says nothing of the other kind, which is waited for.
    if (addressesOf(answer, 4).length === 0) throw new Error('no address')
  })
  await Promise.any(asked).catch(() => undefined)
  await isSettledIn(OTHER_KIND, Promise.allSettled(asked), timers)
  const [v4, v6] = answers
  const found = [addressesOf(v4, 4), addressesOf(v6, 6)]
  const all = (hasIpv4() ? found : found.toReversed()).flat()
  if (all.length > 0) return all
  throw [v4, v6].map(errorOf).find((error) => error !== undefined) ?? Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
}

/**
 * Waits for a promise.
 * @returns whether it is settled within a time in milliseconds
 */
function isSettledIn(milliseconds: number, promise: Promise<unknown>, timers: Timers): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = timers.setTimeout(() => resolve(false), milliseconds)
    const settle = (): void => (timers.clearTimeout(timer), resolve(true))
    promise.then(settle, settle)
  })
}

function addressesOf(answer: PromiseSettledResult<string[]> | undefined, family: 4 | 6): { address: string; family: 4 | 6 }[] {
  return answer?.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []
}

/** A name that has no addresses of one kind was still looked up successfully. */
function errorOf(answer: PromiseSettledResult<string[]> | undefined): NodeJS.ErrnoException | undefined {
  if (answer?.status !== 'rejected') return undefined
  const error = answer.reason as NodeJS.ErrnoException
  return error.code === 'ENODATA' || error.code === 'ENOTFOUND' ? undefined : error
}

/** Whether the machine reaches addresses of IPv4. */
function hasIpv4(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ family, internal }) => family === 'IPv4' && !internal))
}

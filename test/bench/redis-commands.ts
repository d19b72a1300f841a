import type { Redis } from 'ioredis'

/** What requests made Redis do, for one request. */
export interface Observed {
  /** commands that were sent */
  readonly commands: number
  /** commands that scripts called */
  readonly inner: number
  /** the names of the commands that were sent, in lower case */
  readonly names: readonly string[]
  /** the keys of the records of the last request */
  readonly records: readonly string[]
}

/** How much Redis was used, in microseconds. */
export interface RedisUse {
  /** CPU time of its process */
  readonly cpu: number
  /** time in commands */
  readonly execution: number
}

/** Marks the end of a request in the output of MONITOR. */
const END = 'the end of a request'
/** The key of a record of the service. */
const RECORD = /^lk:\{[^}]+\}:r:/

/** Observes the commands of requests with MONITOR, which reports also those that scripts call. */
export async function observeCommands(connection: Redis, requests: number, send: () => Promise<void>): Promise<Observed> {
  const monitor = await connection.monitor()
  const seen: { readonly args: readonly string[]; readonly inner: boolean }[] = []
  let reachEnd: () => void
  monitor.on('monitor', (_time: string, args: string[], source: string) =>
    args[1] === END ? reachEnd() : seen.push({ args, inner: source === 'lua' }),
  )
  let last = 0
  for (let i = 0; i < requests; i++) {
    last = seen.length
    const end = new Promise<void>((resolve) => (reachEnd = resolve))
    await send()
    await connection.echo(END)
    await end
  }
  monitor.disconnect()
  const outer = seen.filter(({ inner }) => !inner)
  return {
    commands: outer.length / requests,
    inner: (seen.length - outer.length) / requests,
    names: [...new Set(outer.map(({ args }) => args[0]!.toLowerCase()))],
    records: [...new Set(seen.slice(last).flatMap(({ args }) => args.filter((text) => RECORD.test(text))))],
  }
}

/** Copies records to plain keys. @returns these keys */
export async function copyRecords(connection: Redis, name: string, { records }: Observed): Promise<string[]> {
  const copies: string[] = []
  for (const [i, key] of records.entries()) {
    const text = await connection.get(key)
    // A record that is expected to be absent takes a lookup too.
    copies.push(`bench:${name.replaceAll(' ', '_')}:${i}`)
    if (text !== null) await connection.set(copies[i]!, text)
  }
  return copies
}

/** How much Redis is used meanwhile. @param names the commands whose time counts. That of a script includes what it calls. */
export async function useOf(connection: Redis, names: readonly string[], work: () => Promise<void>): Promise<RedisUse> {
  const before = await read(connection, names)
  await work()
  const after = await read(connection, names)
  return { cpu: after.cpu - before.cpu, execution: after.execution - before.execution }
}

/** A number that Redis tells about itself. */
export async function infoOf(connection: Redis, section: string, name: string): Promise<number> {
  return Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(await connection.info(section))![1])
}

/** The CPU time of a Redis so far, in microseconds. */
export async function cpuOf(connection: Redis): Promise<number> {
  return ((await infoOf(connection, 'cpu', 'used_cpu_user')) + (await infoOf(connection, 'cpu', 'used_cpu_sys'))) * 1_000_000
}

async function read(connection: Redis, names: readonly string[]): Promise<RedisUse> {
  const stats = await connection.info('commandstats')
  const microseconds = (name: string) => Number(new RegExp(`^cmdstat_${name}:calls=\\d+,usec=(\\d+)`, 'm').exec(stats)?.[1] ?? 0)
  return {
    cpu: await cpuOf(connection),
    execution: names.reduce((sum, name) => sum + microseconds(name), 0),
  }
}

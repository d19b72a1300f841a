import { EventEmitter } from 'node:events'
import { Cluster } from 'ioredis'
import { vi } from 'vitest'
import type { Connection } from '../../src/store/redis/client.ts'
import { Pool } from '../../src/store/redis/pool.ts'

/** The error of the client when a command has no reply in time. */
export const TIMEOUT = new Error('Command timed out')
/** The error of the client when the connection is lost before the reply. */
export const LOST = new Error('Connection is closed.')
/** Longer than any test takes, in milliseconds. */
export const LONG = 60_000

/** A client without a server. */
export class FakeClient extends EventEmitter {
  status: string
  readonly disconnect = vi.fn()
  readonly set = vi.fn(async () => 'OK')

  constructor(status = 'ready') {
    super()
    this.status = status
  }
}

interface FakeNode {
  readonly ping: () => Promise<string>
  readonly disconnect: () => void
}

/** A client of a cluster. It records in `events` when it has asked for the slots. */
export function fakeCluster(events: string[] = [], nodes: Readonly<Record<'all' | 'master', FakeNode[]>> = { all: [], master: [] }) {
  return Object.assign(Object.create(Cluster.prototype) as object, {
    status: 'ready',
    disconnect: vi.fn(),
    set: vi.fn(async () => 'OK'),
    nodes: (role: 'all' | 'master' = 'all') => nodes[role],
    refreshSlotsCache(done: () => void) {
      setImmediate(() => {
        events.push('refreshed')
        done()
      })
    },
  })
}

/** @param repeatReadsFor how long a read is repeated after its connection was lost, in milliseconds */
export function poolOf(clients: readonly object[], repeatReadsFor = LONG): Pool {
  return new Pool(clients as readonly Connection[], repeatReadsFor)
}

/** A command that fails. */
export const failing = (error: Error) => async (): Promise<never> => {
  throw error
}

/** A pool whose client has a reply to each command, by its name. It records the commands. @param replies an error is thrown */
export function answeringPool(replies: (name: string) => unknown): { readonly pool: Pool; readonly commands: unknown[][] } {
  const commands: unknown[][] = []
  const answer = async (name: string, values: readonly unknown[]): Promise<unknown> => {
    commands.push([name, ...values])
    const reply = replies(name)
    if (reply instanceof Error) throw reply
    return reply
  }
  const client = new Proxy(
    {},
    {
      get:
        (_client, name: string) =>
        (...values: unknown[]) =>
          answer(name, values),
    },
  )
  const run = async (command: (on: unknown) => Promise<unknown>): Promise<unknown> => command(client)
  return { pool: { run, runRead: run } as unknown as Pool, commands }
}

import { setTimeout as delay } from 'node:timers/promises'
import { StorageUnavailable, type Change } from '../port.ts'
import { COMMAND_TIMEOUT, type Replication, type Connection, sendAndWait } from './client.ts'
import type { EncodedChange } from './codec.ts'
import { CommandFailed, throwUnavailable, toUnavailable, type Pool } from './pool.ts'
import type { CommitRevisions } from './last-commits.ts'
import { COMMIT } from './scripts.ts'
import { Watchers } from '../watchers.ts'

/** How long the outcome of a commit is stored, in milliseconds: much longer than a client resends it. */
const MARKER_TTL = 60_000
/** The same for a commit that was resent: longer than TCP keeps the first attempt in its buffers. */
const RESENT_MARKER_TTL = 30 * 60_000
/** How long an unanswered commit is resent, in milliseconds. */
const RESEND_FOR = 2 * COMMAND_TIMEOUT
/** Replies to a commit: an earlier attempt has done it, or another lease is held. */
const [DONE, WAITING] = [1, 2] as const

/** Sends commits. */
export class CommitSender {
  readonly #pool: Pool
  readonly #replication: Replication | undefined

  /** @param replication undefined: a commit is acknowledged as soon as the master has it */
  constructor(pool: Pool, replication?: Replication) {
    this.#pool = pool
    this.#replication = replication
  }

  /**
   * Sends a commit, and resends it while no reply comes. The script detects a commit that is already applied, so it
   * is applied at most once. When Redis does not answer at all, or too few replicas have the commit, the outcome is unknown.
   * @returns the revisions of the partition
   */
  async send(key: string, change: EncodedChange): Promise<CommitRevisions | 'conflict'> {
    const deadline = performance.now() + RESEND_FOR
    let sent = false
    let resent = 0
    for (let attempt = 1; ; attempt++) {
      try {
        const revision = sent ? `${change.revision}.${++resent}` : change.revision
        const reply = await this.#attempt(key, change, revision)
        if (isDone(reply)) return { revision, previous: reply === DONE ? undefined : reply }
        if (reply !== WAITING) return 'conflict'
        // The leases of other processes follow each other without a break. The caller takes one too, after several conflicts.
        if (performance.now() > deadline && !sent) return 'conflict'
        if (performance.now() > deadline) throw new StorageUnavailable('another process kept its lease', { outcomeKnown: false })
        await waitForLease()
        attempt = 0
      } catch (error) {
        if (!(error instanceof CommandFailed)) throw error
        const { refused, unsent } = error
        // Redis refused this attempt (out of memory, a replica, loading …), so it changed nothing. An earlier attempt
        // may still be in progress.
        if (refused && !sent) throw toUnavailable(error)
        sent ||= !unsent
        if (performance.now() > deadline) throw new StorageUnavailable('Redis did not answer', { outcomeKnown: !sent, cause: error })
        await delay(Math.min(25 * 2 ** attempt, 400))
      }
    }
  }

  /**
   * Checks that Redis accepts writes and that enough replicas get them.
   * @param key is written, and expires
   * @throws {StorageUnavailable}
   */
  async probe(key: string): Promise<void> {
    const replicas = await this.#pool.probe(key, this.#replication).catch(throwUnavailable)
    this.#requireReplicas(replicas)
  }

  /** @param state the revision of the partition after the commit: the revision of the change, unless the commit is resent */
  async #attempt(key: string, { revision, line, lists, texts }: EncodedChange, state: string): Promise<unknown> {
    const isResent = state !== revision
    const [ttl, resent] = isResent ? ([RESENT_MARKER_TTL, '1'] as const) : ([MARKER_TTL, '0'] as const)
    const values = [revision, ttl, resent, state, isResent ? line.slice(0, -revision.length) + state : line, lists, ...texts] as const
    const replication = this.#replication
    if (replication === undefined) return this.#pool.run((client) => client.lkCommit(key, ...values), key.slice(0, -2))
    const [reply, replicas] = await this.#pool.run((client) => sendAndWait(client, ['eval', COMMIT, 1, key, ...values], replication))
    if (isDone(reply)) this.#requireReplicas(replicas)
    return reply
  }

  #requireReplicas(replicas: number): void {
    if (this.#replication === undefined || replicas >= this.#replication.replicas) return
    throw new StorageUnavailable(`${replicas} of ${this.#replication.replicas} replicas answered in time`, { outcomeKnown: false })
  }
}

/** Whether a reply to a commit says that it is done. A text is the revision of the partition before it. */
function isDone(reply: unknown): reply is string | typeof DONE {
  return typeof reply === 'string' || reply === DONE
}

/** Waits for the lease of another process: a few milliseconds, at random, so that no process is always the first. */
export async function waitForLease(): Promise<void> {
  await delay(1 + Math.random() * 4)
}

/** How long a channel stays subscribed after the last one who waits has left, in milliseconds: many wait again at once. */
const LINGER = 5000

/**
 * Tells of commits that append to an index, of this process and of others: commits publish to a channel for each index. The
 * connection for it is opened when it is first needed. Without it, only the commits of this process are noticed.
 */
export class CommitPubSub {
  readonly #open: () => Promise<Connection>
  readonly #prefix: string
  readonly #watchers = new Watchers()
  readonly #subscribed = new Set<string>()
  #client: Promise<Connection> | undefined
  #closed = false

  /** @param open connects a client that nothing else uses */
  constructor(open: () => Promise<Connection>, prefix: string) {
    this.#open = open
    this.#prefix = prefix
  }

  /** See `Store.watch`. */
  watch(partition: string, index: string, listener: () => void): () => void {
    const end = this.#watchers.watch(partition, index, listener)
    void this.#subscribe(partition, index)
    return () => {
      end()
      if (!this.#watchers.has(partition, index)) setTimeout(() => void this.#unsubscribe(partition, index), LINGER).unref()
    }
  }

  /** Tells of a commit of this process. */
  notify(partition: string, change: Change): void {
    for (const index of change.append?.keys() ?? [])
      if (!this.#subscribed.has(this.#channelOf(partition, index))) this.#watchers.notifyIndex(partition, index)
  }

  close(): void {
    this.#closed = true
    this.#client?.then((client) => client.disconnect()).catch(() => undefined)
  }

  async #subscribe(partition: string, index: string): Promise<void> {
    const channel = this.#channelOf(partition, index)
    if (this.#subscribed.has(channel) || this.#closed) return
    try {
      this.#client ??= this.#connect()
      const client = await this.#client
      await client.subscribe(channel)
      if (!this.#watchers.has(partition, index)) return
      this.#subscribed.add(channel)
      // A commit may have come before the subscription.
      this.#watchers.notifyIndex(partition, index)
    } catch {
      // Those who wait look by themselves from time to time. The next one tries again.
    }
  }

  async #unsubscribe(partition: string, index: string): Promise<void> {
    const channel = this.#channelOf(partition, index)
    if (this.#watchers.has(partition, index) || !this.#subscribed.delete(channel) || this.#closed) return
    await this.#client?.then((client) => client.unsubscribe(channel)).catch(() => undefined)
  }

  async #connect(): Promise<Connection> {
    try {
      const client = await this.#open()
      if (this.#closed) client.disconnect()
      client.on('message', (channel: string) => {
        const [, partition, index] = /\{(.*?)\}:w:(.*)$/s.exec(channel) ?? []
        if (partition !== undefined) this.#watchers.notifyIndex(partition, index!)
      })
      return client
    } catch (error) {
      this.#client = undefined
      throw error
    }
  }

  #channelOf(partition: string, index: string): string {
    return `${this.#prefix}:{${partition}}:w:${index}`
  }
}

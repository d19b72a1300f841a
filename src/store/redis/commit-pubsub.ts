import type { Change } from '../port.ts'
import { Watchers } from '../watchers.ts'
import type { Connection } from './client.ts'

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

import { setTimeout as delay } from 'node:timers/promises'
import { StorageUnavailable } from '../port.ts'
import { COMMAND_TIMEOUT, type Replication } from './client.ts'
import type { EncodedChange } from './codec.ts'
import { CommandFailed, throwUnavailable, toUnavailable, type Pool } from './pool.ts'
import { sendAndWait } from './replication.ts'
import { COMMIT } from './scripts.ts'

/** How long the outcome of a commit is stored, in milliseconds: much longer than a client resends it. */
const MARKER_TTL = 60_000
/** The same for a commit that was resent: longer than TCP keeps the first attempt in its buffers. */
const RESENT_MARKER_TTL = 30 * 60_000
/** How long an unanswered commit is resent, in milliseconds. */
const RESEND_FOR = 2 * COMMAND_TIMEOUT
/** Replies to a commit: it is done, or another lease is held. */
const [DONE, WAITING] = [1, 2]

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
   */
  async send(key: string, change: EncodedChange): Promise<'done' | 'conflict'> {
    const deadline = performance.now() + RESEND_FOR
    let sent = false
    for (let attempt = 1; ; attempt++) {
      try {
        const reply = await this.#attempt(key, change, sent)
        if (reply !== WAITING) return reply === DONE ? 'done' : 'conflict'
        // CommitLeases of other processes follow each other without a break. The caller takes one too, after several conflicts.
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

  async #attempt(key: string, { request, records }: EncodedChange, sent: boolean): Promise<unknown> {
    const [ttl, resent] = sent ? ([RESENT_MARKER_TTL, '1'] as const) : ([MARKER_TTL, '0'] as const)
    const replication = this.#replication
    if (replication === undefined) return this.#pool.run((client) => client.lkCommit(key, request, ttl, resent, ...records))
    const command = ['eval', COMMIT, 1, key, request, ttl, resent, ...records] as const
    const [reply, replicas] = await this.#pool.run((client) => sendAndWait(client, command, replication))
    if (reply === DONE) this.#requireReplicas(replicas)
    return reply
  }

  #requireReplicas(replicas: number): void {
    if (this.#replication === undefined || replicas >= this.#replication.replicas) return
    throw new StorageUnavailable(`${replicas} of ${this.#replication.replicas} replicas answered in time`, { outcomeKnown: false })
  }
}

/** Waits for the lease of another process: a few milliseconds, at random, so that no process is always the first. */
export async function waitForLease(): Promise<void> {
  await delay(1 + Math.random() * 4)
}

import { Readers } from '../authz/readers.ts'
import type { Sink } from '../http/decision-record.ts'
import type { Services } from '../http/services.ts'
import { durations } from '../model/durations.ts'
import type { RandomSource } from '../model/ids.ts'
import { tellByTime } from '../resources/notices/by-time.ts'
import { SERVICE } from '../store/derivation.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL } from '../store/keys.ts'
import { listAll, transact } from '../store/transact.ts'
import { Watch } from '../store/watch.ts'

interface ReminderDeps {
  readonly services: () => Services
  readonly random: RandomSource
}

/**
 * Looks in all workspaces for what time has caused: notices of cards that are due, tokens that end, cards that are stuck. A workspace where
 * something was done is looked at soon, and the others every hour. Several processes may look at once: their commits exclude each other.
 */
export class Reminders {
  readonly #deps: ReminderDeps
  readonly #stopping = new AbortController()
  readonly #watch = new Watch(this.#stopping.signal)
  /** workspace → when it is looked at next, in milliseconds since 1970 */
  readonly #next = new Map<string, number>()
  #loop: Promise<void> = Promise.resolve()

  constructor(deps: ReminderDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#loop = this.#run()
  }

  stop(): Promise<void> {
    this.#stopping.abort()
    return this.#loop
  }

  /** Notes that something was done in a workspace. */
  readonly observe: Sink = ({ workspaceId, effect }) => {
    if (workspaceId !== undefined && effect !== undefined) this.#next.delete(workspaceId)
  }

  /** Looks in the workspaces where it is time to. */
  async look(): Promise<void> {
    const { services, random } = this.#deps
    const { store, log, clock } = services()
    const workspaces = await listAll({ store, random }, GLOBAL, indexes.workspaces())
    for (const { id } of workspaces) {
      if (this.#stopping.signal.aborted) return
      const now = clock()
      const next = this.#next.get(id) ?? 0
      // A clock that steps back makes no workspace wait for longer.
      if (next > now && next <= now + durations.reminders.idle) continue
      this.#next.set(id, now + durations.reminders.idle)
      try {
        await store.hold(id, () => this.#tell(id))
      } catch (error) {
        // It may work the next time.
        this.#next.delete(id)
        log.warn({ event: 'notices.waiting', workspace_id: id, err: error }, 'notices that time causes are not told at present')
      }
    }
  }

  async #tell(workspaceId: string): Promise<void> {
    const { services, random } = this.#deps
    for (let more = true; more && !this.#stopping.signal.aborted;) {
      const { store, clock, engine } = services()
      more = await transact(store, workspaceId, random, (tx) => {
        const readers = new Readers(engine, workspaceId)
        tx.logChanges(SERVICE, clock, readers)
        return tellByTime(tx, clock, readers)
      })
    }
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.look().catch((error: unknown) => {
        const { log } = this.#deps.services()
        log.warn({ event: 'notices.waiting', err: error }, 'notices that time causes are not told at present')
      })
      await this.#watch.wait(durations.reminders.period)
    }
    this.#watch.end()
  }
}

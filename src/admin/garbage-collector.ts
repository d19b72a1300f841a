import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { andThen } from '../model/awaitable.ts'
import { durations } from '../model/durations.ts'
import { timestamp } from '../model/time.ts'
import type { Tombstone } from '../model/tombstone.ts'
import { decorateStore } from '../store/decorate.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL } from '../store/keys.ts'
import type { Change, Store } from '../store/port.ts'
import { listAll } from '../store/transact.ts'
import type { AdminDeps } from './deps.ts'
import { collectGarbage, endOfDue } from './garbage-collection.ts'

/**
 * Collects garbage in the background: in a workspace when a commit leaves some there, and in all workspaces at start and
 * every hour. The hourly collection finds what became due since, and what other processes left. Workspaces in which a folder
 * knows that nothing is due are not loaded. The others are visited one by one, and take half of the time of one processor at most.
 */
export class GarbageCollector {
  readonly #deps: AdminDeps
  readonly #log: Logger
  readonly #queue = new Set<string>()
  #running: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #stopping = new AbortController()

  constructor(deps: AdminDeps, log: Logger) {
    this.#deps = deps
    this.#log = log
  }

  /** Resolves when the collection of the start has ended. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.#scheduleAll(), durations.garbageCollection)
    this.#timer.unref()
    await this.#scheduleAll()
    await this.#running
  }

  /** Returns a store that schedules a collection after each commit that writes a tombstone which is due. */
  watch(store: Store): Store {
    return decorateStore(store, {
      commit: (partition, change) =>
        andThen(store.commit(partition, change), (outcome) => {
          if (outcome === 'done' && hasDueTombstone(change, timestamp(this.#deps.clock))) this.schedule(partition)
          return outcome
        }),
    })
  }

  /** Schedules a collection in a workspace. */
  schedule(workspaceId: string): void {
    if (this.#stopping.signal.aborted) return
    this.#queue.add(workspaceId)
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  /** Stops after the step that is running. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    clearInterval(this.#timer)
    this.#queue.clear()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    for (const workspaceId of this.#queue) {
      this.#queue.delete(workspaceId)
      const begin = performance.now()
      try {
        await this.#deps.store.hold(workspaceId, () => collectGarbage(this.#deps, workspaceId, () => signal.aborted))
      } catch (error) {
        // The next interval tries again.
        this.#log.warn({ workspace_id: workspaceId, err: error }, 'garbage collection failed')
      }
      // Many workspaces must not delay requests.
      if (this.#queue.size > 0) await delay(performance.now() - begin, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async #scheduleAll(): Promise<void> {
    try {
      const { store } = this.#deps
      const now = endOfDue(this.#deps)
      const workspaces = await listAll(this.#deps, GLOBAL, indexes.workspaces())
      // What people did outside of workspaces is removed too when it is old.
      for (const { id } of [...workspaces, { id: GLOBAL }]) if (store.mayHaveTombstoneBefore(id, now)) this.schedule(id)
    } catch (error) {
      this.#log.warn({ err: error }, 'garbage collection could not list the workspaces')
    }
  }
}

function hasDueTombstone({ put }: Change, now: string): boolean {
  for (const [key, value] of put) if (key.startsWith('tombstone:') && (value as unknown as Tombstone).not_before <= now) return true
  return false
}

import type { Logger } from 'pino'
import { durations } from '../model/durations.ts'
import { timestamp } from '../model/time.ts'
import type { Tombstone } from '../model/tombstone.ts'
import { decorateStore } from '../store/decorate.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL } from '../store/keys.ts'
import type { Change, Store } from '../store/port.ts'
import { listAll } from '../store/transact.ts'
import type { AdminDeps } from './deps.ts'
import { collectGarbage } from './garbage-collection.ts'

/**
 * Collects garbage in the background: in a workspace when a commit leaves some there, and in all workspaces at start and
 * every hour. The hourly collection finds what became due since, and what other processes left.
 */
export class GarbageCollector {
  readonly #deps: AdminDeps
  readonly #log: Logger
  readonly #queue = new Set<string>()
  #running: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(deps: AdminDeps, log: Logger) {
    this.#deps = deps
    this.#log = log
  }

  start(): void {
    this.#timer = setInterval(() => void this.#scheduleAll(), durations.garbageCollection)
    this.#timer.unref()
    void this.#scheduleAll()
  }

  /** Returns a store that schedules a collection after each commit that writes a tombstone which is due. */
  watch(store: Store): Store {
    return decorateStore(store, {
      commit: async (partition, change) => {
        const outcome = await store.commit(partition, change)
        if (outcome === 'done' && hasDueTombstone(change, timestamp(this.#deps.clock))) this.schedule(partition)
        return outcome
      },
    })
  }

  /** Schedules a collection in a workspace. */
  schedule(workspaceId: string): void {
    if (this.#stopped) return
    this.#queue.add(workspaceId)
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  /** Stops after the step that is running. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    this.#queue.clear()
    await this.#running
  }

  async #run(): Promise<void> {
    for (const workspaceId of this.#queue) {
      this.#queue.delete(workspaceId)
      try {
        await collectGarbage(this.#deps, workspaceId, () => this.#stopped)
      } catch (error) {
        // The next interval tries again.
        this.#log.warn({ workspace_id: workspaceId, err: error }, 'garbage collection failed')
      }
    }
  }

  async #scheduleAll(): Promise<void> {
    try {
      for (const { id } of await listAll(this.#deps, GLOBAL, indexes.workspaces())) this.schedule(id)
    } catch (error) {
      this.#log.warn({ err: error }, 'garbage collection could not list the workspaces')
    }
  }
}

function hasDueTombstone({ put }: Change, now: string): boolean {
  for (const [key, value] of put) if (key.startsWith('tombstone:') && (value as unknown as Tombstone).not_before <= now) return true
  return false
}

import type { Logger } from 'pino'
import { HOUR } from '../model/time.ts'
import { listAll } from '../store/list-all.ts'
import { GLOBAL } from '../store/keys.ts'
import { indexes } from '../store/indexes.ts'
import { collectGarbage } from './garbage-collection.ts'
import type { AdminDeps } from './deps.ts'

/** Every workspace is looked at this often, for what became due in the meantime: milliseconds. */
const ROUND = HOUR

/** Sweeps in the background: soon after something was deleted, and everywhere at start and every hour. */
export class GarbageCollector {
  readonly #tools: AdminDeps
  readonly #log: Logger
  readonly #waiting = new Set<string>()
  #running: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(tools: AdminDeps, log: Logger) {
    this.#tools = tools
    this.#log = log
  }

  start(): void {
    this.#timer = setInterval(() => void this.#everywhere(), ROUND)
    this.#timer.unref()
    void this.#everywhere()
  }

  /** Says that something was deleted in a workspace. */
  note(workspaceId: string): void {
    if (this.#stopped) return
    this.#waiting.add(workspaceId)
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  /** Ends what is being done, and does no more. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    this.#waiting.clear()
    await this.#running
  }

  async #run(): Promise<void> {
    for (const workspaceId of this.#waiting) {
      this.#waiting.delete(workspaceId)
      try {
        await collectGarbage(this.#tools, workspaceId, () => this.#stopped)
      } catch (error) {
        // What is left is found again in the next round.
        this.#log.warn({ workspace_id: workspaceId, err: error }, 'the sweep did not come to its end')
      }
    }
  }

  async #everywhere(): Promise<void> {
    try {
      for (const { id } of await listAll(this.#tools, GLOBAL, indexes.workspaces())) this.note(id)
    } catch (error) {
      this.#log.warn({ err: error }, 'the workspaces could not be listed for the sweep')
    }
  }
}

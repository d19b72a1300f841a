import type { Sink } from '../http/decision-record.ts'
import type { Services } from '../http/services.ts'
import type { RandomSource } from '../model/ids.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL } from '../store/keys.ts'
import { listAll } from '../store/transact.ts'
import { Watch } from '../store/watch.ts'

/** How often workspaces are visited, in milliseconds. */
interface Pace {
  /** the time between two rounds */
  readonly period: number
  /** the time between two visits of a workspace where nothing was done */
  readonly idle: number
  /** for so long after something was done in a workspace, each round visits it; 0: the next round does */
  readonly busy: number
}

/** What is logged when a visit fails. */
interface Failure {
  readonly event: string
  readonly message: string
}

export interface RoundsDeps {
  readonly services: () => Services
  readonly random: RandomSource
}

/**
 * Visits the workspaces again and again: those where something was done soon, and the others after a time. Several processes make their own
 * rounds, so a visit must bear that another process makes it, too.
 */
export abstract class WorkspaceRounds {
  readonly #deps: RoundsDeps
  readonly #pace: Pace
  readonly #failure: Failure
  readonly #stopping = new AbortController()
  readonly #watch = new Watch(this.#stopping.signal)
  /** workspaces where something was done since the last round */
  readonly #touched = new Set<string>()
  /** workspace → when a round has found that something was done in it, and when it was visited, in milliseconds since 1970 */
  readonly #done = new Map<string, number>()
  readonly #visited = new Map<string, number>()
  #loop: Promise<void> = Promise.resolve()

  constructor(deps: RoundsDeps, pace: Pace, failure: Failure) {
    this.#deps = deps
    this.#pace = pace
    this.#failure = failure
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
    if (workspaceId !== undefined && effect !== undefined) this.#touched.add(workspaceId)
  }

  /** Makes one round. */
  async look(): Promise<void> {
    const { services, random } = this.#deps
    const { store, clock } = services()
    for (const { id } of await listAll({ store, random }, GLOBAL, indexes.workspaces())) {
      if (this.isStopping) return
      const now = clock()
      if (!this.#isDue(id, now)) continue
      this.#visited.set(id, now)
      try {
        await this.visit(id)
      } catch (error) {
        // It may work the next time.
        this.#visited.delete(id)
        this.#warn(error, id)
      }
    }
  }

  protected get isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  protected abstract visit(workspaceId: string): Promise<void>

  #isDue(workspaceId: string, now: number): boolean {
    const { idle, busy } = this.#pace
    if (this.#touched.delete(workspaceId)) {
      this.#done.set(workspaceId, now)
      return true
    }
    const [done, visited] = [this.#done.get(workspaceId), this.#visited.get(workspaceId)]
    if (visited === undefined || (done !== undefined && now - done < busy)) return true
    // A clock that steps back makes no workspace wait for longer.
    return now < visited || now - visited >= idle
  }

  async #run(): Promise<void> {
    while (!this.isStopping) {
      await this.look().catch((error: unknown) => this.#warn(error))
      await this.#watch.wait(this.#pace.period)
    }
    this.#watch.end()
  }

  #warn(error: unknown, workspaceId?: string): void {
    const { event, message } = this.#failure
    this.#deps.services().log.warn({ event, workspace_id: workspaceId, err: error }, message)
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import type { Sink } from '../http/decision-record.ts'
import { indexes, lastWord } from '../store/indexes.ts'
import { GLOBAL } from '../store/keys.ts'
import { listAll, transact } from '../store/transact.ts'
import { Watch } from '../store/watch.ts'
import { Attempts, type DeliveryCounts, type DeliveryDeps } from './attempts.ts'
import { Follower } from './follower.ts'
import { Lease } from './lease.ts'

/** How often a process asks for the lease, and looks for webhooks, in milliseconds. */
const PERIOD = 2_000
/** How long deliveries that are under way may take when the process ends, or another one delivers, in milliseconds. */
const GRACE = 800

/** A follower, and what ends it. */
interface Running {
  /** the entry of the webhook in its index: another one after it was enabled anew */
  entry: string
  readonly follower: Follower
  readonly stop: AbortController
  readonly cut: AbortController
  readonly ended: Promise<void>
}

/** Tells the deliverer of a request that has changed a webhook. Before the commit it would be too early. */
export function webhookObserver(deliverer: Pick<Deliverer, 'lookAgain'>): Sink {
  return ({ operation, status, created, resource }) => {
    if (operation !== undefined && CHANGING.has(operation) && status < 300) deliverer.lookAgain(created ?? resource)
  }
}

/** Operations that may leave something to deliver at once, or nothing any more. */
const CHANGING: ReadonlySet<string> = new Set(['webhooks.create', 'webhooks.update', 'webhooks.delete'])

/** Delivers the webhooks of all workspaces, in one of the processes that serve a storage: the one with the {@link Lease}. */
export class Deliverer {
  readonly attempts: Attempts
  readonly #isOff: boolean
  readonly #lease: Lease
  readonly #running = new Map<string, Running>()
  readonly #stopping = new AbortController()
  readonly #watch = new Watch(this.#stopping.signal)
  #loop: Promise<void> = Promise.resolve()
  #stopped: Promise<void> | undefined

  constructor(deps: DeliveryDeps) {
    this.attempts = new Attempts(deps)
    this.#isOff = deps.targets.isOff
    this.#lease = new Lease(deps)
  }

  /** Begins to deliver, unless the operator has turned it off. */
  start(): void {
    if (!this.#isOff) this.#loop = this.#run()
  }

  /** Looks for webhooks now, and whether one of them has changed. */
  lookAgain(webhookId?: string): void {
    this.#watch.hint()
    if (webhookId !== undefined) this.#running.get(webhookId)?.follower.lookAgain()
  }

  /** What the metrics show. */
  get counts(): DeliveryCounts & { readonly waiting: number } {
    const { clock } = this.attempts.services()
    const since = [...this.#running.values()].flatMap(({ follower }) => follower.waitingSince ?? [])
    const oldest = since.length === 0 ? clock() : Math.min(...since.map((at) => Date.parse(at)))
    return { ...this.attempts.counts, waiting: Math.max(0, clock() - oldest) / 1000 }
  }

  /** Ends what is under way, and gives up the lease. A delivery that has no answer yet is repeated after the next start. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop())
  }

  async #stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
    await this.#endFollowers()
    await this.#lease.release().catch(() => undefined)
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#look()
      } catch (error) {
        // The storage may be reachable again the next time.
        this.#warn(error, 'webhooks are not looked for at present')
      }
      await this.#watch.wait(PERIOD)
    }
  }

  async #look(): Promise<void> {
    const { services, random } = this.attempts
    const { store } = services()
    const workspaces = await listAll({ store, random }, GLOBAL, indexes.webhookWorkspaces())
    // Without webhooks, nothing is written.
    if (workspaces.length === 0) return
    if (!(await this.#lease.take())) return this.#endFollowers()
    const found = new Set<string>()
    for (const { id: workspaceId } of workspaces) {
      for (const entry of await this.#followingOf(workspaceId)) {
        this.#follow(workspaceId, entry)
        found.add(lastWord(entry))
      }
    }
    // They were deleted or disabled.
    for (const [id, { follower }] of this.#running) if (!found.has(id)) follower.lookAgain()
  }

  /** The entries of the webhooks of a workspace. One that cannot be read, such as a damaged one, delays no other. */
  async #followingOf(workspaceId: string): Promise<readonly string[]> {
    const { services, random } = this.attempts
    const range = { weak: true, entriesOnly: true } as const
    try {
      return (await transact(services().store, workspaceId, random, (tx) => tx.all(indexes.followingWebhooks(), range))).entries
    } catch (error) {
      this.#warn(error, `the webhooks of ${workspaceId} are not looked for at present`)
      return []
    }
  }

  /** Begins to follow, or tells the follower what another process has changed: until its next attempt, it does not look by itself. */
  #follow(workspaceId: string, entry: string): void {
    const id = lastWord(entry)
    const running = this.#running.get(id)
    if (running === undefined) return this.#begin(workspaceId, id, entry)
    if (running.entry === entry) return
    running.entry = entry
    running.follower.lookAgain()
  }

  #begin(workspaceId: string, id: string, entry: string): void {
    const [stop, cut] = [new AbortController(), new AbortController()]
    const follower = new Follower(workspaceId, id, this.attempts, { stop: stop.signal, cut: cut.signal })
    const ended = follower
      .run()
      .catch((error: unknown) => this.#warn(error, 'a webhook is tried again', id))
      .finally(() => this.#running.delete(id))
    this.#running.set(id, { entry, follower, stop, cut, ended })
  }

  async #endFollowers(): Promise<void> {
    const all = [...this.#running.values()]
    if (all.length === 0) return
    for (const { stop } of all) stop.abort()
    const ended = Promise.all(all.map((one) => one.ended))
    const grace = new AbortController()
    await Promise.race([ended, delay(GRACE, undefined, { signal: grace.signal }).catch(() => undefined)])
    grace.abort()
    for (const { cut } of all) cut.abort()
    await ended
  }

  #warn(error: unknown, message: string, webhookId?: string): void {
    this.attempts.services().log.warn({ err: error, event: 'webhooks.waiting', webhook_id: webhookId }, message)
  }
}

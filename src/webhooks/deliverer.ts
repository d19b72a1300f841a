import { sha256Hex } from '../auth/secrets.ts'
import { timestamp } from '../model/time.ts'
import { indexes, lastWord } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { Attempts, type DeliveryDeps } from './attempts.ts'
import { Follower } from './follower.ts'

/** How often a process asks for the lease, and looks for webhooks, in milliseconds. */
const PERIOD = 2_000
/** How long the lease lasts without being renewed, in milliseconds: for so long nobody delivers after a process was killed. */
const LEASE = 8_000

/**
 * Delivers the webhooks of all workspaces. Of the processes that serve one storage, one delivers: it has a lease, which passes on within seconds
 * when the process ends. If two deliver for a moment, a receiver gets the same delivery twice, with the same id.
 */
export class Deliverer {
  readonly #attempts: Attempts
  readonly #holder: string
  readonly #followers = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>()
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #wake: (() => void) | undefined

  constructor(deps: DeliveryDeps) {
    this.#attempts = new Attempts(deps)
    this.#holder = sha256Hex(Buffer.from(deps.random(32)).toString('hex'))
  }

  get attempts(): Attempts {
    return this.#attempts
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Looks for webhooks now: one was created or enabled in this process. */
  lookAgain(): void {
    this.#wake?.()
  }

  /** Ends what is under way, and gives up the lease. A delivery that has no answer yet is repeated after the next start. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.#wake?.()
    await this.#running
    await this.#endFollowers()
    await this.#release().catch(() => undefined)
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const { log } = this.#attempts.services()
      try {
        if (await this.#takeLease()) await this.#follow()
        else await this.#endFollowers()
      } catch (error) {
        // The storage may be reachable again the next time.
        log.warn({ err: error, event: 'webhooks.waiting' }, 'webhooks are not looked for at present')
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, PERIOD)
        this.#wake = () => (clearTimeout(timer), resolve())
        if (this.#stop.signal.aborted) this.#wake()
      })
    }
  }

  /** @returns whether this process delivers */
  #takeLease(): Promise<boolean> {
    const { services, random } = this.#attempts
    const { store, clock } = services()
    return transact(store, GLOBAL, random, async (tx) => {
      const lease = await tx.get(keys.deliveryLease())
      const now = clock()
      if (lease !== undefined && lease.holder !== this.#holder && now < Date.parse(lease.until)) return false
      tx.put(keys.deliveryLease(), { holder: this.#holder, until: timestamp(() => now + LEASE) })
      return true
    })
  }

  #release(): Promise<void> {
    const { services, random } = this.#attempts
    return transact(services().store, GLOBAL, random, async (tx) => {
      if ((await tx.get(keys.deliveryLease()))?.holder === this.#holder) tx.remove(keys.deliveryLease())
    })
  }

  /** Begins to follow the webhooks that nobody follows yet. */
  async #follow(): Promise<void> {
    const { services, random } = this.#attempts
    const { store } = services()
    const workspaces = await transact(store, GLOBAL, random, (tx) => tx.all(indexes.webhookWorkspaces(), { weak: true, entriesOnly: true }))
    for (const workspaceId of workspaces.entries) {
      const following = await transact(store, workspaceId, random, (tx) =>
        tx.all(indexes.followingWebhooks(), { weak: true, entriesOnly: true }),
      )
      for (const id of following.entries.map(lastWord)) if (!this.#followers.has(id)) this.#begin(workspaceId, id)
    }
  }

  #begin(workspaceId: string, id: string): void {
    const stop = new AbortController()
    const follower = new Follower(workspaceId, id, this.#attempts, stop.signal)
    const ended = follower
      .run()
      .catch((error: unknown) =>
        this.#attempts.services().log.warn({ err: error, event: 'webhooks.waiting', webhook_id: id }, 'a webhook is tried again'),
      )
      .finally(() => this.#followers.delete(id))
    this.#followers.set(id, { stop, ended })
  }

  async #endFollowers(): Promise<void> {
    const all = [...this.#followers.values()]
    for (const { stop } of all) stop.abort()
    await Promise.all(all.map(({ ended }) => ended))
  }
}

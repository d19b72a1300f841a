import { LRUCache } from 'lru-cache'
import { MINUTE } from '../model/time.ts'
import { UNIT_BYTES } from './cost.ts'
import type { RateQuotas } from './quotas.ts'

/** The cost of an attempt at a delivery, in units: it takes about two milliseconds and stores about 20 KB. */
const ATTEMPT = 2
/** How much may be used at once after a time without deliveries: the units of so many milliseconds. */
const BURST = 10_000
/** How many people and workspaces are remembered. */
const MAX_KEYS = 50_000

/** When an attempt may begin. */
export interface Reservation {
  /** the milliseconds until then; 0: it may begin */
  readonly wait: number
}

/**
 * What the deliveries of webhooks may cost: a person's as much as the requests of a token, a workspace's as much as its requests. It is a
 * budget of its own, and nothing is refused: deliveries are delayed, and a delayed one has more changes. Each attempt has a time of its
 * own, so those that wait need not look again and again.
 */
export class DeliveryBudget {
  readonly #elapsed: () => number
  /** milliseconds for each unit: of a person, and of a workspace */
  readonly #perUnit: readonly [number, number]
  /** when everything that was reserved is paid */
  readonly #paidAt = new LRUCache<string, number>({ maxSize: MAX_KEYS, sizeCalculation: () => 1 })

  /** @param elapsed milliseconds that never go back; another one is for tests only */
  constructor({ token, workspace }: Pick<RateQuotas, 'token' | 'workspace'>, elapsed = (): number => performance.now()) {
    this.#elapsed = elapsed
    this.#perUnit = [MINUTE / token, MINUTE / workspace]
  }

  /** Reserves the units of an attempt at a delivery of a person's webhook. */
  reserve(workspaceId: string, userId: string): Reservation {
    return new Reserved(this.#use(workspaceId, userId, ATTEMPT), this.#elapsed)
  }

  /** Counts the size of an attempt, in bytes: the next ones are delayed. */
  charge(workspaceId: string, userId: string, bytes: number): void {
    this.#use(workspaceId, userId, Math.floor(bytes / UNIT_BYTES))
  }

  /** @returns when what was used before is paid */
  #use(workspaceId: string, userId: string, units: number): number {
    const now = this.#elapsed()
    const begins = [`${workspaceId} ${userId}`, workspaceId].map((key, i) => {
      const paidAt = this.#paidAt.get(key) ?? 0
      this.#paidAt.set(key, Math.max(paidAt, now) + units * this.#perUnit[i]!)
      return paidAt - BURST
    })
    return Math.max(...begins)
  }
}

class Reserved implements Reservation {
  readonly #at: number
  readonly #elapsed: () => number

  constructor(at: number, elapsed: () => number) {
    this.#at = at
    this.#elapsed = elapsed
  }

  get wait(): number {
    return Math.max(0, this.#at - this.#elapsed())
  }
}

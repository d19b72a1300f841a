import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../model/errors.ts'

/** What is examined at once, in characters: it takes about half a millisecond. */
const SLICE = 128 * 1024
/** The pause between two slices, in milliseconds. */
const PAUSE = 1
/** How long a stint works between two pauses, in milliseconds. */
const STEP = 1
/** The longest pause of a stint, in pauses: a step may have waited for storage, while others had their time. */
const LONGEST = 8

/** A scan that examines many records. */
export interface Scan {
  /**
   * Reports what is examined next.
   * @param characters its size
   * @returns a promise to wait for before; undefined if the scan may go on
   * @throws {ApiError} `request_timeout` when the client has left
   */
  examine(characters: number): Promise<void> | undefined
  /** Ends the scan. The next one of the same user begins. */
  end(): void
}

/** Work that consists of many steps. */
export interface Stint {
  /**
   * Is called between two steps.
   * @returns a promise to wait for before the next one; undefined if it may follow at once
   * @throws {ApiError} `request_timeout`, as a rejection, when the client has left
   */
  next(): Promise<void> | undefined
}

/** Whose work it is. */
export interface Client {
  readonly workspaceId: string
  /** whether it has a lease, in which others wait for it: it then waits for nobody, and makes no pause */
  readonly hasLease: boolean
  /** aborted when the client leaves */
  readonly signal: AbortSignal
}

/** Who scans. */
export interface Scanner extends Client {
  readonly userId: string
  /** called for each slice of the scan */
  readonly onSlice?: () => void
}

/** Someone who waits for slices. */
interface Waiting {
  readonly grant: () => void
  readonly count: number
}

/**
 * Shares the process between scans and all other requests. One scan at a time examines one slice, and then there is a pause. The
 * workspaces alternate, and each user has one scan at a time in a workspace: a long search delays the requests of others by less
 * than a millisecond each time, however many wait.
 */
export class Scheduler {
  readonly #slice: number
  readonly #afterPause: (work: () => void, pauses: number) => unknown
  readonly #nextTurn: () => Promise<void>
  readonly #now: () => number
  /** for each user who scans, their scans that wait until it has ended */
  readonly #queues = new Map<string, Set<() => void>>()
  #isPausing = false
  /** for each workspace, those who wait for slices; the next one has the first place */
  readonly #waiting = new Map<string, Set<Waiting>>()

  /**
   * @param afterPause calls a function after the pauses that follow a number of slices
   * @param nextTurn resolves in the next turn of the event loop
   * @param now a monotonic clock, in milliseconds
   */
  constructor({
    slice = SLICE,
    afterPause = (work: () => void, pauses: number): unknown => setTimeout(work, pauses * PAUSE),
    nextTurn = (): Promise<void> => setImmediate(),
    now = (): number => performance.now(),
  } = {}) {
    this.#slice = slice
    this.#afterPause = afterPause
    this.#nextTurn = nextTurn
    this.#now = now
  }

  /**
   * Waits until the scan may begin.
   * @throws {ApiError} `request_timeout` when the client leaves before
   */
  async begin(scanner: Scanner): Promise<Scan> {
    const { workspaceId, userId, hasLease, onSlice, signal } = scanner
    const user = `${workspaceId} ${userId}`
    requireClient(signal)
    // A scan that has waited begins with a new slice: otherwise many short ones would follow each other without a pause.
    if (!hasLease && (await this.#enter(user, signal))) await this.#sliceOrLeave(scanner, user)
    let left = this.#slice
    let hasEnded = false
    return {
      examine: (characters) => {
        requireClient(signal)
        left -= characters
        if (left >= 0) return undefined
        left = this.#slice - characters
        onSlice?.()
        return this.slice(scanner)
      },
      end: () => {
        if (!hasEnded && !hasLease) this.#leave(user)
        hasEnded = true
      },
    }
  }

  /**
   * Waits for slices.
   * @param count the pause after them is as much longer
   * @throws {ApiError} `request_timeout` when the client leaves before
   */
  async slice({ workspaceId, hasLease, signal }: Client, count = 1): Promise<void> {
    await (hasLease ? this.#nextTurn() : this.#nextSlice(workspaceId, signal, count))
    requireClient(signal)
  }

  /** Begins work in steps of which nobody knows how long they take. It makes pauses by the clock, as long as what it has done since the last one. */
  stint(client: Client): Stint {
    let began = this.#now()
    return {
      next: () => {
        const steps = Math.floor((this.#now() - began) / STEP)
        if (steps < 1) return undefined
        return this.slice(client, Math.min(steps, LONGEST)).then(() => void (began = this.#now()))
      },
    }
  }

  /** The first slice of a scan whose turn it is. */
  async #sliceOrLeave(client: Client, user: string): Promise<void> {
    try {
      await this.slice(client)
    } catch (error) {
      this.#leave(user)
      throw error
    }
  }

  /** @returns whether it had to wait */
  async #enter(user: string, signal: AbortSignal): Promise<boolean> {
    const queue = this.#queues.get(user)
    if (queue === undefined) {
      this.#queues.set(user, new Set())
      return false
    }
    await placeIn(queue, signal, (enter) => enter)
    return true
  }

  #leave(user: string): void {
    const queue = this.#queues.get(user)!
    const [next] = queue
    if (next === undefined) return void this.#queues.delete(user)
    queue.delete(next)
    next()
  }

  #nextSlice(workspaceId: string, signal: AbortSignal, count: number): Promise<void> {
    if (!this.#isPausing) this.#pause(1)
    const queue = this.#waiting.get(workspaceId) ?? new Set()
    this.#waiting.set(workspaceId, queue)
    return placeIn(queue, signal, (grant) => ({ grant, count }))
  }

  #pause(slices: number): void {
    this.#isPausing = true
    this.#afterPause(this.#grantSlice, slices)
  }

  readonly #grantSlice = (): void => {
    this.#isPausing = false
    // All clients of a workspace may have left.
    for (const [workspaceId, { size }] of this.#waiting) if (size === 0) this.#waiting.delete(workspaceId)
    const [first] = this.#waiting
    if (first === undefined) return
    const [workspaceId, queue] = first
    const [next] = queue
    queue.delete(next!)
    // The workspace takes the last place.
    this.#waiting.delete(workspaceId)
    if (queue.size > 0) this.#waiting.set(workspaceId, queue)
    const { grant, count } = next!
    // Also if nobody waits now: who comes next waits until this work is paid for.
    if (this.#waiting.size > 0 || count > 1) this.#pause(count)
    grant()
  }
}

/**
 * Waits in a queue, which loses the place when the client leaves.
 * @param placeOf makes the place of the function that ends the waiting
 * @throws {ApiError} `request_timeout` when the client leaves before
 */
export function placeIn<Place>(queue: Set<Place>, signal: AbortSignal, placeOf: (grant: () => void) => Place): Promise<void> {
  return new Promise((resolve, reject) => {
    requireClient(signal)
    const place = placeOf(() => {
      signal.removeEventListener('abort', giveUp)
      resolve()
    })
    const giveUp = (): void => {
      queue.delete(place)
      reject(clientHasLeft())
    }
    queue.add(place)
    signal.addEventListener('abort', giveUp, { once: true })
  })
}

function requireClient(signal: AbortSignal): void {
  if (signal.aborted) throw clientHasLeft()
}

/** The response will not be read. */
function clientHasLeft(): ApiError {
  return new ApiError('request_timeout')
}

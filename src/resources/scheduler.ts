import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../model/errors.ts'

/** What is examined at once, in characters: it takes about half a millisecond. */
const SLICE = 128 * 1024
/** The pause between two slices, in milliseconds. */
const PAUSE = 1

/** A scan that examines many records. */
export interface Scan {
  /**
   * Reports what is examined next.
   * @param characters its size
   * @releases a promise to wait for before; undefined if the scan may go on
   * @throws {ApiError} `request_timeout` when the client has left
   */
  examine(characters: number): Promise<void> | undefined
  /** Ends the scan. The next one of the same user begins. */
  end(): void
}

/** Who scans. */
export interface Scanner {
  readonly workspaceId: string
  readonly userId: string
  /** whether it has a lease, in which others wait for it: it then waits for no other scan, and makes no pause */
  readonly hasLease: boolean
  /** aborted when the client leaves */
  readonly signal: AbortSignal
}

/**
 * Shares the process between scans and all other requests. One scan at a time examines one slice, and then there is a pause. The
 * workspaces alternate, and each user has one scan at a time in a workspace: a long search delays the requests of others by less
 * than a millisecond each time, however many wait.
 */
export class Scheduler {
  readonly #slice: number
  readonly #afterPause: (work: () => void) => unknown
  readonly #nextTurn: () => Promise<void>
  /** for each user who scans, their scans that wait until it has ended */
  readonly #queues = new Map<string, Set<() => void>>()
  /** for each workspace, those who wait for a slice; the next one has the first place */
  readonly #waiting = new Map<string, (() => void)[]>()

  /**
   * @param afterPause calls a function after the pause between two slices
   * @param nextTurn resolves in the next turn of the event loop
   */
  constructor({
    slice = SLICE,
    afterPause = (work: () => void): unknown => setTimeout(work, PAUSE),
    nextTurn = (): Promise<void> => setImmediate(),
  } = {}) {
    this.#slice = slice
    this.#afterPause = afterPause
    this.#nextTurn = nextTurn
  }

  /**
   * Waits until the scan may begin.
   * @throws {ApiError} `request_timeout` when the client leaves before
   */
  async begin({ workspaceId, userId, hasLease, signal }: Scanner): Promise<Scan> {
    const user = `${workspaceId} ${userId}`
    requireClient(signal)
    // A scan that has waited begins with a new slice: otherwise many short ones would follow each other without a pause.
    if (!hasLease && (await this.#enter(user, signal))) await this.#nextSlice(workspaceId)
    let left = this.#slice
    let hasEnded = false
    return {
      examine: (characters) => {
        requireClient(signal)
        left -= characters
        if (left >= 0) return undefined
        left = this.#slice - characters
        return (hasLease ? this.#nextTurn() : this.#nextSlice(workspaceId)).then(() => requireClient(signal))
      },
      end: () => {
        if (!hasEnded && !hasLease) this.#leave(user)
        hasEnded = true
      },
    }
  }

  /** Waits for a slice, for work of another kind that takes long. */
  slice(workspaceId: string): Promise<void> {
    return this.#nextSlice(workspaceId)
  }

  /** @releases whether it had to wait */
  async #enter(user: string, signal: AbortSignal): Promise<boolean> {
    const queue = this.#queues.get(user)
    if (queue === undefined) {
      this.#queues.set(user, new Set())
      return false
    }
    await new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = (): void => {
        queue.delete(enter)
        reject(clientHasLeft())
      }
      queue.add(enter)
      signal.addEventListener('abort', giveUp, { once: true })
    })
    return true
  }

  #leave(user: string): void {
    const queue = this.#queues.get(user)!
    const [next] = queue
    if (next === undefined) return void this.#queues.delete(user)
    queue.delete(next)
    next()
  }

  #nextSlice(workspaceId: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.size === 0) this.#afterPause(this.#grantSlice)
      const queue = this.#waiting.get(workspaceId)
      if (queue === undefined) this.#waiting.set(workspaceId, [resolve])
      else queue.push(resolve)
    })
  }

  readonly #grantSlice = (): void => {
    const [[workspaceId, queue]] = this.#waiting as unknown as [[string, (() => void)[]]]
    const grant = queue.shift()!
    // The workspace takes the last place.
    this.#waiting.delete(workspaceId)
    if (queue.length > 0) this.#waiting.set(workspaceId, queue)
    if (this.#waiting.size > 0) this.#afterPause(this.#grantSlice)
    grant()
  }
}

function requireClient(signal: AbortSignal): void {
  if (signal.aborted) throw clientHasLeft()
}

/** The response will not be read. */
function clientHasLeft(): ApiError {
  return new ApiError('request_timeout')
}

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
   * @returns a promise to wait for before; undefined if the scan may go on
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
  /** called for each slice of the scan */
  readonly onSlice?: () => void
  /** aborted when the client leaves */
  readonly signal: AbortSignal
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
  /** for each user who scans, their scans that wait until it has ended */
  readonly #queues = new Map<string, Set<() => void>>()
  #isPausing = false
  /** for each workspace, those who wait for slices; the next one has the first place */
  readonly #waiting = new Map<string, Waiting[]>()

  /**
   * @param afterPause calls a function after the pauses that follow a number of slices
   * @param nextTurn resolves in the next turn of the event loop
   */
  constructor({
    slice = SLICE,
    afterPause = (work: () => void, pauses: number): unknown => setTimeout(work, pauses * PAUSE),
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
  async begin({ workspaceId, userId, hasLease, onSlice, signal }: Scanner): Promise<Scan> {
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
        onSlice?.()
        return (hasLease ? this.#nextTurn() : this.#nextSlice(workspaceId)).then(() => requireClient(signal))
      },
      end: () => {
        if (!hasEnded && !hasLease) this.#leave(user)
        hasEnded = true
      },
    }
  }

  /** Waits for slices, for work of another kind that takes long. @param count the pause after them is as much longer */
  slice(workspaceId: string, count = 1): Promise<void> {
    return this.#nextSlice(workspaceId, count)
  }

  /** @returns whether it had to wait */
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

  #nextSlice(workspaceId: string, count = 1): Promise<void> {
    return new Promise((grant) => {
      if (!this.#isPausing) this.#pause(1)
      const queue = this.#waiting.get(workspaceId)
      if (queue === undefined) this.#waiting.set(workspaceId, [{ grant, count }])
      else queue.push({ grant, count })
    })
  }

  #pause(slices: number): void {
    this.#isPausing = true
    this.#afterPause(this.#grantSlice, slices)
  }

  readonly #grantSlice = (): void => {
    this.#isPausing = false
    const [first] = this.#waiting
    if (first === undefined) return
    const [workspaceId, queue] = first
    const { grant, count } = queue.shift()!
    // The workspace takes the last place.
    this.#waiting.delete(workspaceId)
    if (queue.length > 0) this.#waiting.set(workspaceId, queue)
    // Also if nobody waits now: who comes next waits until this work is paid for.
    if (this.#waiting.size > 0 || count > 1) this.#pause(count)
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

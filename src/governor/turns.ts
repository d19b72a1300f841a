import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../model/errors.ts'

/** The clock of the process, also where a test controls the time of the code under test. */
const later = globalThis.setTimeout
/** How long a request works before it asks whether others wait, in milliseconds. */
const SLICE = 1
/** The longest pause, in milliseconds: a request may have waited for storage, while others had their time. */
const LONGEST = 24
/** How much time others have for each millisecond of such work. */
const OTHERS = 3

/**
 * Time for work in many short pieces: all of them together have a fourth of the time without a turn.
 * Then each one waits for a turn.
 */
export class Allowance {
  readonly #turns: Pick<Turns, 'now'>
  /** when `#used` was last reduced */
  #since = 0
  /** milliseconds of work, less a fourth of the time since */
  #used = 0

  constructor(turns: Pick<Turns, 'now'>) {
    this.#turns = turns
  }

  /** Whether some of it is left now. */
  get isLeft(): boolean {
    const now = this.#turns.now()
    this.#used = Math.max(0, this.#used - (now - this.#since) / (1 + OTHERS))
    this.#since = now
    return this.#used < SLICE
  }

  /** @param milliseconds of work */
  add(milliseconds: number): void {
    this.#used = Math.min(this.#used + milliseconds, LONGEST)
  }
}

/** Whose work it is. */
export interface Worker {
  readonly workspaceId: string
  /** of its token, or of a person in the web app */
  readonly id: string
  /** aborted when the client leaves */
  readonly signal: AbortSignal
}

/** The requests of one token that work longer than a slice. The first one works, the others wait until it leaves. */
type Lane = Set<Turn>

/**
 * Shares the event loop. A request that has worked for a slice waits for its next turn: the workspaces alternate, then the tokens of a
 * workspace, and one request of a token at a time. Before each turn all other requests have three times as much time as such work has used.
 */
export class Turns {
  readonly now: () => number
  /** of all streams of events */
  readonly forStreams: Allowance = new Allowance(this)
  /** of all files that are uploaded */
  readonly forUploads: Allowance = new Allowance(this)
  /** of all pages for people who are not signed in */
  readonly forVisitors: Allowance = new Allowance(this)
  /** of all refusals that nobody is charged for */
  readonly forRefusals: Allowance = new Allowance(this)
  readonly #afterPause: (work: () => void, milliseconds: number) => unknown
  /** workspace → token → its lane. The next turn goes to the first one. */
  readonly #workspaces = new Map<string, Map<string, Lane>>()
  /** milliseconds of work that others have not yet had in return */
  #owed = 0
  #isPausing = false

  /**
   * @param now a monotonic clock, in milliseconds
   * @param afterPause calls a function after a pause
   */
  constructor({
    now = (): number => performance.now(),
    afterPause = (work: () => void, milliseconds: number): unknown => later(work, milliseconds),
  } = {}) {
    this.now = now
    this.#afterPause = afterPause
  }

  /**
   * Waits for a turn.
   * @param used the milliseconds that it has worked
   */
  enter(turn: Turn, used: number): void {
    const { workspaceId, id } = turn.worker
    const lanes = this.#workspaces.get(workspaceId) ?? new Map<string, Lane>()
    this.#workspaces.set(workspaceId, lanes)
    lanes.set(id, (lanes.get(id) ?? new Set()).add(turn))
    this.#owe(used)
    if (!this.#isPausing) this.#pause()
  }

  /**
   * The next one of its lane may work.
   * @param used the milliseconds that it has worked
   */
  leave(turn: Turn, used: number): void {
    const { workspaceId, id } = turn.worker
    const lanes = this.#workspaces.get(workspaceId)!
    const lane = lanes.get(id)!
    lane.delete(turn)
    if (lane.size === 0) lanes.delete(id)
    // Stryker disable next-line ConditionalExpression: a workspace where nobody waits is passed over, and only takes memory
    if (lanes.size === 0) this.#workspaces.delete(workspaceId)
    this.#owe(used)
    if (!this.#isPausing) this.#pause()
  }

  #owe(milliseconds: number): void {
    this.#owed = Math.min(this.#owed + OTHERS * milliseconds, LONGEST)
  }

  #pause(): void {
    this.#isPausing = true
    const milliseconds = Math.max(SLICE, this.#owed)
    this.#owed = 0
    this.#afterPause(this.#endPause, milliseconds)
  }

  readonly #endPause = (): void => {
    this.#isPausing = false
    const next = this.#next()
    if (next === undefined) return
    // Also after a turn: work that waits for storage does not stop the others.
    this.#pause()
    next.grant()
  }

  /** Takes the one whose turn it is. Its token and its workspace have the last place then. */
  #next(): Turn | undefined {
    for (const [workspaceId, lanes] of this.#workspaces)
      for (const [id, lane] of lanes) {
        const [first] = lane
        if (!first!.isWaiting) continue
        lanes.delete(id)
        lanes.set(id, lane)
        this.#workspaces.delete(workspaceId)
        this.#workspaces.set(workspaceId, lanes)
        return first
      }
    return undefined
  }
}

/** The turn of one request. Most requests end before their first slice does, and never wait. */
export class Turn {
  readonly worker: Worker
  /** Whether it holds a lease that others wait for: then it waits for nobody, and only lets the event loop go round. */
  hasLease = false
  readonly #turns: Turns
  #began: number
  #isInLane = false
  #isOver = false
  #grant: (() => void) | undefined
  #waiting: Promise<void> | undefined

  constructor(turns: Turns, worker: Worker) {
    this.#turns = turns
    this.worker = worker
    this.#began = turns.now()
  }

  get isWaiting(): boolean {
    return this.#grant !== undefined
  }

  /**
   * Is called at each step of the work.
   * @returns a promise to wait for; undefined if the work may go on
   * @throws {ApiError} `request_timeout`, as a rejection, when the client has left
   */
  spent(): Promise<void> | undefined {
    return this.#used < SLICE ? undefined : this.take()
  }

  /**
   * Waits for a turn, before a step that takes more than a slice.
   * @throws {ApiError} `request_timeout` when the client has left
   */
  async take(): Promise<void> {
    this.#requireClient()
    if (this.hasLease || this.#isOver) await setImmediate()
    // Concurrent work for one request waits together.
    else await (this.#waiting ??= this.#wait())
    this.#requireClient()
    this.#began = this.#turns.now()
  }

  /** The work is done, or waits for something else than its turn. Another part of it may have begun to wait for that: it goes on. */
  leave(): void {
    if (!this.#isInLane || this.isWaiting) return
    this.#isInLane = false
    this.#turns.leave(this, this.#used)
  }

  /**
   * The response was made. Work for it that nobody waits for any more, such as a read beside one that was refused, goes on without a turn:
   * it could not leave, and would stop all later requests of its token.
   */
  end(): void {
    this.#isOver = true
    if (this.isWaiting) this.grant()
    this.leave()
  }

  /** Its turn begins. */
  grant(): void {
    this.#grant!()
    this.#grant = undefined
  }

  /** Work begins after an idle time. */
  begin(): void {
    if (!this.#isInLane) this.#began = this.#turns.now()
  }

  /**
   * Passes on pieces of data. Each piece is short work for the consumer. It waits for a turn before the next one when such work has used
   * up its allowance, and has none while it waits for data.
   */
  async *share<Piece>(pieces: AsyncIterable<Piece>, allowance: Allowance): AsyncGenerator<Piece> {
    for await (const piece of pieces) {
      this.begin()
      const began = this.#turns.now()
      yield piece
      allowance.add(this.#turns.now() - began)
      if (allowance.isLeft) continue
      // Of a client that has left, the data say it in their way.
      await this.take().catch(() => undefined)
      this.leave()
    }
  }

  get #used(): number {
    return this.#turns.now() - this.#began
  }

  #wait(): Promise<void> {
    const { signal } = this.worker
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#grant = undefined
        this.#waiting = undefined
        // It has waited, and not worked.
        this.#began = this.#turns.now()
        this.leave()
        reject(clientHasLeft())
      }
      this.#grant = () => {
        signal.removeEventListener('abort', giveUp)
        this.#waiting = undefined
        resolve()
      }
      signal.addEventListener('abort', giveUp)
      this.#isInLane = true
      this.#turns.enter(this, this.#used)
    })
  }

  #requireClient(): void {
    if (this.worker.signal.aborted) throw clientHasLeft()
  }
}

/** The response will not be read. */
function clientHasLeft(): ApiError {
  return new ApiError('request_timeout')
}

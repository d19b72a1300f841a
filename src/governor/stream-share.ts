import { ApiError } from '../model/errors.ts'
import { UNIT_BYTES } from './cost.ts'
import type { Turn, Turns } from './turns.ts'

/** How long a stream may wait for its turn, or for its client, before it has to begin again, in milliseconds. */
const LONGEST_WAIT = 30_000

const BEGIN_AGAIN =
  'Read the board anew with GET /boards/{board_id}?include=columns,cards,labels,members, and continue with its changes_cursor.'
const SLOW_SERVICE = `The stream has waited too long for its share of the processor, because other requests of its token or person use it. ${BEGIN_AGAIN}`
const SLOW_CLIENT = `The stream was read too slowly. ${BEGIN_AGAIN}`
const USED_UP = `The stream has used up the units of its token or person. ${BEGIN_AGAIN}`

export interface StreamShareOptions {
  readonly turns: Turns
  /** the turn of all work for the stream, including its reads */
  readonly turn: Turn
  /**
   * Charges units.
   * @returns the seconds until there are more, if they are used up
   */
  readonly charge: (units: number) => number | undefined
}

/**
 * What the streams of one response may use: their bytes cost units, like an answer's, and their work waits for turns if streams work more
 * than a fourth of the time. One that cannot be served within that has to begin again.
 */
export class StreamShare {
  readonly #turns: Turns
  readonly #turn: Turn
  readonly #charge: StreamShareOptions['charge']
  #running = 0
  /** that have cost no unit yet */
  #bytes = 0
  /** the seconds until there are more units; undefined: they are not used up */
  #seconds: number | undefined

  constructor({ turns, turn, charge }: StreamShareOptions) {
    this.#turns = turns
    this.#turn = turn
    this.#charge = charge
  }

  /**
   * Does a step of the work, in its turn.
   * @throws {ApiError} `rate_limited`, if that did not come in time
   */
  async step<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const asked = this.#turns.now()
    if (this.#running++ === 0) this.#turn.begin()
    let began = asked
    try {
      if (!this.#turns.forStreams.isLeft) {
        await this.#turn.take()
        began = this.#turns.now()
        if (began - asked > LONGEST_WAIT) throw lagging(SLOW_SERVICE, 1)
      }
      return await work()
    } finally {
      this.#turns.forStreams.add(this.#turns.now() - began)
      if (--this.#running === 0) this.#turn.leave()
    }
  }

  /**
   * Gives the client bytes, and charges them.
   * @param waited the milliseconds until the client has taken them
   * @throws {ApiError} `rate_limited`, if the stream has to begin again
   */
  requireRest(bytes: number, waited: number): void {
    this.#bytes += bytes
    const units = Math.floor(this.#bytes / UNIT_BYTES)
    this.#bytes -= units * UNIT_BYTES
    if (units > 0) this.#seconds = this.#charge(units)
    if (this.#seconds !== undefined) throw lagging(USED_UP, this.#seconds)
    if (waited > LONGEST_WAIT) throw lagging(SLOW_CLIENT, 1)
  }
}

/** @param seconds until it may begin again */
function lagging(message: string, seconds: number): ApiError {
  return new ApiError('rate_limited', { message, members: { retry_after: seconds } })
}

import { andThen, type Awaitable } from '../model/awaitable.ts'
import type { ApiError } from '../model/errors.ts'
import type { Call } from './call.ts'
import { unrecorded } from './decision-log.ts'
import type { AttemptRecord } from './decision-record.ts'
import type { Services } from './services.ts'

/** The decision record of a call, and its sinks. Each attempt has a record of its own; the last one describes the answer. */
export class Trail {
  readonly #services: Services
  readonly #call: Call
  #record: AttemptRecord

  constructor(services: Services, call: Call) {
    this.#services = services
    this.#call = call
    this.#record = this.#begin(0, 0)
  }

  get record(): AttemptRecord {
    return this.#record
  }

  /**
   * The record of the next attempt. What the one before has recorded is no part of the answer, except what it has written to the log.
   * @param isRetry whether a conflict is the reason; otherwise it is the first record, or the call has waited for something
   */
  next(isRetry: boolean): AttemptRecord {
    const { attempts, logBytes } = this.#record
    // The first attempt has the record that was begun with the call.
    if (attempts === 0) this.#record.attempts = 1
    else this.#record = this.#begin(attempts + (isRetry ? 1 : 0), logBytes)
    return this.#record
  }

  #begin(attempts: number, logBytes: number): AttemptRecord {
    const { requestId, method, arrivedAt, surface } = this.#call
    const record: AttemptRecord = { requestId, method, arrivedAt, policy: this.#services.engine.hash, attempts, logBytes, status: 0 }
    if (surface.related !== undefined) record.related = surface.related
    return surface.name === undefined ? record : { surface: surface.name, ...record }
  }

  /** @throws {ApiError} `unavailable` if the decision log cannot take a record now */
  ready(): Awaitable<void> {
    return andThen(this.#services.decisionLog?.ready(this.#record), () => {
      this.#record.stage = 'credential'
    })
  }

  /**
   * Gives the record to the decision log, before the answer is sent.
   * @param code of an answer that is an error
   * @returns the error to answer instead, if the log cannot take it
   */
  write(status: number, code?: ApiError['code']): Awaitable<ApiError | undefined> {
    const record = this.#record
    record.status = status
    if (code !== undefined) record.code = code
    return andThen(this.#services.decisionLog?.finish(record), (isRecorded = true) => {
      if (isRecorded) return undefined
      const error = unrecorded()
      Object.assign(record, { status: error.status, code: error.code })
      return error
    })
  }

  /** Gives the record to the other sinks, after the answer was made. One that fails changes neither the answer nor what others get. */
  end(): void {
    const { sinks, log } = this.#services
    const { surface, quota } = this.#call
    const record = this.#record
    if (!surface.isCounted) return
    if (quota.exceeded !== undefined) record.exceeded = quota.exceeded
    for (const sink of sinks) {
      try {
        sink(record, this.#call)
      } catch (error) {
        log.error({ request_id: record.requestId, err: error }, 'a sink could not take the decision record')
      }
    }
  }
}

import { LogUnavailable, type DecisionLog } from '../decision-log/log.ts'
import { warningOf, type SpaceWarning } from '../decision-log/space.ts'
import { andThen, orElse, type Awaitable } from '../model/awaitable.ts'
import { ApiError } from '../model/errors.ts'
import type { Clock } from '../model/time.ts'
import { StorageUnavailable } from '../store/port.ts'
import { TransactionConflict, type Transaction } from '../store/transaction.ts'
import { toLine, type AttemptRecord } from './decision-record.ts'

/**
 * Writes the record of each request to the decision log. A write's record is written before its commit: nothing is done without a
 * record, whatever fails, and whenever the process ends. If the commit is not made, a second line says so.
 */
export class RequestLog {
  readonly #log: DecisionLog
  readonly #clock: Clock

  constructor(log: DecisionLog, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  /** @returns a warning if little space is left for it */
  async spaceWarning(): Promise<SpaceWarning | undefined> {
    const space = await this.#log.space()
    return space && warningOf(space)
  }

  /**
   * @returns undefined if a record can be written
   * @throws {ApiError} `unavailable`, as a rejection
   */
  ready(record: AttemptRecord): Promise<void> | undefined {
    return this.#log.ready()?.catch((error: unknown) => this.#refuse(record, error))
  }

  /**
   * Writes the record of a request whose commit follows.
   * @throws {ApiError} `unavailable`: the commit must not be made
   */
  async beforeCommit(record: AttemptRecord, status: number): Promise<void> {
    const body = this.#lineOf(record, status, 'commit')
    const entry = await this.#log.write(body).catch((error: unknown) => this.#refuse(record, error))
    record.logged = { entry, status }
  }

  /** The commit after {@link beforeCommit} has failed. */
  withdraw(record: AttemptRecord, error: unknown): void {
    const { logged, requestId } = record
    const isKnown = error instanceof TransactionConflict || (error instanceof StorageUnavailable && error.outcomeKnown)
    logged!.outcome = isKnown ? 'not_done' : 'unknown'
    const { n } = logged!.entry
    if (n === undefined) return
    const time = new Date(this.#clock()).toISOString()
    const body = `"time":"${time}","kind":"outcome","of":${n},"request_id":"${requestId}","outcome":"${logged!.outcome}"`
    record.logBytes += Buffer.byteLength(body)
    this.#log.append(body)
  }

  /**
   * Writes the record of an answered request, unless it is written already.
   * @returns undefined if the response can be sent; otherwise whether it can be, when that is known
   */
  finish(record: AttemptRecord): Promise<boolean> | undefined {
    const log = this.#log
    const { logged } = record
    if (record.isUnrecorded) return void log.refuse()
    if (isUndecided(record) && !log.takesRefusal(sourceOf(record))) return undefined
    if (logged !== undefined && logged.outcome === undefined && logged.status === record.status) return undefined
    const body = this.#lineOf(record, record.status, 'none')
    // It is done, or that is unknown: another response would be wrong.
    if (logged !== undefined && logged.outcome !== 'not_done') return void log.append(body)
    const refused = () => (log.refuse(), false)
    if (log.isSynced) return log.write(body).then(() => true, refused)
    const waiting = log.ready()
    if (waiting === undefined) return void log.append(body)
    return waiting.then(() => (log.append(body), true), refused)
  }

  #lineOf(record: AttemptRecord, status: number, effect: 'commit' | 'none'): string {
    const body = toLine(record, this.#clock(), status, effect)
    record.logBytes += Buffer.byteLength(body)
    return body
  }

  #refuse(record: AttemptRecord, error: unknown): never {
    if (!(error instanceof LogUnavailable)) throw error
    record.isUnrecorded = true
    throw unrecorded()
  }
}

/** Whether a request was refused before it counted for anyone: anyone can send any number of them. */
function isUndecided({ stage, logged }: AttemptRecord): boolean {
  return logged === undefined && (stage === 'credential' || stage === 'rate_limit')
}

/** Who sent a request that was refused. All requests without a valid token are of one source: their records do not differ either. */
function sourceOf({ tokenId, userId }: AttemptRecord): string {
  return JSON.stringify({ token_id: tokenId ?? null, user_id: userId ?? null }).slice(1, -1)
}

/**
 * Commits a transaction. If it writes something, the record of the request is written before.
 * @param changes whether it writes more than the memory of the response
 * @throws {ApiError} `unavailable`
 */
export function commit(
  log: RequestLog | undefined,
  tx: Transaction,
  record: AttemptRecord,
  status: number,
  changes: boolean,
): Awaitable<void> {
  const committed = orElse(
    () => (log === undefined ? tx.commit() : commitLogged(log, tx, record, status)),
    (error) => {
      if (changes && error instanceof StorageUnavailable && !error.outcomeKnown) record.effect = 'unknown'
      throw error
    },
  )
  return andThen(committed, () => {
    if (changes) record.effect = 'done'
  })
}

async function commitLogged(log: RequestLog, tx: Transaction, record: AttemptRecord, status: number): Promise<void> {
  await log.beforeCommit(record, status)
  try {
    await tx.commit()
  } catch (error) {
    log.withdraw(record, error)
    throw error
  }
}

/** The error of a request whose record the log cannot take. */
export function unrecorded(): ApiError {
  return new ApiError('unavailable', {
    message: 'The decision log cannot take the record of this request. Nothing was changed. Try again soon.',
    headers: { 'retry-after': '1' },
    members: { outcome: 'not_done' },
  })
}

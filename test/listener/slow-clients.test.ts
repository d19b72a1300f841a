import { expect, test } from 'vitest'
import { dropSlowClients } from '../../src/listener/listener.ts'

const TIMEOUT = 30_000
/** after this, Node reports a connection without progress */
const PERIOD = 3000

/** A connection of a client that does not read, and the clock. */
class SlowConnection {
  now = 0
  destroyedAt: number | undefined
  armed = 0
  writableLength = 1000
  bytesWritten = 5000
  bytesRead = 100
  readonly #report: () => void

  constructor() {
    let report: (socket: never) => void = () => undefined
    const server = { setTimeout: (milliseconds: number, callback: typeof report) => void ([this.armed, report] = [milliseconds, callback]) }
    dropSlowClients(server as never, TIMEOUT, () => this.now)
    this.#report = () => report(this as never)
  }

  /** What Node does after some time. @returns whether the connection is still open */
  reportAfter(milliseconds: number): boolean {
    this.now += milliseconds
    this.armed = 0
    this.#report()
    return this.destroyedAt === undefined
  }

  setTimeout(milliseconds: number): void {
    this.armed = milliseconds
  }

  destroy(): void {
    this.destroyedAt = this.now
  }
}

test.each([
  ['30 seconds after nothing was sent any more', PERIOD, 30_000],
  ['33 seconds after a part of a write was sent, which Node takes for progress once', 2 * PERIOD, 33_000],
])('a connection whose client does not read is closed %s', (_when, first, end) => {
  const connection = new SlowConnection()
  expect(connection.armed).toBe(PERIOD)
  let open = connection.reportAfter(first)
  for (let i = 0; i < 20 && open; i++, open = connection.reportAfter(PERIOD)) expect(connection.armed).toBe(PERIOD)
  expect(connection.destroyedAt).toBe(end)
})

test.each<[what: string, progress: (connection: SlowConnection) => number]>([
  ['received the rest of a write', (connection) => ((connection.writableLength -= 1), PERIOD)],
  ['received all, and the service sent more', (connection) => ((connection.bytesWritten += 1), PERIOD)],
  ['sent something', (connection) => ((connection.bytesRead += 1), PERIOD)],
  // Node then waits once more.
  ['received a part of a write', () => 2 * PERIOD],
])('a connection whose client %s gets the whole time again', (_what, progress) => {
  const connection = new SlowConnection()
  for (let i = 0; i < 9; i++) expect(connection.reportAfter(PERIOD)).toBe(true)
  const since = connection.now + progress(connection)
  connection.reportAfter(since - connection.now)
  for (let i = 0; i < 20 && connection.reportAfter(PERIOD); i++);
  expect(connection.destroyedAt).toBe(since + 9 * PERIOD)
})

test('a connection with nothing to read is left open', () => {
  const connection = new SlowConnection()
  connection.writableLength = 0
  for (let i = 0; i < 20; i++) expect(connection.reportAfter(PERIOD)).toBe(true)
})

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { isIdle } from './connection-limits.ts'

/** How many times a connection is looked at before it is dropped. */
const LOOKS = 10

/** What a connection had sent and received when it was last looked at. */
interface Look {
  /** in milliseconds */
  readonly at: number
  readonly progress: string
  /** the number of looks since there was progress */
  readonly unchanged: number
}

/**
 * Closes a connection whose client reads nothing of a response, so that the response does not stay in memory. One that waits for the
 * service itself stays open.
 *
 * Node reports a connection on which no byte was sent or received for some time. If a part of a write was sent before that, it waits
 * once more for as long. So it is asked for a tenth of the time, again and again: a connection is closed at most two tenths too late.
 */
export function dropSlowClients(server: Pick<Server, 'setTimeout'>, timeout: number, now: () => number = () => performance.now()): void {
  const period = timeout / LOOKS
  const looks = new WeakMap<Socket, Look>()
  server.setTimeout(period, (socket) => {
    if (isIdle(socket)) return void socket.destroy()
    if (socket.writableLength === 0) return
    const look = lookAt(socket, now(), looks.get(socket), period)
    if (look.unchanged >= LOOKS) return void socket.destroy()
    looks.set(socket, look)
    // Otherwise it would be reported only once.
    socket.setTimeout(period)
  })
}

/** @param last undefined: this is the first look at the connection */
function lookAt(socket: Socket, at: number, last: Look | undefined, period: number): Look {
  const progress = [socket.writableLength, socket.bytesWritten, socket.bytesRead].join(' ')
  // Two periods: a part of a write was sent in between.
  const isUnchanged = last !== undefined && last.progress === progress && at - last.at < 1.75 * period
  return { at, progress, unchanged: isUnchanged ? last.unchanged + 1 : 1 }
}

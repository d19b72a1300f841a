import { once } from 'node:events'
import type { Socket } from 'node:net'

/** Sends one message, and waits until there is room for the next. */
export async function sendMessage(socket: Socket, message: object): Promise<void> {
  if (!socket.writable) throw new Error(GONE)
  if (socket.write(`${JSON.stringify(message)}\n`)) return
  const waiting = new AbortController()
  const closed = once(socket, 'close', { signal: waiting.signal }).then(() => {
    throw new Error(GONE)
  })
  try {
    await Promise.race([once(socket, 'drain', { signal: waiting.signal }), closed])
  } finally {
    // Else each full buffer would leave a listener behind.
    closed.catch(() => undefined)
    waiting.abort()
  }
}

const GONE = 'the other side has closed the connection'

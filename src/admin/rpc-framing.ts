import { once } from 'node:events'
import type { Socket } from 'node:net'

/**
 * Splits a byte stream into lines. It reads the next bytes only after the lines before them were consumed, so input
 * of any size needs little memory.
 */
export async function* readLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let parts: string[] = []
  for await (const bytes of stream) {
    const [first, ...others] = decoder.decode(bytes, { stream: true }).split('\n')
    parts.push(first!)
    for (const next of others) {
      yield parts.join('')
      parts = [next]
    }
  }
  const rest = parts.join('') + decoder.decode()
  if (rest !== '') yield rest
}

/** Sends a message as one line of JSON. Resolves when the next message can be sent. */
export async function sendMessage(socket: Socket, message: object): Promise<void> {
  if (!socket.writable) throw new Error(CLOSED)
  if (socket.write(`${JSON.stringify(message)}\n`)) return
  const waiting = new AbortController()
  const closed = once(socket, 'close', { signal: waiting.signal }).then(() => {
    throw new Error(CLOSED)
  })
  try {
    await Promise.race([once(socket, 'drain', { signal: waiting.signal }), closed])
  } finally {
    // Removes the listeners. Otherwise each full buffer would add two.
    closed.catch(() => undefined)
    waiting.abort()
  }
}

const CLOSED = 'the peer has closed the connection'

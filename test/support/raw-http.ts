import { connect } from 'node:net'
import { inTime } from './in-time.ts'

/** A response as it was received. */
export interface WireReply {
  readonly status: number
  readonly head: string
  readonly body: any
}

/** Sends bytes to a listener and reads until it closes the connection. */
export function exchange(port: number, ...chunks: (string | Uint8Array)[]): Promise<string> {
  let received = ''
  const exchanged = new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('data', (data) => (received += data.toString('latin1')))
    socket.on('end', () => socket.end())
    socket.on('close', () => resolve(received))
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? resolve(received) : reject(error),
    )
    for (const chunk of chunks) socket.write(chunk)
  })
  return inTime(exchanged, () => `the listener has not closed the connection; it has sent ${JSON.stringify(received.slice(0, 1000))}`)
}

/** Parses the first response of an exchange. */
export function firstReply(received: string): WireReply {
  const [head = '', rest = ''] = split(received, '\r\n\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? rest.length)
  const text = rest.slice(0, length)
  return { status, head, body: text.startsWith('{') ? JSON.parse(text) : text }
}

function split(text: string, at: string): [string, string] {
  const index = text.indexOf(at)
  return index === -1 ? [text, ''] : [text.slice(0, index), text.slice(index + at.length)]
}

import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'

/** A mail server of a test. */
interface MailServer {
  readonly server: Server
  readonly port: number
  /** what clients have sent, as text */
  readonly received: () => string
  /** when the first client has left */
  readonly ended: Promise<unknown>
}

/**
 * Starts a mail server for one mail, as RFC 5321 describes it.
 * @param reply its answer to the mail
 */
export async function startMailServer(reply = '250 ok'): Promise<MailServer> {
  let received = ''
  let isData = false
  let end: (value?: unknown) => void
  const ended = new Promise((resolve) => (end = resolve))
  const server = createServer((socket) => {
    socket.write('220 mail.example\r\n')
    socket.on('close', () => end())
    socket.on('data', (bytes) => {
      received += bytes
      if (isData && !received.endsWith('\r\n.\r\n')) return
      const begins = /^DATA/i.test(String(bytes))
      socket.write(begins ? '354 go on\r\n' : `${isData ? reply : '250 ok'}\r\n`)
      isData = begins
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port, received: () => received, ended }
}

import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { poll } from './in-time.ts'

/** A mail that a server of a test has got. */
export interface ReceivedMail {
  /** the addresses of the envelope */
  readonly from: string
  readonly to: readonly string[]
  /** the mail, one character for each byte */
  readonly source: string
}

/** A mail server of a test. */
export interface MailServer {
  readonly port: number
  /** as in LANEKEEPER_SMTP */
  readonly url: string
  /** in the order of their ends */
  readonly mails: readonly ReceivedMail[]
  /** Waits until it has got so many mails, and all clients have left. */
  got(count?: number): Promise<readonly ReceivedMail[]>
  close(): Promise<void>
}

/** What a mail server answers to a mail; undefined: nothing. */
type Answer = (mail: ReceivedMail) => string | undefined

/** Starts a mail server, as RFC 5321 describes it. It has no extensions, so lines are ASCII. */
export async function startMailServer(answer: Answer = () => '250 ok'): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const clients = new Set<Socket>()
  const server = createServer((client) => {
    clients.add(client)
    client.on('close', () => clients.delete(client))
    // A client that is killed.
    client.on('error', () => undefined)
    talk(client, (mail) => {
      mails.push(mail)
      return answer(mail)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `smtp://127.0.0.1:${port}?ignoreTLS=true`,
    mails,
    async got(count = 1) {
      await poll(`${count} mails have arrived`, () => mails.length >= count && clients.size === 0)
      return mails
    },
    async close() {
      for (const client of clients) client.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function talk(client: Socket, answer: Answer): void {
  let [text, isData, from, to] = ['', false, '', [] as string[]]
  const replyTo = (command: string): string => {
    const [, verb, address = ''] = /^(\w+)(?:[^<]*<([^>]*)>)?/.exec(command) ?? []
    if (verb === 'MAIL') [from, to] = [address, []]
    if (verb === 'RCPT') to.push(address)
    isData = verb === 'DATA'
    return isData ? '354 go on' : verb === 'AUTH' ? '235 ok' : verb === 'QUIT' ? '221 bye' : '250 ok'
  }
  client.setEncoding('latin1').write('220 mail.example\r\n')
  client.on('data', (part: string) => {
    text += part
    for (;;) {
      const isMail = isData
      const mark = isMail ? '\r\n.\r\n' : '\r\n'
      const end = text.indexOf(mark)
      if (end === -1) return
      const whole = text.slice(0, end)
      text = text.slice(end + mark.length)
      isData = false
      const said = isMail ? answer({ from, to, source: `${whole.replaceAll(/^\./gm, '')}\r\n` }) : replyTo(whole)
      if (said === undefined) return
      client.write(`${said}\r\n`)
      if (said.startsWith('221')) client.end()
    }
  })
}

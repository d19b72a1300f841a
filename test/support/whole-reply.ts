import type { IncomingMessage } from 'node:http'
import { inTime } from './in-time.ts'
import { exchange } from './raw-http.ts'

/** The headers of a response, by their names in lower case; several with the same name in one list. */
export type HeaderSet = Readonly<Record<string, unknown>>
export interface WholeReply {
  readonly status: number
  readonly headers: HeaderSet
  readonly body: Buffer
}

/** Reads a response to its end. */
export async function readReply(response: IncomingMessage): Promise<WholeReply> {
  const chunks: Buffer[] = []
  const reading = (async () => {
    for await (const chunk of response) chunks.push(chunk as Buffer)
  })()
  await inTime(reading, () => `the response has not ended after ${Buffer.concat(chunks).byteLength} bytes`)
  return { status: response.statusCode!, headers: headersOf(response.rawHeaders), body: Buffer.concat(chunks) }
}

function headersOf(raw: readonly string[]): HeaderSet {
  const headers: Record<string, unknown> = {}
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    headers[name] = name in headers ? [headers[name], raw[i + 1]] : raw[i + 1]
  }
  return headers
}

/** The response to bytes that are no valid request, or to a request that did not arrive in time. */
export async function exchangeWhole(port: number, text: string): Promise<WholeReply> {
  const [head, body] = (await exchange(port, text)).split('\r\n\r\n') as [string, string]
  const [statusLine, ...lines] = head.split('\r\n')
  const raw = lines.flatMap((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
  return { status: Number(statusLine!.split(' ')[1]), headers: headersOf(raw), body: Buffer.from(body, 'latin1') }
}

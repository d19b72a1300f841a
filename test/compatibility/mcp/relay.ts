import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What stands between the clients and the service. */
export interface Relay {
  readonly url: string
  /** the token that takes the place of that which a request has; undefined: none does */
  token: string | undefined
  close(): void
}

/**
 * Starts a relay that can give the requests of a client another token: so a client that has listed the tools of one scope calls them with a
 * lesser one, as it does when a person replaces its token. Otherwise most clients would call no tool that the list does not have.
 */
export async function startRelay(target: string): Promise<Relay> {
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers }
    if (headers.authorization !== undefined && relay.token !== undefined) headers.authorization = `Bearer ${relay.token}`
    const forwarded = request(`${target}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const relay: Relay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: undefined,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return relay
}

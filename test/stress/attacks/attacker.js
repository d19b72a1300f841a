// An attacker in a separate process, so that it does not delay the requests that are measured. Its first message is an attack, the second
// one ends it. Written in JavaScript, because the oldest supported Node version cannot run TypeScript.
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, createServer } from 'node:net'

/** status → number of responses */
const statuses = {}
function count(status) {
  if (Object.keys(statuses).length === 0) process.send('begun')
  statuses[status] = (statuses[status] ?? 0) + 1
}
let isOver = false

const [{ url, token, kind, cookie, connections, requests, receiver }] = await once(process, 'message')
const ended = once(process, 'message')
const agent = new Agent({ keepAlive: true, maxSockets: connections })
const authorization = `Bearer ${token}`
/** Whether requests go to addresses outside /v1: pages of a person, or of nobody. */
const isOutside = kind === 'mcp' || kind === 'page'

const ofMcp = {
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
}

const nothing = () => undefined

/** Sends a request and reads its response. */
function send({ method, path, body, type }) {
  return new Promise((resolve) => {
    const credential = kind === 'page' ? { ...(cookie && { cookie }), accept: 'text/html', 'accept-encoding': 'br' } : { authorization }
    const headers = { ...credential, ...(body === undefined ? {} : { 'content-type': type }), ...(kind === 'mcp' && ofMcp) }
    const sent = request(isOutside ? url + (path || '/mcp') : `${url}/v1${path}`, { method, agent, headers }, (response) => {
      // A stream that is cut off has no end.
      response.on('error', () => undefined)
      response.on('close', () => resolve(count(response.statusCode))).resume()
    })
    // A service that has refused an upload reads no more of it. The response may be there by then, and the request has ended.
    sent.on('socket', (socket) => socket.listenerCount('error', nothing) || socket.on('error', nothing))
    // What is in progress at the end is cut.
    sent.on('error', () => resolve(isOver || count('lost'))).end(body)
  })
}

/** Sends requests one after the other. */
async function hammer(first, all = requests) {
  for (let i = first; !isOver; i++) await send(all[i % all.length])
}

const sockets = new Set()

/** Sends many requests at once and reads nothing. Connects again when the connection is closed. */
async function ignore() {
  const [{ method, path }] = requests
  const { hostname, port } = new URL(url)
  while (!isOver) {
    const socket = connect(port, hostname).on('error', () => undefined)
    sockets.add(socket.pause())
    socket.write(`${method} /v1${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`.repeat(300))
    count('ignored')
    await new Promise((resolve) => socket.on('close', resolve))
    sockets.delete(socket)
  }
}

/** Opens streams again and again, and writes beside them: the first request is the stream. */
async function follow(index) {
  const [stream, ...writes] = requests
  if (index >= connections - 2) return hammer(0, writes)
  while (!isOver) await send(stream)
}

const BLOCK = 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)

/** What a receiver of webhooks does: `floods` sends what comes before an answer without end, `accepts` answers. */
const receives = {
  floods(socket) {
    const more = () => socket.destroyed || socket.write(BLOCK, () => setImmediate(more))
    more()
  },
  accepts: (socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'),
}

const server = createServer((socket) => socket.on('error', () => undefined).once('data', () => receives[receiver.does](socket)))
if (receiver !== undefined) await once(server.listen(receiver.port, '127.0.0.1'), 'listening')

const running = Promise.all(Array.from({ length: connections }, (_, i) => ({ ignore, follow })[kind]?.(i) ?? hammer(i)))
await ended
isOver = true
// Streams do not end by themselves.
agent.destroy()
for (const socket of sockets) socket.destroy()
await running
server.close()
process.send(statuses)
process.disconnect()

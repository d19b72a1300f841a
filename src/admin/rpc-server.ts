import type { Socket } from 'node:net'
import { once } from 'node:events'
import { lazy } from '../model/lazy.ts'
import { StorageUnavailable } from '../store/port.ts'
import { AdminError, type AdminDeps, type CommandIo } from './deps.ts'

/** A start does not wait for it. */
const commandsModule = lazy(() => import('./commands.ts'))

/**
 * The messages of the RPC server. While this process holds the lock of the folder, it runs administration commands for
 * other processes. The protocol is JSON lines over the socket of the lock. The socket is in a directory that only its
 * owner can enter, so every client is the operator.
 *
 *     client: {"command", "input"}, then {"line"} … {"end": true}
 *     server: {"pid", "since"}, then {"progress"} | {"line"} …, then {"result"} | {"error": {code, message}}
 */
export type ServerMessage =
  | { readonly pid: number }
  | { readonly progress: string }
  | { readonly line: string }
  | { readonly result: unknown }
  | { readonly error: { readonly code: AdminError['code'] | 'unavailable' | 'failed'; readonly message: string } }

/** How long to wait for running commands at shutdown, in milliseconds. */
const GRACE_PERIOD = 10_000

/** Called after each command that succeeded. Neither its name nor its input contains a secret. */
type OnCommand = (command: string, input: unknown) => void

/** Runs administration commands for other processes. */
export class RpcServer {
  readonly #onCommand: OnCommand
  readonly #running = new Map<Socket, Promise<void>>()
  #closed = false
  readonly #deps: Promise<AdminDeps>
  /** Starts running commands. Clients that connect before wait until then. */
  open!: (deps: AdminDeps) => void

  constructor(onCommand: OnCommand = () => undefined) {
    this.#onCommand = onCommand
    this.#deps = new Promise((resolve) => (this.open = resolve))
  }

  /** Serves one client. */
  readonly serve = (socket: Socket): void => {
    if (this.#closed) return void socket.end()
    const running = this.#deps
      .then((deps) => serveCommand(socket, deps, this.#onCommand))
      .catch(() => void socket.destroy())
      .finally(() => this.#running.delete(socket))
    this.#running.set(socket, running)
  }

  /** Refuses new clients and waits for running commands, at most for the grace period. */
  async close(): Promise<void> {
    this.#closed = true
    const timer = setTimeout(() => {
      for (const socket of this.#running.keys()) socket.destroy()
    }, GRACE_PERIOD)
    while (this.#running.size > 0) await Promise.all(this.#running.values())
    clearTimeout(timer)
  }
}

async function serveCommand(socket: Socket, deps: AdminDeps, onCommand: OnCommand): Promise<void> {
  const incoming = readLines(socket)
  const send = (message: Exclude<ServerMessage, { pid: number }>) => sendMessage(socket, message)
  try {
    const first = await incoming.next()
    // The client only wanted to know which process holds the lock.
    if (first.done === true) return
    const { command, input } = JSON.parse(first.value) as { command: string; input: unknown }
    const io: CommandIo = {
      // A lost connection makes the next `write` or `result` fail.
      progress: (text) => void send({ progress: text }).catch(() => undefined),
      write: (line) => send({ line }),
      lines: inputLines(incoming),
    }
    const { runCommand } = await commandsModule()
    const result = (await runCommand(deps, command, input, io)) ?? null
    onCommand(command, input)
    await send({ result })
  } catch (error) {
    const code = error instanceof AdminError ? error.code : error instanceof StorageUnavailable ? 'unavailable' : 'failed'
    await send({ error: { code, message: (error as Error).message } }).catch(() => undefined)
  } finally {
    socket.end()
  }
}

/** @throws {Error} if the client has left before it has sent all lines: a command must not take a part for the whole */
async function* inputLines(incoming: AsyncIterator<string>): AsyncGenerator<string> {
  for (let next = await incoming.next(); next.done !== true; next = await incoming.next()) {
    const message = JSON.parse(next.value) as { line?: string }
    if (message.line === undefined) return
    yield message.line
  }
  throw new Error('the client has left')
}

/**
 * Splits a byte stream into lines. It reads the next bytes only after the lines before them were consumed, so input
 * of any size needs little memory.
 * @throws {AdminError} `invalid` if it is not UTF-8: what replaces other bytes would be taken for the text
 */
export async function* readLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (...input: Parameters<TextDecoder['decode']>): string => {
    try {
      return decoder.decode(...input)
    } catch {
      throw new AdminError('invalid', 'it has bytes that are not UTF-8; save it as UTF-8')
    }
  }
  let parts: string[] = []
  for await (const bytes of stream) {
    const [first, ...others] = decode(bytes, { stream: true }).split('\n')
    parts.push(first!)
    for (const next of others) {
      yield parts.join('')
      parts = [next]
    }
  }
  const rest = parts.join('') + decode()
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

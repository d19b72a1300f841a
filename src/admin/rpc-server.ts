import type { Socket } from 'node:net'
import { runCommand } from './commands.ts'
import { StorageUnavailable } from '../store/port.ts'
import { linesOf } from './lines.ts'
import { sendMessage as write } from './rpc-framing.ts'
import { AdminError, type CommandIo, type AdminDeps } from './deps.ts'

/**
 * How a second process has a command done by the one that holds a folder: JSON lines over the socket of its
 * lock. Whoever can open that socket is the operator: it is in a folder of his alone.
 *
 *     → {"command", "input"}            → {"line"} … {"end": true}      (what is sent along)
 *     ← {"pid", "since"}                ← {"progress"} | {"line"} …     ← {"result"} | {"error": {code, message}}
 */
export type ServerMessage =
  | { readonly pid: number }
  | { readonly progress: string }
  | { readonly line: string }
  | { readonly result: unknown }
  | { readonly error: { readonly code: AdminError['code'] | 'unavailable' | 'failed'; readonly message: string } }

/** The holder's side: does what other processes ask for. */
export class RpcServer {
  readonly #done: (command: string, input: unknown) => void
  readonly #running = new Map<Socket, Promise<void>>()
  #closed = false
  readonly #tools: Promise<AdminDeps>
  /** Says that the storage is open. Who asked earlier was waiting. */
  open!: (tools: AdminDeps) => void

  /** @param done told of each command that was done, by its name and input: neither has a secret in it */
  constructor(done: (command: string, input: unknown) => void = () => undefined) {
    this.#done = done
    this.#tools = new Promise((resolve) => (this.open = resolve))
  }

  /** Answers one process that connected. */
  readonly serve = (socket: Socket): void => {
    if (this.#closed) return void socket.end()
    const running = this.#tools
      .then((tools) => serveCommand(socket, tools, this.#done))
      .catch(() => void socket.destroy())
      .finally(() => this.#running.delete(socket))
    this.#running.set(socket, running)
  }

  /**
   * Begins nothing any more, and waits for what is being done.
   * @param grace after so many milliseconds whoever still sends or reads is let go
   */
  async close(grace: number): Promise<void> {
    this.#closed = true
    const timer = setTimeout(() => {
      for (const socket of this.#running.keys()) socket.destroy()
    }, grace)
    while (this.#running.size > 0) await Promise.all(this.#running.values())
    clearTimeout(timer)
  }
}

async function serveCommand(socket: Socket, tools: AdminDeps, done: (command: string, input: unknown) => void): Promise<void> {
  const incoming = linesOf(socket)
  const send = (message: Exclude<ServerMessage, { pid: number }>) => write(socket, message)
  try {
    const first = await incoming.next()
    // Somebody only asked who holds the lock.
    if (first.done === true) return
    const { command, input } = JSON.parse(first.value) as { command: string; input: unknown }
    const talk: CommandIo = {
      // Whoever does not listen any more is noticed where it matters.
      progress: (text) => void send({ progress: text }).catch(() => undefined),
      write: (line) => send({ line }),
      lines: sentAlong(incoming),
    }
    const result = (await runCommand(tools, command, input, talk)) ?? null
    done(command, input)
    await send({ result })
  } catch (error) {
    const code = error instanceof AdminError ? error.code : error instanceof StorageUnavailable ? 'unavailable' : 'failed'
    await send({ error: { code, message: (error as Error).message } }).catch(() => undefined)
  } finally {
    socket.end()
  }
}

async function* sentAlong(incoming: AsyncIterator<string>): AsyncGenerator<string> {
  for (let next = await incoming.next(); next.done !== true; next = await incoming.next()) {
    const message = JSON.parse(next.value) as { line?: string }
    if (message.line === undefined) return
    yield message.line
  }
}

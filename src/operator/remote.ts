import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { runCommand } from './commands.ts'
import { linesOf } from './lines.ts'
import { OperatorError, type Conversation, type FileTools } from './tools.ts'

/**
 * How a second process has a command done by the one that holds a folder: JSON lines over the socket of its
 * lock. Whoever can open that socket is the operator: it is in a folder of his alone.
 *
 *     → {"command", "input"}            → {"line"} … {"end": true}      (what is sent along)
 *     ← {"pid", "since"}                ← {"progress"} | {"line"} …     ← {"result"} | {"error": {code, message}}
 */
type FromHolder =
  | { readonly pid: number }
  | { readonly progress: string }
  | { readonly line: string }
  | { readonly result: unknown }
  | { readonly error: { readonly code: OperatorError['code'] | 'failed'; readonly message: string } }

/** The holder's side: does what other processes ask for. */
export class CommandServer {
  readonly #running = new Set<Promise<void>>()
  readonly #tools: Promise<FileTools>
  /** Says that the storage is open. Who asked earlier was waiting. */
  open!: (tools: FileTools) => void

  constructor() {
    this.#tools = new Promise((resolve) => (this.open = resolve))
  }

  /** Answers one process that connected. */
  readonly serve = (socket: Socket): void => {
    const running = this.#tools
      .then((tools) => serveCommand(socket, tools))
      .catch(() => void socket.destroy())
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Waits for what is being done. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}

async function serveCommand(socket: Socket, tools: FileTools): Promise<void> {
  const incoming = linesOf(socket)
  const send = (message: Exclude<FromHolder, { pid: number }>) => write(socket, message)
  try {
    const first = await incoming.next()
    // Somebody only asked who holds the lock.
    if (first.done === true) return
    const { command, input } = JSON.parse(first.value) as { command: string; input: unknown }
    const talk: Conversation = {
      progress: (text) => void send({ progress: text }),
      write: (line) => send({ line }),
      lines: sentAlong(incoming),
    }
    await send({ result: (await runCommand(tools, command, input, talk)) ?? null })
  } catch (error) {
    const known = error instanceof OperatorError
    await send({ error: { code: known ? error.code : 'failed', message: (error as Error).message } }).catch(() => undefined)
  } finally {
    socket.end()
  }
}

/**
 * Has a command done by the holder.
 * @throws {OperatorError} as the command does
 */
export async function callHolder(path: string, command: string, input: unknown, talk: Conversation): Promise<unknown> {
  const socket = connect(path)
  await once(socket, 'connect')
  socket.on('error', () => socket.destroy())
  await write(socket, { command, input })
  void sendAlong(socket, talk.lines)
  for await (const text of linesOf(socket)) {
    const message = JSON.parse(text) as FromHolder
    if ('progress' in message) talk.progress(message.progress)
    else if ('line' in message) await talk.write(message.line)
    else if ('result' in message) return message.result
    else if ('error' in message) throw failure(message.error)
  }
  throw new Error('the process that has the folder went away')
}

function failure({ code, message }: Extract<FromHolder, { error: unknown }>['error']): Error {
  return code === 'failed' ? new Error(message) : new OperatorError(code, message)
}

async function* sentAlong(incoming: AsyncIterator<string>): AsyncGenerator<string> {
  for (let next = await incoming.next(); next.done !== true; next = await incoming.next()) {
    const message = JSON.parse(next.value) as { line?: string }
    if (message.line === undefined) return
    yield message.line
  }
}

async function sendAlong(socket: Socket, lines: AsyncIterable<string>): Promise<void> {
  try {
    for await (const line of lines) await write(socket, { line })
    await write(socket, { end: true })
  } catch {
    // The holder has answered already, or is gone: the other direction says which.
  }
}

async function write(socket: Socket, message: object): Promise<void> {
  if (!socket.writable) throw new Error('the other side has closed the connection')
  if (socket.write(`${JSON.stringify(message)}\n`)) return
  const closed = once(socket, 'close').then(() => {
    throw new Error('the other side has closed the connection')
  })
  await Promise.race([once(socket, 'drain'), closed])
}

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { StorageUnavailable } from '../store/port.ts'
import { linesOf } from './lines.ts'
import type { ServerMessage } from './rpc-server.ts'
import { AdminError, type CommandIo } from './deps.ts'
import { sendMessage } from './rpc-framing.ts'

/** Whoever holds the folder says who it is within this, in milliseconds, or is stopped. */
const ANSWER_WITHIN = 5000

/** The holder went away before it was asked anything: the folder may be free now. */
export class RpcServerGone extends Error {
  override readonly name = 'HolderGone'
}

/**
 * Has a command done by the holder of a folder.
 * @throws {AdminError} {@link StorageUnavailable} as the command does, and whatever reading `talk.lines` throws
 * @throws {RpcServerGone} where it certainly was not done
 */
export async function callRpcServer(path: string, command: string, input: unknown, talk: CommandIo): Promise<unknown> {
  const socket = connect(path)
  try {
    const incoming = linesOf(socket)
    await greeting(socket, incoming)
    const failed = sendAll(socket, { command, input }, talk.lines)
    return await Promise.race([listen(incoming, talk), failed])
  } finally {
    socket.destroy()
  }
}

async function greeting(socket: Socket, incoming: AsyncGenerator<string>): Promise<void> {
  const timer = setTimeout(
    () => socket.destroy(new StorageUnavailable('the process that has the folder does not answer; is it stopped?')),
    ANSWER_WITHIN,
  )
  try {
    await once(socket, 'connect')
    if ((await incoming.next()).done === true) throw new RpcServerGone('the process that had the folder has ended')
  } catch (error) {
    throw error instanceof StorageUnavailable ? error : new RpcServerGone('the process that had the folder has ended', { cause: error })
  } finally {
    clearTimeout(timer)
  }
  // From here on the end of the answers tells it.
  socket.on('error', () => undefined)
}

async function listen(incoming: AsyncGenerator<string>, talk: CommandIo): Promise<unknown> {
  try {
    for await (const text of incoming) {
      const message = JSON.parse(text) as ServerMessage
      if ('progress' in message) talk.progress(message.progress)
      else if ('line' in message) await talk.write(message.line)
      else if ('result' in message) return message.result
      else if ('error' in message) throw failure(message.error)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== 'read') throw error
  }
  throw new StorageUnavailable('the process that has the folder went away. It is not known whether this was done', { certain: false })
}

function failure({ code, message }: Extract<ServerMessage, { error: unknown }>['error']): Error {
  if (code === 'unavailable') return new StorageUnavailable(message)
  return code === 'failed' ? new Error(message) : new AdminError(code, message)
}

/** Sends the command and what goes along. Only what cannot be read here ends it; what the holder does, it says itself. */
function sendAll(socket: Socket, command: object, lines: AsyncIterable<string>): Promise<never> {
  return new Promise((_resolve, reject) => {
    const all = async (): Promise<void> => {
      await sendMessage(socket, command)
      const reading = lines[Symbol.asyncIterator]()
      for (;;) {
        const next = await reading.next().catch((error: unknown) => (reject(error), undefined))
        if (next === undefined) return
        if (next.done === true) break
        await sendMessage(socket, { line: next.value })
      }
      await sendMessage(socket, { end: true })
    }
    all().catch(() => undefined)
  })
}

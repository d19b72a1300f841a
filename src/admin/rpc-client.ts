import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connectTo } from '../store/fs/socket-address.ts'
import { StorageUnavailable } from '../store/port.ts'
import { AdminError, type CommandIo } from './deps.ts'
import { readLines, sendMessage, type ServerMessage } from './rpc-server.ts'

/** How long to wait for the server's greeting, in milliseconds. */
const GREETING_TIMEOUT = 5000

/** The RPC server ended before it received the command, so the folder may be free now. */
export class RpcServerGone extends Error {
  override readonly name = 'RpcServerGone'
}

/**
 * Runs a command in the process that holds a folder.
 * @param path the socket of the folder's lock
 * @throws {AdminError} {@link StorageUnavailable} as the command does, and errors of `io.lines`
 * @throws {RpcServerGone} if the command was certainly not run
 */
export async function callRpcServer(path: string, command: string, input: unknown, io: CommandIo): Promise<unknown> {
  const socket = connectTo(path)
  try {
    const incoming = readLines(socket)
    await awaitGreeting(socket, incoming)
    const inputFailed = sendRequest(socket, { command, input }, io.lines)
    return await Promise.race([receiveResult(incoming, io), inputFailed])
  } finally {
    socket.destroy()
  }
}

async function awaitGreeting(socket: Socket, incoming: AsyncGenerator<string>): Promise<void> {
  const timer = setTimeout(
    () => socket.destroy(new StorageUnavailable('the process that holds the folder does not respond; it may be suspended')),
    GREETING_TIMEOUT,
  )
  try {
    await once(socket, 'connect')
    if ((await incoming.next()).done === true) throw new RpcServerGone('the process that held the folder has ended')
  } catch (error) {
    throw error instanceof StorageUnavailable ? error : new RpcServerGone('the process that held the folder has ended', { cause: error })
  } finally {
    clearTimeout(timer)
  }
  // From here on `receiveResult` reports a lost connection.
  socket.on('error', () => undefined)
}

async function receiveResult(incoming: AsyncGenerator<string>, io: CommandIo): Promise<unknown> {
  try {
    for await (const text of incoming) {
      const message = JSON.parse(text) as ServerMessage
      if ('progress' in message) io.progress(message.progress)
      else if ('line' in message) await io.write(message.line)
      else if ('result' in message) return message.result
      else if ('error' in message) throw toError(message.error)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== 'read') throw error
  }
  throw new StorageUnavailable('the connection to the process that holds the folder was lost; the command may or may not have been run', {
    outcomeKnown: false,
  })
}

function toError({ code, message }: Extract<ServerMessage, { error: unknown }>['error']): Error {
  if (code === 'unavailable') return new StorageUnavailable(message)
  return code === 'failed' ? new Error(message) : new AdminError(code, message)
}

/**
 * Sends the command and its lines of input. The promise never resolves: it rejects if the input cannot be read. A
 * connection that cannot be written to is left to `receiveResult`, since the server may have sent its result.
 */
function sendRequest(socket: Socket, command: object, lines: AsyncIterable<string>): Promise<never> {
  return new Promise((_resolve, reject) => {
    const sendAll = async (): Promise<void> => {
      await sendMessage(socket, command)
      const iterator = lines[Symbol.asyncIterator]()
      for (;;) {
        const next = await iterator.next().catch((error: unknown) => (reject(error), undefined))
        if (next === undefined) return
        if (next.done === true) break
        await sendMessage(socket, { line: next.value })
      }
      await sendMessage(socket, { end: true })
    }
    sendAll().catch(() => undefined)
  })
}

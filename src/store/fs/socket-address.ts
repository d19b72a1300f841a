import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { connect, Socket, type Server } from 'node:net'
import { basename, dirname } from 'node:path'

/** Maximum length of a socket path in bytes, on macOS. Operating systems truncate longer paths silently. */
const MAX_SOCKET_PATH = 103
/** On Linux, each folder that a process has opened is also here, under the number of its descriptor. */
const DESCRIPTORS = '/proc/self/fd'

/** The path of a socket, as the operating system takes it. */
interface SocketAddress {
  readonly path: string
  /** The path has no meaning any more. */
  readonly close: () => void
}

/**
 * Refuses a path of a socket that cannot be listened on.
 * @param folder what the message names
 * @throws {RangeError} if it is too long, and the system has no shorter one for it
 */
export function requireUsable(path: string, folder: string, descriptors: string = DESCRIPTORS): void {
  const size = Buffer.byteLength(path)
  if (size > MAX_SOCKET_PATH && !existsSync(descriptors))
    throw new RangeError(`${folder} is too long: a socket path in it is limited to ${MAX_SOCKET_PATH} bytes and would have ${size}`)
}

/** Connects to a socket. All errors are events. */
export function connectTo(path: string): Socket {
  let address: SocketAddress
  try {
    address = addressOf(path)
  } catch (error) {
    return new Socket().destroy(error as Error)
  }
  const socket = connect(address.path)
  // The system call was made.
  address.close()
  return socket
}

/**
 * Listens on a socket in this process, also in a worker of a cluster: the primary has other descriptors.
 * @returns stops listening and removes the socket; existing connections stay open
 * @throws {Error} if its folder cannot be opened
 */
export function listenAt(server: Server, path: string, listening: () => void): () => void {
  const address = addressOf(path)
  server.once('error', address.close)
  server.listen({ path: address.path, exclusive: true }, () => {
    server.off('error', address.close)
    listening()
  })
  return () => {
    // Node.js removes the socket by the path that it got.
    server.close()
    address.close()
  }
}

/** @throws {Error} if the folder of a long path cannot be opened */
function addressOf(path: string): SocketAddress {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) return { path, close: () => undefined }
  const descriptor = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY)
  let isOpen = true
  return {
    path: `${DESCRIPTORS}/${descriptor}/${basename(path)}`,
    close() {
      // The number may belong to another file once it is closed.
      if (isOpen) closeSync(descriptor)
      isOpen = false
    },
  }
}

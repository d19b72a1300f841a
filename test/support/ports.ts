import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Ports below those that Linux, macOS and Windows assign by themselves: no connection of another test takes the port of a server
 * that is stopped for a while.
 */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_000]

/** A free port of the loopback interface. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

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

/** The port of the bus of a cluster's node, without a setting, which Redis 6 does not have: so much above the port of its clients. */
const BUS = 10_000

/** A free port of a cluster's node. The port of its bus is free too. */
export async function freePortOfNode(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT - BUS)
    if ((await isFree(port)) && (await isFree(port + BUS))) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

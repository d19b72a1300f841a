import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { connectionLimit, descriptorLimit } from '../../src/model/descriptors.ts'
import { startService, type RunningProcess } from '../support/process.ts'

const limits = (line: string) =>
  `Limit                     Soft Limit           Hard Limit           Units\n${line}\nMax locked memory 8 8 bytes\n`

test.each<readonly [string, number | undefined]>([
  [limits('Max open files            1024                 1048576              files     '), 1024],
  [limits('Max open files            70                   70                   files     '), 70],
  [limits('Max open files            unlimited            unlimited            files     '), Infinity],
  ['', undefined],
])('the limit of descriptors is read from %j', (text, limit) => {
  expect(descriptorLimit(() => text)).toBe(limit)
})

test('without the file that has it, the limit is not known', () => {
  expect(
    descriptorLimit(() => {
      throw new Error('ENOENT')
    }),
  ).toBeUndefined()
})

test.each<readonly [limit: number | undefined, used: number, connections: number | undefined]>([
  [undefined, 20, undefined],
  [Infinity, 20, undefined],
  [1_048_576, 26, 1_048_576 - 26 - 128],
  [1024, 24, 872],
  [256, 24, 104],
  [200, 24, 48],
  [70, 22, 12],
  [40, 20, 8],
])('of %s descriptors with %s in use, connections may take %s', (limit, used, connections) => {
  expect(connectionLimit(limit, used)).toBe(connections)
})

let service: RunningProcess | undefined
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await service?.stop('SIGKILL')
})

test.runIf(process.platform === 'linux')(
  'connections that take all descriptors end no service, and leave enough for its later loads',
  async () => {
    const started = await startService(['--demo'], { LANEKEEPER_LOG: 'info' }, { descriptors: 70 })
    service = started
    const { hostname, port } = new URL(started.url)
    // From the moment when it is ready: modules that are loaded late come after it.
    for (let i = 0; i < 150; i++) sockets.push(connect(Number(port), hostname).on('error', () => undefined))
    await expect.poll(() => started.stderr(), { timeout: 60_000 }).toContain('"event":"service.loaded"')
    expect(started.stderr()).toMatch(/"event":"descriptors\.few","limit":70,/)
    expect(started.stderr()).toContain('"event":"connections.refused"')
    expect(started.child.exitCode).toBeNull()
    for (const socket of sockets.splice(0)) {
      if (!socket.destroyed) socket.destroy()
      if (!socket.closed) await once(socket, 'close')
    }
    const paths = ['/settings/sign-in', '/docs', '/policies', '/openapi.json', '/readyz']
    // A connection that was refused is tried again: the service may not have seen yet that the others have ended.
    const statusOf = async (path: string) => (await fetch(started.url + path).catch(() => undefined))?.status
    for (const path of paths) await expect.poll(() => statusOf(path)).toBe(200)
  },
)

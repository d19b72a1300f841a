import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { CommandFailed, Pool } from '../../src/store/redis/pool.ts'
import { quiet } from '../support/log.ts'

// A Redis that is defective, or another program. What its replies cost is limited by the timeout of a command; here, that they do not end
// the process.
describe('a reply of Redis', () => {
  test.each<[what: string, reply: string]>([
    ['with lists in lists, without end', '*1\r\n'.repeat(100_000)],
    ['with a list of more members than there can be', '*99999999999\r\n'],
    ['of an unknown type', '!3\r\n'],
  ])('%s ends its connection, and the next command has another one', async (_what, reply) => {
    let isDefective = false
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (data) => {
        // One reply for each command.
        for (const [, name = ''] of data.toString().matchAll(/^\*\d+\r\n\$\d+\r\n(\w+)/gm)) {
          if (name === 'info') socket.write('$14\r\nredis_mode:x\r\n\r\n')
          else socket.write(isDefective ? reply : '+OK\r\n')
        }
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const pool = await Pool.open(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`, 1, quiet)
    isDefective = true
    await expect(pool.run((client) => client.get('key'))).rejects.toBeInstanceOf(CommandFailed)
    isDefective = false
    const again = () => pool.run((client) => client.get('key')).catch(() => undefined)
    await expect.poll(again, { interval: 10 }).toBe('OK')
    pool.close()
    server.close()
  })
})

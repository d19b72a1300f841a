import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { inspect } from 'node:util'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BadAddress, kindOf, openStorage } from '../../src/store/open.ts'
import { quiet } from '../support/log.ts'
import { BadRedisUrl, driverFor } from '../../src/store/redis/client.ts'
import { freePort, sharedRedis, startRedis } from '../support/redis.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lanekeeper-open-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function* piece(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

describe('bytes of files on a mount of their own', () => {
  test.each([
    ['a folder', (at: string) => `fs:${at}/elsewhere`],
    ["a driver of unstorage's, by its name and options", (at: string) => `fs-lite:${JSON.stringify({ base: `${at}/elsewhere` })}`],
  ])('%s', async (_name, address) => {
    for (const records of [`fs:${folder}/data`, 'memory']) {
      const options = { log: quiet, bytes: address(folder) }
      const storage = await openStorage(records, options)
      await storage.blobs.write('blb_00000000000000000000', piece('here'))
      await storage.close()
      expect(await readdir(folder)).toContain('elsewhere')
      const again = await openStorage(records, options)
      const read: string[] = []
      for await (const chunk of again.blobs.read('blb_00000000000000000000', 0, 4)) read.push(Buffer.from(chunk).toString())
      expect(read.join('')).toBe('here')
      await again.blobs.remove('blb_00000000000000000000')
      await again.close()
    }
  })

  test('a Redis, of records in a folder', async () => {
    const storage = await openStorage(`fs:${folder}/data`, { log: quiet, bytes: await sharedRedis() })
    await storage.blobs.write('blb_00000000000000000001', piece('there'))
    for await (const chunk of storage.blobs.read('blb_00000000000000000001', 0, 5)) expect(Buffer.from(chunk).toString()).toBe('there')
    await storage.blobs.remove('blb_00000000000000000001')
    await storage.close()
    expect(await readdir(`${folder}/data`)).not.toContain('bytes')
  })

  test.each([
    ['nonsense', /^bytes: it is none of memory, fs:PATH.*DRIVER:\{JSON options\}/],
    ['memory', /^bytes: in memory they would be gone/],
    ['nonsense:{}', /no driver "nonsense"/],
    ['constructor:{}', /no driver "constructor"/],
    ['fs-lite:{"base":}', /the driver "fs-lite" cannot be made: its options are no JSON/],
    ['s3:{"secretAccessKey":"hunter2"}', /the driver "s3" cannot be made/],
  ])('an address that is none: %s', async (bytes, message) => {
    const refused = openStorage(`fs:${folder}/data`, { log: quiet, bytes })
    await expect(refused).rejects.toThrow(BadAddress)
    await expect(refused).rejects.toThrow(message)
    await expect(refused).rejects.not.toThrow(/hunter2/)
    // What was opened before it is let go again.
    await (await openStorage(`fs:${folder}/data`, { log: quiet })).close()
  })
})

describe('records and their bytes', () => {
  const open = (bytes?: string) => openStorage(`fs:${folder}/data`, { log: quiet, bytes })
  test.each([
    ['elsewhere, and then beside the records', 'a', undefined],
    ['beside the records, and then elsewhere', undefined, 'a'],
    ['elsewhere, and then somewhere else', 'a', 'b'],
  ])('are kept together: %s', async (_what, first, second) => {
    const at = (name: string | undefined) => (name === undefined ? undefined : `fs:${folder}/${name}`)
    await (await open(at(first))).close()
    await expect(open(at(second))).rejects.toThrow('the bytes of files are not where --bytes')
    await (await open(at(first))).close()
  })
})

test('a folder that the shell would have found elsewhere is none', () => expect(() => kindOf('fs:~/data')).toThrow('"~"'))

test.each([
  ['redis://admin:hunter2@127.0.0.1:99999', /host and port cannot be read/],
  ['redis://admin:hunter2@[::1', /host and port cannot be read/],
  ['redis://admin:hunter2@127.0.0.1/production', /no number of a database/],
])('an address of a Redis that cannot be read says nothing of its password: %s', async (address, message) => {
  const refused = openStorage(address, { log: quiet })
  await expect(refused).rejects.toThrow(message)
  await refused.catch((error: unknown) => expect(inspect(error)).not.toContain('hunter2'))
})

test('nodes are named by name or address, with a port or without', () => {
  const cluster = driverFor('redis-cluster://a.example:7000,[::1]:7001,192.0.2.1').getInstance() as unknown as { startupNodes: unknown }
  expect(cluster.startupNodes).toEqual([
    { host: 'a.example', port: 7000 },
    { host: '::1', port: 7001 },
    { host: '192.0.2.1', port: 6379 },
  ])
  for (const nodes of ['', 'a:', 'a:x', '::1', '[::1', 'a,,b']) expect(() => driverFor(`redis-cluster://${nodes}`)).toThrow(BadRedisUrl)
})

test('a database that a Redis does not have is not another one', async () => {
  await expect(openStorage(`${await sharedRedis()}/99`, { log: quiet })).rejects.toThrow(/out of range/)
})

test('a Redis that is full can still be opened, and saved', async () => {
  const redis = await startRedis()
  await (await openStorage(redis.url, { log: quiet })).close()
  const client = new Redis(redis.url)
  await client.config('SET', 'maxmemory', '1')
  const storage = await openStorage(redis.url, { log: quiet })
  for await (const piece of storage.store.dump('global')) expect(piece.map(([key]) => key)).toEqual(['bytes_mount:self'])
  await expect(storage.store.ready()).rejects.toThrow('Redis refused')
  await storage.close()
  client.disconnect()
  await redis.stop()
})

test('sentinels that lead nowhere are not asked for ever', async () => {
  const port = await freePort()
  await expect(openStorage(`redis-sentinel://127.0.0.1:${port}/main`, { log: quiet })).rejects.toThrow(/cannot be reached/)
}, 30_000)

test.each([
  ['memory', 'memory'],
  ['fs:data', 'fs'],
  ['fs:/var/lib/lanekeeper', 'fs'],
  ['redis://localhost', 'redis'],
  ['rediss://user:password@host:6380/1', 'redis'],
  ['redis-cluster://a:1,b:2', 'redis'],
  ['redis-sentinel://a:1,b:2/name', 'redis'],
])('%s leads to %s', (address, kind) => expect(kindOf(address)).toBe(kind))

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { inspect } from 'node:util'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { FIRST_VERSION, SCHEMA_VERSION } from '../../src/store/migrations/list.ts'
import { BadAddress, kindOf, openStorage } from '../../src/store/open.ts'
import { transact } from '../../src/store/transact.ts'
import { BadRedisUrl, createRedisDriver } from '../../src/store/redis/client.ts'
import { sharedRedis } from '../support/redis-driver.ts'
import { quiet } from '../support/log.ts'
import { freePort, startRedis } from '../support/redis.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lanekeeper-open-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function* stream(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

describe('bytes of files on a separate mount', () => {
  test.each([
    ['a folder', (at: string) => `fs:${at}/elsewhere`],
    ['a driver of unstorage with options', (at: string) => `fs-lite:${JSON.stringify({ base: `${at}/elsewhere` })}`],
  ])('bytes can be stored in %s', async (_name, address) => {
    for (const records of [`fs:${folder}/data`, 'memory']) {
      const options = { log: quiet, bytes: address(folder) }
      const storage = await openStorage(records, options)
      await storage.blobs.write('blb_00000000000000000000', stream('here'))
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

  test('bytes can be stored in Redis when the records are in a folder', async () => {
    const storage = await openStorage(`fs:${folder}/data`, { log: quiet, bytes: sharedRedis() })
    await storage.blobs.write('blb_00000000000000000001', stream('there'))
    for await (const chunk of storage.blobs.read('blb_00000000000000000001', 0, 5)) expect(Buffer.from(chunk).toString()).toBe('there')
    await storage.blobs.remove('blb_00000000000000000001')
    await storage.close()
    expect(await readdir(`${folder}/data`)).not.toContain('bytes')
  })

  test.each([
    ['nonsense', /^bytes: invalid address; expected memory, fs:PATH.*DRIVER:\{JSON options\}/],
    ['memory', /^bytes: "memory" is allowed only for records in memory/],
    ['nonsense:{}', /no driver "nonsense"/],
    ['constructor:{}', /no driver "constructor"/],
    ['fs-lite:{"base":}', /the driver "fs-lite" cannot be created: its options are not valid JSON/],
    ['s3:{"secretAccessKey":"hunter2"}', /the driver "s3" cannot be created/],
  ])('the invalid address of bytes %s is refused', async (bytes, message) => {
    const opening = openStorage(`fs:${folder}/data`, { log: quiet, bytes })
    await expect(opening).rejects.toThrow(BadAddress)
    await expect(opening).rejects.toThrow(message)
    await expect(opening).rejects.not.toThrow(/hunter2/)
    // The lock of the folder has been released.
    await (await openStorage(`fs:${folder}/data`, { log: quiet })).close()
  })
})

describe('the association of a storage with its bytes', () => {
  const open = (bytes?: string) => openStorage(`fs:${folder}/data`, { log: quiet, bytes })
  test.each([
    ['from another folder to the default', 'a', undefined],
    ['from the default to another folder', undefined, 'a'],
    ['from one folder to another', 'a', 'b'],
  ])('changing the address of bytes is refused: %s', async (_what, first, second) => {
    const addressOf = (name: string | undefined) => (name === undefined ? undefined : `fs:${folder}/${name}`)
    await (await open(addressOf(first))).close()
    await expect(open(addressOf(second))).rejects.toThrow('the bytes of files of this storage are at another address')
    await (await open(addressOf(first))).close()
  })
})

test('an address with a "~" that the shell did not expand is refused', () => expect(() => kindOf('fs:~/data')).toThrow('"~"'))

test.each([
  ['redis://admin:hunter2@127.0.0.1:99999', /invalid host or port/],
  ['redis://admin:hunter2@[::1', /invalid host or port/],
  ['redis://admin:hunter2@127.0.0.1/production', /must be the number of a database/],
])('the error for an invalid Redis address does not contain the password: %s', async (address, message) => {
  const opening = openStorage(address, { log: quiet })
  await expect(opening).rejects.toThrow(message)
  await opening.catch((error: unknown) => expect(inspect(error)).not.toContain('hunter2'))
})

test('cluster nodes are given by name or IP address, with or without a port', () => {
  const cluster = createRedisDriver('redis-cluster://a.example:7000,[::1]:7001,192.0.2.1').getInstance() as unknown as {
    startupNodes: unknown
  }
  expect(cluster.startupNodes).toEqual([
    { host: 'a.example', port: 7000 },
    { host: '::1', port: 7001 },
    { host: '192.0.2.1', port: 6379 },
  ])
  for (const nodes of ['', 'a:', 'a:x', '::1', '[::1', 'a,,b'])
    expect(() => createRedisDriver(`redis-cluster://${nodes}`)).toThrow(BadRedisUrl)
})

test('an address with a database number that Redis does not have is refused', async () => {
  await expect(openStorage(`${sharedRedis()}/9999`, { log: quiet })).rejects.toThrow(/out of range/)
})

test('a Redis that is out of memory can be opened and dumped', async () => {
  const redis = await startRedis()
  await (await openStorage(redis.url, { log: quiet })).close()
  const client = new Redis(redis.url)
  await client.config('SET', 'maxmemory', '1')
  const storage = await openStorage(redis.url, { log: quiet })
  for await (const batch of storage.store.dump('global')) expect(batch.map(([key]) => key)).toEqual(['bytes_mount:self', 'schema:self'])
  await expect(storage.store.ready()).rejects.toThrow('Redis refused')
  await storage.close()
  client.disconnect()
  await redis.stop()
})

test.each([
  ['notes.txt', 'mine', 'is not empty and contains no Lanekeeper data: notes.txt'],
  [
    'format.json',
    '{"lanekeeper":4}\n',
    'has format 4, and this version of Lanekeeper reads format 3: use the version of Lanekeeper that wrote it',
  ],
  [
    'format.json',
    '{"lanekeeper":2}\n',
    'has format 2, and this version of Lanekeeper reads format 3: use the version of Lanekeeper that wrote it',
  ],
  ['format.json', '', 'has an unreadable format.json'],
])('a folder whose %s is %j is refused, and nothing is created in it', async (name, content, message) => {
  await writeFile(`${folder}/${name}`, content)
  const refusal = { name: 'UnusableFolder', message: expect.stringContaining(message) }
  await expect(openStorage(`fs:${folder}`, { log: quiet })).rejects.toMatchObject(refusal)
  expect([await readdir(folder), await readFile(`${folder}/${name}`, 'utf8')]).toEqual([[name], content])
})

test('a folder whose first start crashed can be opened', async () => {
  for (const name of ['journal', 'records', 'bytes', 'run']) await mkdir(`${folder}/${name}`)
  await writeFile(`${folder}/.format.json.tmp`, '{"lane')
  await (await openStorage(`fs:${folder}`, { log: quiet })).close()
  expect(await readdir(folder)).not.toContain('.format.json.tmp')
})

describe.each(['a folder', 'a Redis'])('records of another version in %s', (kind) => {
  test.each([undefined, FIRST_VERSION - 1, SCHEMA_VERSION + 1])(
    'version %s is refused at every opening, and nothing is changed',
    async (version) => {
      const redis = kind === 'a Redis' ? await startRedis() : undefined
      const address = redis?.url ?? `fs:${folder}/data`
      const storage = await openStorage(address, { log: quiet })
      await transact(storage.store, GLOBAL, systemRandom, async (tx) => {
        await tx.get(keys.schema())
        if (version === undefined) tx.remove(keys.schema())
        else tx.put(keys.schema(), { version })
      })
      await storage.close()
      const content = async () => {
        const { store, close } = await openStorage(address, { log: quiet, allowOutdated: true })
        const records: unknown[] = []
        for (const name of await store.partitions()) for await (const batch of store.dump(name)) records.push([name, batch])
        await close()
        return records
      }
      const before = await content()
      for (let attempt = 1; attempt <= 2; attempt++)
        await expect(openStorage(address, { log: quiet })).rejects.toMatchObject({
          name: 'UnsupportedSchema',
          message: expect.stringMatching(/: use the version of Lanekeeper that wrote them, or another storage$/),
        })
      expect(await content()).toEqual(before)
      await redis?.stop()
    },
  )
})

test('opening fails after a timeout when no sentinel can be reached', async () => {
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
])('the address %s is of the kind %s', (address, kind) => expect(kindOf(address)).toBe(kind))

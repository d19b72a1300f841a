import { readdir, writeFile } from 'node:fs/promises'
import { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { createDerivations } from '../../src/resources/derived.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { SCHEMA_VERSION } from '../../src/store/migrations/list.ts'
import { BadAddress, kindOf, openStorage } from '../../src/store/open.ts'
import { transact } from '../../src/store/transact.ts'
import { sharedRedis } from '../support/redis-driver.ts'
import { quiet } from '../support/log.ts'
import { eachInFolder } from '../support/temporary-folder.ts'
import { freePort } from '../support/ports.ts'
import { startRedis } from '../support/redis.ts'

let folder: string
eachInFolder((created) => (folder = created))

async function* stream(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

describe('bytes of files on a separate mount', () => {
  test.each([
    ['a folder', (at: string) => `fs:${at}/elsewhere`],
    ['a driver of unstorage with options', (at: string) => `fs-lite:${JSON.stringify({ base: `${at}/elsewhere` })}`],
  ])('bytes can be stored in %s', async (_name, address) => {
    for (const records of [`fs:${folder}/data`, 'memory']) {
      const options = { log: quiet, derived: createDerivations(), bytes: address(folder) }
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
    const storage = await openStorage(`fs:${folder}/data`, { log: quiet, derived: createDerivations(), bytes: sharedRedis() })
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
    const opening = openStorage(`fs:${folder}/data`, { log: quiet, derived: createDerivations(), bytes })
    await expect(opening).rejects.toThrow(BadAddress)
    await expect(opening).rejects.toThrow(message)
    await expect(opening).rejects.not.toThrow(/hunter2/)
    // The lock of the folder has been released.
    await (await openStorage(`fs:${folder}/data`, { log: quiet, derived: createDerivations() })).close()
  })
})

describe('the association of a storage with its bytes', () => {
  const open = (bytes?: string) => openStorage(`fs:${folder}/data`, { log: quiet, derived: createDerivations(), bytes })
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

test('a Redis that is out of memory can be opened and dumped', async () => {
  const redis = await startRedis()
  await (await openStorage(redis.url, { log: quiet, derived: createDerivations() })).close()
  const client = new Redis(redis.url)
  await client.config('SET', 'maxmemory', '1')
  const storage = await openStorage(redis.url, { log: quiet, derived: createDerivations() })
  for await (const batch of storage.store.dump('global')) expect(batch.map(([key]) => key)).toEqual(['bytes_mount:self', 'schema:self'])
  await expect(storage.store.ready()).rejects.toThrow('Redis refused')
  await storage.close()
  client.disconnect()
  await redis.stop()
})

// What is refused in a folder: fs-folder.test.ts.
test('a folder with other files is refused, and nothing is created in it', async () => {
  await writeFile(`${folder}/notes.txt`, 'mine')
  const refusal = { name: 'UnusableFolder', message: expect.stringContaining('contains no Lanekeeper data: notes.txt') }
  await expect(openStorage(`fs:${folder}`, { log: quiet, derived: createDerivations() })).rejects.toMatchObject(refusal)
  expect(await readdir(folder)).toEqual(['notes.txt'])
})

// Each version that is refused, on each driver: migrations.test.ts.
test('records of another version are refused at every opening', async () => {
  const address = `fs:${folder}/data`
  const storage = await openStorage(address, { log: quiet, derived: createDerivations() })
  await transact(storage.store, GLOBAL, systemRandom, async (tx) => {
    await tx.get(keys.schema())
    tx.put(keys.schema(), { version: SCHEMA_VERSION + 1 })
  })
  await storage.close()
  for (let attempt = 1; attempt <= 2; attempt++)
    await expect(openStorage(address, { log: quiet, derived: createDerivations() })).rejects.toMatchObject({ name: 'UnsupportedSchema' })
  await (await openStorage(address, { log: quiet, derived: createDerivations(), allowOutdated: true })).close()
})

test('opening fails after a timeout when no sentinel can be reached', async () => {
  const port = await freePort()
  await expect(openStorage(`redis-sentinel://127.0.0.1:${port}/main`, { log: quiet, derived: createDerivations() })).rejects.toThrow(
    /cannot be reached/,
  )
}, 30_000)

test.each([
  ['memory', 'memory'],
  ['fs:data', 'fs'],
  ['fs:/var/lib/lanekeeper', 'fs'],
  ['redis://localhost', 'redis'],
  ['rediss://user:password@host:6380/1', 'redis'],
  ['valkey://localhost', 'redis'],
  ['valkeys://localhost', 'redis'],
  ['valkey-cluster://a:1,b:2', 'redis'],
  ['unix:///run/redis.sock', 'redis'],
  ['redis+unix:///run/redis.sock?db=3', 'redis'],
  ['redis-cluster://a:1,b:2', 'redis'],
  ['redis-sentinel://a:1,b:2/name', 'redis'],
])('the address %s is of the kind %s', (address, kind) => expect(kindOf(address)).toBe(kind))

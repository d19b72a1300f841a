import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BadAddress, kindOf, openStorage } from '../../src/store/open.ts'
import { quiet } from '../support/log.ts'
import { sharedRedis } from '../support/redis.ts'

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
    ['nonsense', /it is none of memory, fs:PATH/],
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

test.each([
  ['memory', 'memory'],
  ['fs:data', 'fs'],
  ['fs:/var/lib/lanekeeper', 'fs'],
  ['redis://localhost', 'redis'],
  ['rediss://user:password@host:6380/1', 'redis'],
  ['redis-cluster://a:1,b:2', 'redis'],
  ['redis-sentinel://a:1,b:2/name', 'redis'],
])('%s leads to %s', (address, kind) => expect(kindOf(address)).toBe(kind))

import { describe, expect, test } from 'vitest'
import { createBlobs, type Blobs } from '../../src/store/blobs.ts'
import { createFsBlobDriver } from '../../src/store/fs/blob-driver.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { seededRandom } from '../support/random.ts'

const BASE = '/var/data/bytes'
const CHUNK_SIZE = 256 * 1024
const blobsOn = (disk: FaultyDisk) => createBlobs(createFsBlobDriver(BASE, disk))
const contentOf = (fill: number, chunks: number) => Buffer.alloc(chunks * CHUNK_SIZE - 100, fill)
// oxlint-disable-next-line require-yield -- one part is enough
async function* stream(content: Buffer): AsyncGenerator<Uint8Array> {
  yield content
}
const write = (blobs: Blobs, id: string, content: Buffer) => blobs.write(id, stream(content))
const read = async (blobs: Blobs, id: string, size: number) => {
  const parts: Uint8Array[] = []
  for await (const part of blobs.read(id, 0, size)) parts.push(part)
  return Buffer.concat(parts)
}
/** A disk where the parent folder exists and is synced. */
async function diskWithFolder(seed: number): Promise<FaultyDisk> {
  const disk = new FaultyDisk(seed)
  await disk.makeFolder('/var/data')
  return disk.after('all kept')
}

describe('blobs in a folder', () => {
  test('a concurrent write and removal in the same folder both succeed', async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const disk = await diskWithFolder(seed)
      const driver = createFsBlobDriver(BASE, disk)
      await driver.setItemRaw!('b1:0', Buffer.from('old'), {})
      await Promise.all([driver.removeItem!('b1:0', {}), driver.setItemRaw!('b1:1', Buffer.from('new'), {})])
      const recovered = createFsBlobDriver(BASE, disk.after('nothing kept'))
      expect(String(await recovered.getItemRaw!('b1:1', {}))).toBe('new')
    }
  })

  test('a written blob survives a crash at any operation before and after its write', async () => {
    let operations = Infinity
    for (let at = 1; at <= operations; at++) {
      const disk = await diskWithFolder(at)
      const written: string[] = []
      disk.fault = { at, kind: 'crash' }
      const beforeCrash = blobsOn(disk)
      for (const [i, id] of ['b1', 'b2'].entries()) {
        await write(beforeCrash, id, contentOf(i, 2)).then(
          () => written.push(id),
          () => undefined,
        )
      }
      if (disk.operations < at) operations = at
      disk.fault = undefined
      const afterCrash = blobsOn(disk)
      await write(afterCrash, 'b3', contentOf(2, 1))
      for (const loss of ['nothing kept', seededRandom(at), 'all kept'] as const) {
        const recovered = blobsOn(disk.after(loss))
        for (const id of [...written, 'b3']) {
          const content = id === 'b3' ? contentOf(2, 1) : contentOf(Number(id.at(-1)) - 1, 2)
          expect((await read(recovered, id, content.byteLength)).equals(content)).toBe(true)
        }
      }
    }
    expect(operations).toBeGreaterThan(20)
  })

  test('a write on a failing disk throws StorageUnavailable', async () => {
    for (const kind of ['EIO', 'ENOSPC'] as const) {
      for (let at = 1; at < 12; at++) {
        const disk = await diskWithFolder(at)
        disk.fault = { at, kind, permanent: true, effect: 'partial' }
        const outcome = await write(blobsOn(disk), 'b1', contentOf(1, 1)).catch((error: unknown) => error)
        expect([at, outcome instanceof StorageUnavailable]).toEqual([at, disk.failed !== undefined])
        disk.fault = undefined
        const blobs = blobsOn(disk)
        await write(blobs, 'b1', contentOf(1, 1))
        expect((await read(blobsOn(disk.after('nothing kept')), 'b1', CHUNK_SIZE - 100)).equals(contentOf(1, 1))).toBe(true)
      }
    }
  })
})

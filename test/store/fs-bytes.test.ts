import { describe, expect, test } from 'vitest'
import { createBlobs, type Blobs } from '../../src/store/blobs.ts'
import { durableDriver } from '../../src/store/fs/blob-driver.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { dice } from '../support/random.ts'

const BASE = '/var/data/bytes'
const PIECE = 256 * 1024
const blobsOn = (disk: FaultyDisk) => createBlobs(durableDriver(BASE, disk))
const bytes = (of: number, pieces: number) => Buffer.alloc(pieces * PIECE - 100, of)
// oxlint-disable-next-line require-yield -- one piece is all
async function* stream(content: Buffer): AsyncGenerator<Uint8Array> {
  yield content
}
const write = (blobs: Blobs, id: string, content: Buffer) => blobs.write(id, stream(content))
const read = async (blobs: Blobs, id: string, size: number) => {
  const parts: Uint8Array[] = []
  for await (const part of blobs.read(id, 0, size)) parts.push(part)
  return Buffer.concat(parts)
}
/** A disk on which the folder is there, and safe. */
async function diskWithFolder(seed: number): Promise<FaultyDisk> {
  const disk = new FaultyDisk(seed)
  await disk.makeFolder('/var/data')
  return disk.after('all kept')
}

describe('bytes in a folder', () => {
  test('the folder goes with the last of them, and with what a write that was broken off left there', async () => {
    const disk = await diskWithFolder(1)
    const blobs = blobsOn(disk)
    await write(blobs, 'b1', bytes(1, 2))
    await write(blobs, 'b2', bytes(2, 1))
    await disk.create(`${BASE}/b1/.2.tmp`)
    await blobs.remove('b1')
    expect(await disk.list(BASE)).toEqual(['b2'])
    // Whoever was told so forgets it.
    expect(await disk.after('nothing kept').list(BASE)).toEqual(['b2'])
    await blobs.remove('b1')
  })

  test('a write and a removal of the same do not disturb each other', async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const disk = await diskWithFolder(seed)
      const driver = durableDriver(BASE, disk)
      await driver.setItemRaw!('b1:0', Buffer.from('old'), {})
      await Promise.all([driver.removeItem!('b1:0', {}), driver.setItemRaw!('b1:1', Buffer.from('new'), {})])
      const left = durableDriver(BASE, disk.after('nothing kept'))
      expect(String(await left.getItemRaw!('b1:1', {}))).toBe('new')
    }
  })

  test('what was written survives, wherever it was killed before and after', async () => {
    let operations = Infinity
    for (let at = 1; at <= operations; at++) {
      const disk = await diskWithFolder(at)
      const done: string[] = []
      disk.fault = { at, kind: 'dies' }
      const first = blobsOn(disk)
      for (const [i, id] of ['b1', 'b2'].entries()) {
        await write(first, id, bytes(i, 2)).then(
          () => done.push(id),
          () => undefined,
        )
      }
      if (disk.operations < at) operations = at
      disk.fault = undefined
      const second = blobsOn(disk)
      await write(second, 'b3', bytes(2, 1))
      for (const loss of ['nothing kept', dice(at), 'all kept'] as const) {
        const found = blobsOn(disk.after(loss))
        for (const id of [...done, 'b3']) {
          const content = id === 'b3' ? bytes(2, 1) : bytes(Number(id.at(-1)) - 1, 2)
          expect((await read(found, id, content.byteLength)).equals(content)).toBe(true)
        }
      }
    }
    expect(operations).toBeGreaterThan(20)
  })

  test('a disk that fails is no success, and told as storage that is away', async () => {
    for (const kind of ['EIO', 'ENOSPC'] as const) {
      for (let at = 1; at < 12; at++) {
        const disk = await diskWithFolder(at)
        disk.fault = { at, kind, forever: true, done: 'part' }
        const outcome = await write(blobsOn(disk), 'b1', bytes(1, 1)).catch((error: unknown) => error)
        expect([at, outcome instanceof StorageUnavailable]).toEqual([at, disk.failed !== undefined])
        disk.fault = undefined
        const blobs = blobsOn(disk)
        await write(blobs, 'b1', bytes(1, 1))
        expect((await read(blobsOn(disk.after('nothing kept')), 'b1', PIECE - 100)).equals(bytes(1, 1))).toBe(true)
      }
    }
  })
})

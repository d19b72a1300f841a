import { writeFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { readCheckpoint, writeCheckpoint, type MapPartition } from '../../src/store/fs/checkpoint.ts'
import { realDisk } from '../../src/store/fs/disk.ts'
import { StorageDamaged } from '../../src/store/fs/journal.ts'
import { Partition } from '../../src/store/partition.ts'
import type { Stored } from '../../src/store/port.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { eachInFolder } from '../support/temporary-folder.ts'
import { diskError, recordDisk } from '../support/recording-disk.ts'

const diskWithFolder = async () => {
  const disk = new FaultyDisk(1)
  await disk.makeFolder('/d')
  return disk
}
/** A partition that is filled with records and indexes. */
function partition(records: number, indexes: number): MapPartition {
  const state = new Partition(new Map<string, Stored>()) as MapPartition
  for (let i = 0; i < records; i++) state.records.set(`k:${i}`, { revision: `r${i}`, value: { n: i, tags: ['é', '\n'] } })
  for (let i = 0; i < indexes; i++)
    state.apply({ revision: 'x', put: new Map(), remove: new Set(), indexes: new Map([[`i${i}`, { add: ['b 2', `a ${i}`], remove: [] }]]) })
  return state
}
const contentOf = ({ records, indexes }: MapPartition) => [
  [...records],
  [...indexes].map(([name, index]) => [name, index.revision, index.all()]),
]
const withChecksum = (text: string) => `${text}{"crc":"${crc32(text).toString(16).padStart(8, '0')}"}\n`
const header = (members: object = {}) => `${JSON.stringify({ format: 1, partition: 'p1', sequence: 7, ...members })}\n`
const read = async (text: string) => {
  const disk = await diskWithFolder()
  await (await disk.create('/d/p1')).write(Buffer.from(text))
  return readCheckpoint(disk, '/d', 'p1')
}

describe('a checkpoint', () => {
  test('it consists of a header, the records, the indexes, the frame at its end and a checksum', async () => {
    const disk = await diskWithFolder()
    const size = await writeCheckpoint(disk, '/d', 'p1', partition(1, 1), 7, () => 9)
    const bytes = (await disk.read('/d/p1'))!
    expect(size).toBe(bytes.byteLength)
    expect(bytes.toString()).toBe(
      withChecksum(`${header()}{"k":"k:0","r":"r0","v":{"n":0,"tags":["é","\\n"]}}\n{"i":"i0","r":"x","e":["a 0","b 2"]}\n{"end":9}\n`),
    )
  })

  test.each([
    ['nothing', 0, 0, [2]],
    ['records in one chunk', 498, 0, [500]],
    ['records that fill one chunk', 499, 0, [500, 1]],
    ['records in two chunks', 500, 0, [500, 2]],
    ['records and indexes that fill two chunks', 500, 499, [500, 500, 1]],
    ['many indexes', 0, 1001, [500, 500, 3]],
  ])('%s can be written in chunks of 500 lines and read again', async (_what, records, indexes, lines) => {
    const disk = await diskWithFolder()
    const sizes: number[] = []
    const state = partition(records, indexes)
    const counting = recordDisk(disk)
    const create = counting.create
    const size = await writeCheckpoint(
      {
        ...counting,
        create: async (path) => {
          const file = await create(path)
          return { ...file, write: (bytes) => (sizes.push(Buffer.from(bytes).toString().split('\n').length - 1), file.write(bytes)) }
        },
      },
      '/d',
      'p1',
      state,
      7,
    )
    expect(sizes).toEqual([...lines, 1])
    expect(size).toBe((await disk.read('/d/p1'))!.byteLength)
    const loaded = (await readCheckpoint(disk, '/d', 'p1'))!
    expect([loaded.sequence, contentOf(loaded.state)]).toEqual([7, contentOf(state)])
  })

  test('what is loaded cannot be changed by its readers, and each index has its revision', async () => {
    const disk = await diskWithFolder()
    await writeCheckpoint(disk, '/d', 'p1', partition(2, 1), 7)
    const { state } = (await readCheckpoint(disk, '/d', 'p1'))!
    for (const { value } of state.records.values()) expect([Object.isFrozen(value), Object.isFrozen(value['tags'])]).toEqual([true, true])
    expect(state.indexes.get('i0')!.revision).toBe('x')
  })

  test('a checksum with leading zeros has 8 digits', async () => {
    const sequence = Array.from({ length: 5000 }, (_, i) => i).find(
      (one) => crc32(`${header({ sequence: one })}{"end":${one}}\n`) < 2 ** 24,
    )!
    const disk = await diskWithFolder()
    await writeCheckpoint(disk, '/d', 'p1', partition(0, 0), sequence)
    expect((await disk.read('/d/p1'))!.toString()).toMatch(/\n\{"crc":"00[0-9a-f]{6}"\}\n$/)
    expect((await readCheckpoint(disk, '/d', 'p1'))!.sequence).toBe(sequence)
  })

  test('it contains the frame that the journal had reached when its last line was written', async () => {
    const disk = await diskWithFolder()
    let reached = 7
    const slow = recordDisk(disk, (operation) => (operation === 'write /d/.p1.tmp' ? reached++ : undefined))
    await writeCheckpoint(slow, '/d', 'p1', partition(500, 0), 7, () => reached)
    const { sequence, end } = (await readCheckpoint(disk, '/d', 'p1'))!
    expect([sequence, end]).toEqual([7, 8])
  })

  describe('of any size', () => {
    let path: string
    eachInFolder((created) => (path = created))
    test.each([1, 7, 18, 19, 20, 1000])('it is written, verified and read in parts of %i bytes', async (partSize) => {
      const disk = await diskWithFolder()
      disk.partSize = partSize
      disk.turns = 1
      // A file of more than 2 GiB cannot be read at once.
      disk.read = () => Promise.reject(diskError('ERR_FS_FILE_TOO_LARGE'))
      const state = partition(30, 3)
      await writeCheckpoint(disk, '/d', 'p1', state, 7)
      expect(contentOf((await readCheckpoint(disk, '/d', 'p1'))!.state)).toEqual(contentOf(state))
    })

    test('the real disk reads a file in parts of 1 MiB', async () => {
      const text = 'é'.repeat(1_300_000)
      await writeFile(`${path}/a`, text)
      const parts: Buffer[] = []
      for await (const part of realDisk.readParts(`${path}/a`)) parts.push(part)
      expect([parts.map(({ byteLength }) => byteLength), Buffer.concat(parts).toString() === text]).toEqual([
        [1_048_576, 1_048_576, 502_848],
        true,
      ])
      await expect(realDisk.readParts(`${path}/absent`)[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'ENOENT' })
    })
  })

  test.each([
    ['with a byte that the disk changed', (bytes: Buffer) => Buffer.from(bytes.toString().replace('"n":1', '"n":2'))],
    ['that the disk cut off', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['that the disk did not write', () => Buffer.alloc(0)],
  ])('a new checkpoint %s does not replace the old one', async (_what, damage) => {
    const disk = await diskWithFolder()
    await writeCheckpoint(disk, '/d', 'p1', partition(2, 0), 7)
    const before = await disk.read('/d/p1')
    const damaging = recordDisk(disk)
    damaging.readParts = async function* (path) {
      const parts: Buffer[] = []
      for await (const part of disk.readParts(path)) parts.push(part)
      yield damage(Buffer.concat(parts))
    }
    const error = await writeCheckpoint(damaging, '/d', 'p1', partition(3, 0), 8).catch((reason: unknown) => reason as Error)
    expect(error).toBeInstanceOf(StorageDamaged)
    expect((error as Error).message).toBe('/d/.p1.tmp was written and cannot be read back: its checksum does not match')
    expect([await disk.read('/d/p1'), await disk.list('/d')]).toEqual([before, ['p1']])
  })

  test('an absent checkpoint is undefined', async () => {
    expect(await readCheckpoint(await diskWithFolder(), '/d', 'p1')).toBeUndefined()
  })

  const damaged = '/d/p1 is damaged: its checksum does not match'
  test.each<[what: string, text: string, message: string]>([
    ['that is empty', '', damaged],
    ['without a checksum', header(), damaged],
    ['with only the end of a checksum', '"}\n', damaged],
    ['with a checksum that is not hexadecimal', `${header()}{"crc":"0000000g"}\n`, damaged],
    ['with a wrong checksum', `${header()}{"crc":"00000000"}\n`, damaged],
    ['with something after its checksum', `${withChecksum(header())}\n`, damaged],
    ['without a header', withChecksum(''), '/d/p1 has format undefined, and this version of Lanekeeper reads format 1'],
    ['of another format', withChecksum(header({ format: 2 })), '/d/p1 has format 2, and this version of Lanekeeper reads format 1'],
    ['without the frame at its end', withChecksum(header()), '/d/p1 does not say at which frame it ends'],
    ['of another partition', withChecksum(header({ partition: 'p2' })), '/d/p1 is the checkpoint of another partition: p2'],
  ])('a checkpoint %s is refused', async (_what, text, message) => {
    const error = await read(text).catch((reason: unknown) => reason as Error)
    expect([error instanceof StorageDamaged, (error as Error).message]).toEqual([true, message])
  })
})

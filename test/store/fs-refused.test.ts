import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { UnusableFolder } from '../../src/store/fs/folder.ts'
import { ADVICE, StorageDamaged } from '../../src/store/fs/journal.ts'
import { openFsStore } from '../../src/store/fs/store.ts'
import { openStorage } from '../../src/store/open.ts'
import { Commits, compare } from '../support/commits.ts'
import { quiet } from '../support/log.ts'

let path: string
const commits = new Commits(1)
const open = () => openFsStore(path, { log: quiet })
const openError = async (): Promise<Error> =>
  openStorage(`fs:${path}`, { log: quiet }).then(
    () => expect.unreachable('the folder was opened'),
    (error: unknown) => error as Error,
  )

/** All files of the folder except the lock, with their contents and modification times. */
async function contents(): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  for (const name of (await readdir(path, { recursive: true })).toSorted()) {
    if (name.startsWith('run')) continue
    const stats = await stat(join(path, name))
    files[name] = `${stats.mtimeMs} ${stats.isFile() ? (await readFile(join(path, name))).toString('base64') : ''}`
  }
  return files
}

/** Creates a folder with a checkpoint and a journal of several frames. @param image gets a copy of it as a crash leaves it */
async function fill(image?: string): Promise<void> {
  commits.attempts.length = 0
  const store = await open()
  for (let i = 0; i < 5; i++) await commits.commit(store, 'p1')
  await store.compact()
  for (let i = 0; i < 5; i++) await commits.commit(store, 'p1')
  if (image !== undefined) await cp(path, image, { recursive: true })
  await store.close()
}

const journalPath = async () => `${path}/journal/${(await readdir(`${path}/journal`))[0]!}`
const rewrite = async (file: string, transform: (bytes: Buffer) => Buffer) => writeFile(file, transform(await readFile(file)))
/** Flips a bit of the byte at an offset; a negative offset counts from the end. */
const flipBit = (offset: number) => (bytes: Buffer) => {
  const copy = Buffer.from(bytes)
  copy[offset < 0 ? bytes.byteLength + offset : offset]! ^= 1
  return copy
}

/** An intact checkpoint of another format, as a later version may write it. */
function withNextFormat(bytes: Buffer): Buffer {
  const lines = bytes.toString().replace('"format":1', '"format":2').split('\n').slice(0, -2)
  const text = `${lines.join('\n')}\n`
  return Buffer.from(`${text}{"crc":"${crc32(text).toString(16).padStart(8, '0')}"}\n`)
}

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'lanekeeper-refused-'))
})
afterEach(() => rm(path, { recursive: true, force: true }))

describe('folders that are refused and not changed', () => {
  test('a folder of another program is refused and not changed', async () => {
    await writeFile(`${path}/notes.txt`, 'mine')
    const before = await readdir(path)
    const error = await openError()
    expect([error instanceof UnusableFolder, error.message]).toEqual([
      true,
      `${path} is not empty and contains no Lanekeeper data: notes.txt`,
    ])
    expect(await readdir(path)).toEqual(before)
  })

  test.each([
    ['{"lanekeeper":4}\n', 'has format 4, and this version of Lanekeeper reads format 3: use the version of Lanekeeper that wrote it'],
    ['{"lanekeeper":2}\n', 'has format 2, and this version of Lanekeeper reads format 3: use the version of Lanekeeper that wrote it'],
    ['{"lanekeeper":1', 'has an unreadable format.json'],
    ['', 'has an unreadable format.json'],
  ])('a folder whose format.json is %j is refused and not changed', async (text, message) => {
    await writeFile(`${path}/format.json`, text)
    const error = await openError()
    expect([error instanceof UnusableFolder, error.message]).toEqual([true, expect.stringContaining(message)])
    expect(await readdir(path)).toEqual(['format.json'])
  })

  test('a journal with a flipped bit anywhere before its last frame is refused and not changed', async () => {
    await fill()
    const file = await journalPath()
    const intact = await readFile(file)
    const lastFrame = intact.lastIndexOf('\nlk1 ') + 1
    for (let offset = 0; offset < lastFrame; offset += 7) {
      await writeFile(file, flipBit(offset)(intact))
      const before = await contents()
      const error = await openError()
      expect([offset, error instanceof StorageDamaged, error.message]).toEqual([
        offset,
        true,
        expect.stringMatching(/\.log( is damaged at byte \d+|: frame \d+ is missing)/),
      ])
      expect(await contents()).toEqual(before)
    }
  })

  test('a journal whose only frame has a wrong sequence number is refused and not changed', async () => {
    const store = await open()
    await new Commits(1).commit(store, 'p1')
    await store.close()
    await rewrite(await journalPath(), flipBit(4))
    const before = await contents()
    expect((await openError()).message).toBe(`0000000001.log: frame 1 is missing, frame 0 follows; ${ADVICE}`)
    expect(await contents()).toEqual(before)
  })

  test('a journal with a missing frame between two files is refused and not changed', async () => {
    await fill()
    const [name, bytes] = [await journalPath(), await readFile(await journalPath())]
    const third = bytes.indexOf('lk1 8 ')
    await writeFile(name, bytes.subarray(0, bytes.indexOf('lk1 7 ')))
    await writeFile(`${path}/journal/0000000008.log`, bytes.subarray(third))
    const before = await contents()
    expect((await openError()).message).toBe(`0000000008.log: frame 7 is missing, frame 8 follows; ${ADVICE}`)
    expect(await contents()).toEqual(before)
  })

  test.each([
    ['with a flipped bit', flipBit(40)],
    ['with a flipped bit in its checksum', flipBit(-5)],
    ['with a missing end', (bytes: Buffer) => bytes.subarray(0, -20)],
    ['that is empty', () => Buffer.alloc(0)],
    ['of another format', withNextFormat],
  ])('a checkpoint %s makes its partition unavailable; other partitions work', async (_what, transform) => {
    await fill()
    await rewrite(`${path}/records/p1`, transform)
    const before = await contents()
    const store = await open()
    const damage = expect.objectContaining({ name: 'StorageDamaged', message: expect.stringContaining('records/p1 ') })
    await expect(compare(store, commits)).rejects.toMatchObject({ name: 'StorageUnavailable', outcomeKnown: true, cause: damage })
    expect((await commits.commit(store, 'p1')).outcome).toBe('not done')
    await store.compact()
    const { [`records/p1`]: checkpoint, ...others } = await contents()
    expect(checkpoint).toBe(before['records/p1'])
    expect(Object.keys(others)).toContain('journal/0000000006.log')
    expect((await new Commits(2).commit(store, 'p2')).outcome).toBe('done')
    await store.close()
  })
})

describe('folders that a crash can leave', () => {
  test('a journal that ends anywhere in its last frame is read up to that frame', async () => {
    const image = `${path}-image`
    await fill(image)
    const file = await journalPath()
    const intact = await readFile(file)
    const lastFrame = intact.lastIndexOf('\nlk1 ') + 1
    for (let size = lastFrame; size < intact.byteLength; size += 11) {
      for (const zeros of [0, 50]) {
        await rm(path, { recursive: true })
        await cp(image, path, { recursive: true })
        await writeFile(file, Buffer.concat([intact.subarray(0, size), Buffer.alloc(zeros)]))
        const expected = new Commits(
          2,
          'recovered',
          commits.attempts.map((attempt, i) => ({ ...attempt, outcome: i < 9 ? 'done' : 'not done' })),
        )
        const store = await open()
        expect(await compare(store, expected)).toEqual([])
        expect((await expected.commit(store, 'p1')).outcome).toBe('done')
        await store.close()
        const next = await open()
        expect(await compare(next, expected)).toEqual([])
        await next.close()
      }
    }
    await rm(image, { recursive: true })
  })

  test('a folder whose first start crashed can be opened', async () => {
    for (const name of ['journal', 'records', 'bytes', 'run']) await mkdir(`${path}/${name}`)
    await writeFile(`${path}/.format.json.tmp`, '{"lane')
    const storage = await openStorage(`fs:${path}`, { log: quiet })
    await storage.close()
    expect(await readdir(path)).not.toContain('.format.json.tmp')
  })
})

import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { UnusableFolder } from '../../src/store/fs/open.ts'
import { StorageDamaged } from '../../src/store/fs/journal.ts'
import { openFsStore } from '../../src/store/fs/open.ts'
import { openStorage } from '../../src/store/open.ts'
import { Commits, compare } from '../support/commits.ts'
import { quiet } from '../support/log.ts'

let path: string
const commits = new Commits(1)
const open = () => openFsStore(path, { log: quiet })
const refused = async (): Promise<Error> =>
  openStorage(`fs:${path}`, { log: quiet }).then(
    () => expect.unreachable('it was opened'),
    (error: unknown) => error as Error,
  )

/** All that is in the folder, but for the lock, with when it was changed. */
async function contents(): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const name of (await readdir(path, { recursive: true })).toSorted()) {
    if (name.startsWith('run')) continue
    const about = await stat(join(path, name))
    found[name] = `${about.mtimeMs} ${about.isFile() ? (await readFile(join(path, name))).toString('base64') : ''}`
  }
  return found
}

/** Makes a folder with several files of journal, the last one of many frames, and a checkpoint. */
async function fill(): Promise<void> {
  commits.attempts.length = 0
  const store = await open()
  for (let i = 0; i < 5; i++) await commits.commit(store, 'p1')
  await store.compact()
  for (let i = 0; i < 5; i++) await commits.commit(store, 'p1')
  await store.close()
}

const journal = async () => `${path}/journal/${(await readdir(`${path}/journal`))[0]!}`
const change = async (file: string, how: (bytes: Buffer) => Buffer) => writeFile(file, how(await readFile(file)))
const flipped = (at: number) => (bytes: Buffer) => {
  const copy = Buffer.from(bytes)
  copy[at < 0 ? bytes.byteLength + at : at]! ^= 1
  return copy
}

/** What a later version may write: another format, and all in order. */
function newer(bytes: Buffer): Buffer {
  const lines = bytes.toString().replace('"format":1', '"format":2').split('\n').slice(0, -2)
  const text = `${lines.join('\n')}\n`
  return Buffer.from(`${text}{"crc":"${crc32(text).toString(16).padStart(8, '0')}"}\n`)
}

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'lanekeeper-refused-'))
})
afterEach(() => rm(path, { recursive: true, force: true }))

describe('what is refused, and left as it is', () => {
  test('a folder of another program', async () => {
    await writeFile(`${path}/notes.txt`, 'mine')
    const before = await readdir(path)
    const error = await refused()
    expect([error instanceof UnusableFolder, error.message]).toEqual([
      true,
      `${path} is not empty, and holds no Lanekeeper data: notes.txt`,
    ])
    expect(await readdir(path)).toEqual(before)
  })

  test.each([
    ['{"lanekeeper":3}\n', 'has format 3; this version of Lanekeeper knows format 2'],
    ['{"lanekeeper":1', 'has format that cannot be read'],
    ['', 'has format that cannot be read'],
  ])('another format: %j', async (text, message) => {
    await writeFile(`${path}/format.json`, text)
    const error = await refused()
    expect([error instanceof UnusableFolder, error.message]).toEqual([true, expect.stringContaining(message)])
    expect(await readdir(path)).toEqual(['format.json'])
  })

  test('a journal in which a bit is another, wherever that is but in its last frame', async () => {
    await fill()
    const file = await journal()
    const whole = await readFile(file)
    const last = whole.lastIndexOf('\nlk1 ') + 1
    for (let at = 0; at < last; at += 7) {
      await writeFile(file, flipped(at)(whole))
      const before = await contents()
      const error = await refused()
      expect([at, error instanceof StorageDamaged, error.message]).toEqual([
        at,
        true,
        expect.stringMatching(/\.log( is damaged at byte \d+|: frame \d+ is missing)/),
      ])
      expect(await contents()).toEqual(before)
    }
  })

  test('a journal of one frame that has another number', async () => {
    const store = await open()
    await new Commits(1).commit(store, 'p1')
    await store.close()
    await change(await journal(), flipped(4))
    const before = await contents()
    expect((await refused()).message).toBe('0000000001.log: frame 1 is missing, 0 comes in its place')
    expect(await contents()).toEqual(before)
  })

  test('a journal of which a file in the middle is missing', async () => {
    await fill()
    const [name, bytes] = [await journal(), await readFile(await journal())]
    const third = bytes.indexOf('lk1 8 ')
    await writeFile(name, bytes.subarray(0, bytes.indexOf('lk1 7 ')))
    await writeFile(`${path}/journal/0000000008.log`, bytes.subarray(third))
    const before = await contents()
    expect((await refused()).message).toBe('0000000008.log: frame 7 is missing, 8 comes in its place')
    expect(await contents()).toEqual(before)
  })

  test.each([
    ['a bit is another', flipped(40)],
    ['a bit of its checksum is another', flipped(-5)],
    ['the end is missing', (bytes: Buffer) => bytes.subarray(0, -20)],
    ['nothing is left', () => Buffer.alloc(0)],
    ['the format is another', newer],
  ])('a checkpoint of which %s: its partition can be neither read nor written, others can', async (_what, how) => {
    await fill()
    await change(`${path}/records/p1`, how)
    const before = await contents()
    const store = await open()
    const damage = expect.objectContaining({ name: 'Damaged', message: expect.stringContaining('records/p1 ') })
    await expect(compare(store, commits)).rejects.toMatchObject({ name: 'Unavailable', certain: true, cause: damage })
    expect((await commits.commit(store, 'p1')).outcome).toBe('not')
    await store.compact()
    const { [`records/p1`]: checkpoint, ...others } = await contents()
    expect(checkpoint).toBe(before['records/p1'])
    expect(Object.keys(others)).toContain('journal/0000000006.log')
    expect((await new Commits(2).commit(store, 'p2')).outcome).toBe('done')
    await store.close()
  })
})

describe('what is taken as a crash leaves it', () => {
  test('a journal that ends anywhere in its last frame ends before it', async () => {
    await fill()
    const file = await journal()
    const whole = await readFile(file)
    const last = whole.lastIndexOf('\nlk1 ') + 1
    for (let size = last; size < whole.byteLength; size += 11) {
      for (const rest of [0, 50]) {
        await writeFile(file, Buffer.concat([whole.subarray(0, size), Buffer.alloc(rest)]))
        const left = new Commits(
          2,
          'left',
          commits.attempts.map((attempt, i) => ({ ...attempt, outcome: i < 9 ? 'done' : 'not' })),
        )
        const store = await open()
        expect(await compare(store, left)).toEqual([])
        expect((await left.commit(store, 'p1')).outcome).toBe('done')
        await store.close()
        const next = await open()
        expect(await compare(next, left)).toEqual([])
        await next.close()
      }
    }
  })

  test('a folder whose first start died in the middle', async () => {
    for (const name of ['journal', 'records', 'bytes', 'run']) await mkdir(`${path}/${name}`)
    await writeFile(`${path}/.format.json.tmp`, '{"lane')
    const storage = await openStorage(`fs:${path}`, { log: quiet })
    await storage.close()
    expect(await readdir(path)).not.toContain('.format.json.tmp')
  })
})

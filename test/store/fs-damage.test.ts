import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { damageOfLog } from '../../src/store/fs/log-damage.ts'
import { openDatabase } from '../../src/store/fs/sqlite.ts'
import type { FsStore } from '../../src/store/fs/store.ts'
import { change, readRequest } from '../support/changes.ts'
import { errorOf } from '../support/error-of.ts'
import { keysOf, openFolder } from '../support/folders.ts'
import { captureLog } from '../support/log.ts'
import { seededRandom } from '../support/random.ts'
import { sampledEffort } from '../support/sample.ts'
import { eachInFolder } from '../support/temporary-folder.ts'

let folder: string
/** a folder that was closed, and one whose process was killed: its last changes are in the log */
let closed: string
let killed: string
eachInFolder((created) => {
  folder = created
  closed = `${folder}/closed`
  killed = `${folder}/killed`
})

const PARTITIONS = ['global', 'p1', 'p2']
const copy = (from: string, to = `${folder}/copy`): string => {
  rmSync(to, { recursive: true, force: true })
  // Not in this process: to close a file would end the locks that SQLite has on it.
  execFileSync('cp', ['-r', from, to])
  return to
}
const put = (store: FsStore, key: string, value: object, partition = 'p1') => store.commit(partition, change({ put: { [key]: value } }))

beforeEach(async () => {
  const store = await openFolder(closed)
  const puts = PARTITIONS.flatMap((partition) =>
    Array.from({ length: 30 }, (_, i) => put(store, `a:${i}`, { text: `${partition} ${i} `.repeat(20) }, partition)),
  )
  await Promise.all(puts)
  await store.close()
  const open = await openFolder(copy(closed, `${folder}/open`))
  for (let i = 0; i < 8; i++) await put(open, `b:${i}`, { text: 'later' })
  copy(`${folder}/open`, killed)
  rmSync(`${killed}/records.db-shm`)
  await open.close()
})

/** Everything that a folder answers; or the message of what it refuses, by partition. */
async function answersOf(path: string): Promise<Record<string, unknown>> {
  let store: FsStore
  try {
    store = await openFolder(path)
  } catch (error) {
    return { refused: (error as Error).message }
  }
  const answers: Record<string, unknown> = {}
  for (const partition of PARTITIONS) {
    const keys = ['a', 'b'].flatMap((kind) => Array.from({ length: 30 }, (_, i) => `${kind}:${i}`))
    answers[partition] = await store.read(partition, readRequest({ records: keys })).catch((error: Error) => `unreadable: ${error.message}`)
  }
  await store.close()
  return answers
}

/** Overwrites four bytes of a file. */
function number(file: string, at: number, value: number): void {
  const bytes = readFileSync(file)
  bytes.writeUInt32BE(value, at)
  writeFileSync(file, bytes)
}

describe('a folder is refused before anything is written', () => {
  const contentOf = (path: string) => readdirSync(path).map((name) => [name, readFileSync(`${path}/${name}`).toString('hex')])
  test.each<[what: string, prepare: () => string, name: string, message: string]>([
    [
      'of another program',
      () => (mkdirSync(`${folder}/other`), writeFileSync(`${folder}/other/photo.jpg`, ''), `${folder}/other`),
      'UnusableFolder',
      'is not empty and contains no Lanekeeper data: photo.jpg',
    ],
    [
      'of an earlier format',
      () => (mkdirSync(`${folder}/old`), writeFileSync(`${folder}/old/format.json`, '{"lanekeeper":3}\n'), `${folder}/old`),
      'UnusableFolder',
      'has an earlier format: make a backup with the version of Lanekeeper that wrote it, and restore it into another folder',
    ],
    ['with a later format', () => (number(`${closed}/records.db`, 60, 5), closed), 'UnusableFolder', 'has format 5, and this version'],
    [
      'with the database of another program',
      () => (number(`${closed}/records.db`, 68, 1), closed),
      'UnusableFolder',
      'belongs to another program',
    ],
    [
      'with pages of another size',
      () => (execute(closed, 'PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM; PRAGMA journal_mode = WAL'), closed),
      'UnusableFolder',
      'must have pages of 4096 bytes',
    ],
    [
      'whose file is a link',
      () => (renameSync(`${closed}/records.db`, `${folder}/x.db`), symlinkSync(`${folder}/x.db`, `${closed}/records.db`), closed),
      'UnusableFolder',
      'must be a file, and not a symbolic link',
    ],
    [
      'whose file is missing',
      () => (rmSync(`${closed}/records.db`), closed),
      'StorageDamaged',
      'records.db is missing, and generation is there',
    ],
    ['whose file is no database', () => (number(`${closed}/records.db`, 0, 1), closed), 'StorageDamaged', 'records.db is not a database'],
    ['whose file is empty', () => (truncateSync(`${closed}/records.db`), closed), 'StorageDamaged', 'records.db is not a database'],
    ['whose file was cut', () => (truncateSync(`${closed}/records.db`, 8192), closed), 'StorageDamaged', 'its end is missing'],
    ['whose log is damaged', () => (number(`${killed}/records.db-wal`, 5000, 1), killed), 'StorageDamaged', 'records.db-wal is damaged'],
    [
      'whose log was cut within its header',
      () => (number(`${killed}/records.db-wal`, 4, 1), killed),
      'StorageDamaged',
      'records.db-wal is damaged',
    ],
  ])('%s', async (_what, prepare, name, message) => {
    const path = prepare()
    const before = contentOf(path)
    expect(await errorOf(openFolder(path))).toMatchObject({ name, message: expect.stringContaining(message) })
    expect(contentOf(path)).toEqual(before)
  })

  test.each<[what: string, prepare: (path: string) => void, message: string]>([
    ['without its log', (path) => rmSync(`${path}/records.db-wal`), 'records.db-wal is missing'],
    ['with other tables', (path) => execute(path, 'DROP INDEX tombstones'), "its tables are not Lanekeeper's"],
    ['whose list of workspaces lost its last row', (path) => execute(path, "DELETE FROM partitions WHERE name = 'p2'"), 'has lost rows'],
    [
      'whose list of workspaces has a changed row',
      (path) => execute(path, "UPDATE partitions SET name = 'p3' WHERE id = 2"),
      'changed ones',
    ],
  ])('%s (found by SQLite)', async (_what, prepare, message) => {
    for (const origin of message.includes('missing') ? [killed] : [killed, closed]) {
      const path = copy(origin)
      prepare(path)
      expect(await errorOf(openFolder(path))).toMatchObject({ name: 'StorageDamaged', message: expect.stringContaining(message) })
    }
  })
})

/** Changes a file as no service does. */
function execute(path: string, sql: string): void {
  const database = openDatabase(`${path}/records.db`)
  database.exec(sql)
  database.close()
}

describe('a workspace with damage is not answered, and the others are', () => {
  test.each([
    ['a letter of a record has changed', "UPDATE records SET value = replace(value, '7', '8') WHERE key = 'a:7' AND partition = 2", 'a:7'],
    ['a record has another key', "UPDATE records SET key = 'a:70' WHERE key = 'a:7' AND partition = 2", 'a:70'],
    ['a record is lost', 'DELETE FROM records WHERE number = 3 AND partition = 2', 'it has 29 records of 30'],
    ['all are lost', 'DELETE FROM records WHERE partition = 2', 'it has 0 records of 30'],
    [
      'a record is there twice',
      'INSERT INTO records SELECT 2, 99, key, revision, value, checksum FROM records WHERE partition = 2 AND number = 3',
      '31',
    ],
    [
      'one record stands in the place of another',
      'DELETE FROM records WHERE partition = 2 AND number = 4; INSERT INTO records SELECT 2, 99, key, revision, value, checksum FROM records WHERE partition = 2 AND number = 3',
      'has lost records',
    ],
  ])('%s', async (_what, sql, message) => {
    execute(closed, sql)
    const { log, text } = captureLog()
    const store = await openFolder(closed, { log })
    await expect(keysOf(store)).rejects.toThrow(message)
    await expect(keysOf(store)).rejects.toThrow('restore the last backup')
    await expect(put(store, 'a:1', {})).rejects.toThrow(message)
    expect({ damaged: store.damaged(), log: text() }).toEqual({ damaged: ['p1'], log: expect.stringContaining('"partition":"p1"') })
    expect((await keysOf(store, 'p2')).length).toBe(30)
    await put(store, 'a:1', {}, 'p2')
    const { value: found } = await store.findDamage().next()
    expect(found.map((one: { partition: string }) => one.partition)).toEqual(message === 'has lost records' ? [] : ['p1'])
    await store.close()
  })

  test('the file has damage that no workspace shows', async () => {
    const database = openDatabase(`${closed}/records.db`)
    const { rootpage } = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'tombstones'").get() as { rootpage: number }
    database.close()
    number(`${closed}/records.db`, (rootpage - 1) * 4096, 0xffffffff)
    const store = await openFolder(closed)
    // What is not known may be due.
    expect(store.mayHaveTombstoneBefore('p1', '2026')).toBe(true)
    const { value: found } = await store.findDamage().next()
    expect(found.length).toBeGreaterThan(0)
    expect(found.every((one: { partition: string }) => one.partition === 'global')).toBe(true)
    await store.close()
  })
})

describe('a byte that has changed', () => {
  /** Changes one byte in copies of a folder. @returns the answers that differ from the right ones and do not say so */
  async function wrongAnswers(path: string, file: string, count: number, random = seededRandom(count)): Promise<string[]> {
    const right = await answersOf(copy(path))
    const { length } = readFileSync(`${path}/${file}`)
    const wrong: string[] = []
    for (let i = 0; i < count; i++) {
      const place = random(length)
      const damaged = copy(path)
      const bytes = readFileSync(`${damaged}/${file}`)
      bytes[place]! ^= 1 << random(8)
      writeFileSync(`${damaged}/${file}`, bytes)
      const answers = await answersOf(damaged)
      const isTold = (partition: string) =>
        'refused' in answers ||
        String(answers[partition]).startsWith('unreadable') ||
        JSON.stringify(answers[partition]) === JSON.stringify(right[partition])
      wrong.push(...PARTITIONS.filter((partition) => !isTold(partition)).map((partition) => `byte ${place} of ${file}: ${partition}`))
    }
    return wrong
  }

  test('never changes an answer in silence: anywhere in the database', async () => {
    expect(await wrongAnswers(closed, 'records.db', sampledEffort(50, 12))).toEqual([])
  }, 600_000)

  test('is told in the log, unless it is in the last transaction, where it looks like a crash', () => {
    const log = readFileSync(`${killed}/records.db-wal`)
    const damageIn = (bytes: Buffer) => damageOfLog(bytes.length, (at, length) => bytes.subarray(at, at + length))
    expect(damageIn(log)).toBeUndefined()
    const random = seededRandom(1)
    const found = Array.from({ length: 200 }, () => {
      const place = random(log.length)
      const damaged = Buffer.from(log)
      damaged[place]! ^= 1 << random(8)
      return damageIn(damaged)
    })
    // A transaction has several pages of 4 KiB; about one in ten bytes is in the last one, and all others have a checksum.
    expect(new Set(found)).toEqual(new Set(['damaged', 'torn']))
    expect(found.filter((one) => one === 'torn').length).toBeLessThan(60)
  })

  test('in the log that was held up by a reader does not matter: without the log, the folder is refused', async () => {
    const store = await openFolder(closed, { checkpointAt: 1 })
    const reader = openDatabase(`${closed}/records.db`, { readOnly: true })
    reader.exec('BEGIN; SELECT count(*) FROM records')
    for (let n = 0; n < 5; n++) await put(store, 'a:0', { n })
    const lost = copy(closed)
    rmSync(`${lost}/records.db-wal`)
    rmSync(`${lost}/records.db-shm`)
    expect((await store.metrics()).checkpointFailures).toBeGreaterThan(3)
    reader.close()
    await store.close()
    await expect(openFolder(lost)).rejects.toThrow('records.db-wal is missing')
  })

  test('in the generation of the log is told, with what to do', async () => {
    for (const text of ['99\n', '', 'x']) {
      writeFileSync(`${closed}/generation`, text)
      expect(await errorOf(openFolder(closed))).toMatchObject({
        message: expect.stringContaining(`remove the files ${closed}/generation and ${closed}/records.db-wal`),
      })
    }
    rmSync(`${closed}/generation`)
    await (await openFolder(closed)).close()
  })

  test('a torn transaction at the end of the log is left out, with a warning, and the others are there', async () => {
    const file = `${killed}/records.db-wal`
    truncateSync(file, readFileSync(file).length - 100)
    const { log, text } = captureLog()
    const store = await openFolder(killed, { log })
    expect({ log: text(), keys: (await keysOf(store)).filter((key) => key.startsWith('b:')) }).toEqual({
      log: expect.stringContaining('has an incomplete transaction at its end'),
      keys: Array.from({ length: 7 }, (_, i) => `b:${i}`),
    })
    await store.close()
  })

  test('the log of a killed process is taken over, with a crash at any moment of a checkpoint', async () => {
    const right = await answersOf(copy(killed))
    expect(JSON.stringify(right)).toContain('later')
    // The first takes over the log and is killed, as is each next one.
    for (let i = 0; i < 3; i++) {
      const store = await openFolder(killed, { checkpointAt: 1 })
      const next = copy(killed, `${folder}/next${i}`)
      rmSync(`${next}/records.db-shm`, { force: true })
      await store.close()
      killed = next
      expect(await answersOf(copy(killed))).toEqual(right)
    }
  })
})

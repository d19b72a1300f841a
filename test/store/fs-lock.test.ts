import { chmod, mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createDerivations } from '../../src/resources/derived.ts'
import { FolderInUse, lockFolder, lockFolderForReading } from '../../src/store/fs/lock.ts'
import { openStorage } from '../../src/store/open.ts'
import { effort } from '../support/effort.ts'
import { errorOf } from '../support/error-of.ts'
import { quiet } from '../support/log.ts'
import { StoreProcess } from '../support/store-process.ts'
import { eachInFolder } from '../support/temporary-folder.ts'

let path: string
eachInFolder((created) => (path = created))
const takeLock = () => lockFolder(path, () => undefined)

describe('the lock of a folder', () => {
  test('is held by one process, which a second one finds, and ends with it', async () => {
    for (let i = 0; i < 3; i++) {
      const holder = new StoreProcess(path)
      expect(await holder.started).toBeUndefined()
      const refusal = { name: 'FolderInUse', holder: { pid: holder.child.pid }, socket: `${path}/run/service.sock` }
      expect([await errorOf(takeLock()), await errorOf(lockFolderForReading(path))]).toMatchObject([refusal, refusal])
      await holder.kill()
    }
    await (await takeLock()).release()
    expect(await readdir(`${path}/run`)).toEqual(['lock.db'])
  })

  test('does not depend on the socket', async () => {
    const holder = new StoreProcess(path)
    await holder.started
    await rm(`${path}/run/service.sock`)
    expect(await errorOf(takeLock())).toMatchObject({ name: 'FolderInUse', socket: undefined })
    await holder.kill()
    await (await takeLock()).release()
  })

  test('that was removed with its file does not let two processes change the same workspace', async () => {
    const holder = new StoreProcess(path)
    expect(await holder.started).toBeUndefined()
    await rm(`${path}/run`, { recursive: true })
    const other = new StoreProcess(path)
    expect(await other.started).toBeUndefined()
    const put = (process: StoreProcess, revision: string) =>
      process.commit('p1', { revision, put: new Map([['a:1', { revision }]]), remove: new Set(), indexes: new Map() } as never)
    await put(other, 'r1')
    expect(await errorOf(put(holder, 'r2'))).toMatchObject({ name: 'StorageUnavailable' })
    await put(other, 'r3')
    await Promise.all([holder.kill(), other.kill()])
  })

  test.each(['removed', 'replaced'])(
    'that was %s with its file ends the answers of its holder, and leaves the socket to the next one',
    async (how) => {
      let reason: Error | undefined
      const storage = await openStorage(`fs:${path}`, { log: quiet, derived: createDerivations(), onLost: (error) => (reason = error) })
      const { store } = storage
      const nothing = { records: [], ranges: [], counts: [], expect: { records: new Map(), indexes: new Map(), capacity: new Map() } }
      const read = async () => store.read('p1', nothing as never)
      const commit = async (...given: Parameters<typeof store.commit>) => store.commit(...given)
      await read()
      await store.ready()
      if (how === 'removed') await rm(`${path}/run`, { recursive: true })
      else {
        await writeFile(`${path}/run/other`, '')
        await rename(`${path}/run/other`, `${path}/run/lock.db`)
      }
      await expect.poll(() => reason?.message).toContain('another process may have the folder')
      const lost = { name: 'StorageUnavailable', message: expect.stringContaining('nothing is read or written until a restart') }
      expect(await errorOf(read())).toMatchObject(lost)
      expect(await errorOf(store.ready())).toMatchObject(lost)
      expect(
        await errorOf(commit('p1', { ...nothing, revision: 'r', put: new Map(), remove: new Set(), indexes: new Map() } as never)),
      ).toMatchObject(lost)
      await rm(`${path}/run`, { recursive: true, force: true })
      const next = await lockFolder(path, () => undefined)
      await storage.close()
      expect(await readdir(`${path}/run`)).toContain('service.sock')
      await next.release()
    },
  )

  test.each([2, 8])('of %i processes that start at the same time, exactly one gets it', async (count) => {
    for (let round = 0; round < effort(count === 2 ? 3 : 1); round++) {
      const processes = Array.from({ length: count }, () => new StoreProcess(path))
      const outcomes = await Promise.all(processes.map(({ started }) => started))
      expect(outcomes.map((outcome) => outcome?.name).toSorted()).toEqual([
        ...Array.from({ length: count - 1 }, () => 'FolderInUse'),
        undefined,
      ])
      await Promise.all(processes.map((process) => process.kill()))
    }
  })

  test('of clients that take and release it repeatedly, at most one holds it, and none starves', async () => {
    let [holders, maxHolders] = [0, 0]
    const client = async (): Promise<void> => {
      for (let held = 0; held < 3;) {
        const lock = await takeLock().catch((error: unknown) => {
          if (!(error instanceof FolderInUse)) throw error
        })
        if (lock === undefined) continue
        maxHolders = Math.max(maxHolders, ++holders)
        await readdir(path)
        holders--
        await lock.release()
        held++
      }
    }
    await Promise.all(Array.from({ length: 4 }, client))
    expect(maxHolders).toBe(1)
  })

  test('is for its owner alone, and not taken behind a link', async () => {
    await mkdir(`${path}/run`, { mode: 0o755 })
    await (await takeLock()).release()
    expect((await stat(`${path}/run`)).mode & 0o777).toBe(0o700)
    await rm(`${path}/run`, { recursive: true })
    await mkdir(`${path}/victim`, { mode: 0o755 })
    await symlink(`${path}/victim`, `${path}/run`)
    await expect(takeLock()).rejects.toThrow('must be a folder, and not a symbolic link')
    expect({ files: await readdir(`${path}/victim`), mode: (await stat(`${path}/victim`)).mode & 0o777 }).toEqual({
      files: [],
      mode: 0o755,
    })
  })

  test('is released when the folder cannot be opened', async () => {
    await mkdir(`${path}/records.db.new`)
    await expect(openStorage(`fs:${path}`, { log: quiet, derived: createDerivations() })).rejects.toThrow()
    await rm(`${path}/records.db.new`, { recursive: true })
    await (await openStorage(`fs:${path}`, { log: quiet, derived: createDerivations() })).close()
  })

  test('names no holder where another program listens', async () => {
    await (await takeLock()).release()
    const holder = new StoreProcess(path)
    await holder.started
    await rm(`${path}/run/service.sock`)
    const server = createServer((socket) => socket.end('hello\n')).listen(`${path}/run/service.sock`)
    expect(await errorOf(takeLock())).toMatchObject({ name: 'FolderInUse', holder: undefined, socket: `${path}/run/service.sock` })
    server.close()
    await holder.kill()
  })
})

describe('the lock of a folder for reading', () => {
  test('creates no file, and needs none', async () => {
    await (await lockFolderForReading(path)).release()
    expect(await readdir(path)).toEqual([])
  })

  test('can be held by several, and meanwhile by none for writing', async () => {
    await (await takeLock()).release()
    const locks = [await lockFolderForReading(path), await lockFolderForReading(path)]
    expect(await errorOf(takeLock())).toMatchObject({ name: 'FolderInUse' })
    for (const lock of locks) await lock.release()
    await (await takeLock()).release()
    await chmod(`${path}/run/lock.db`, 0o400)
    await (await lockFolderForReading(path)).release()
    await writeFile(`${path}/run/x`, '')
  })
})

import { mkdir, readdir, stat, symlink, unlink, writeFile } from 'node:fs/promises'
import { Server } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { FolderInUse, lockFolder } from '../../src/store/fs/lock.ts'
import { openStorage } from '../../src/store/open.ts'
import { effort } from '../support/effort.ts'
import { quiet } from '../support/log.ts'
import { eachInFolder } from '../support/temporary-folder.ts'
import { StoreProcess } from '../support/store-process.ts'

let path: string
const takeLock = () => lockFolder(path, () => undefined)
const lockError = async (): Promise<FolderInUse> =>
  takeLock().then(
    () => expect.unreachable('the lock is free'),
    (error: unknown) => error as FolderInUse,
  )
const sockets = async () => (await readdir(`${path}/run`)).filter((name) => name.endsWith('.sock'))

eachInFolder((created) => (path = created))
afterEach(() => void vi.restoreAllMocks())

describe('the lock of a folder', () => {
  test('a killed process loses the lock, and the next holder removes its socket', async () => {
    for (let i = 0; i < 3; i++) {
      const holder = new StoreProcess(path)
      expect(await holder.started).toBeUndefined()
      await holder.kill()
      expect(await sockets()).toHaveLength(1)
    }
    const lock = await takeLock()
    expect(await sockets()).toHaveLength(1)
    await lock.release()
    expect(await sockets()).toEqual([])
  })

  test.each([2, 8])(
    'of %i processes that start at the same time, at most one gets the lock',
    async (count) => {
      for (let round = 0; round < effort(count === 2 ? 5 : 2); round++) {
        const processes = Array.from({ length: count }, () => new StoreProcess(path))
        const outcomes = await Promise.all(processes.map(({ started }) => started))
        expect(outcomes.filter((outcome) => outcome === undefined).length).toBeLessThanOrEqual(1)
        for (const outcome of outcomes) expect(outcome?.name ?? 'FolderInUse').toBe('FolderInUse')
        await Promise.all(processes.map((process) => process.kill()))
      }
    },
    3_600_000,
  )

  test.each([2, 8])('of %i clients that take and release the lock repeatedly, at most one holds it, and none starves', async (count) => {
    let holders = 0
    let maxHolders = 0
    const client = async (): Promise<number> => {
      for (let held = 0, attempts = 0; ; attempts++) {
        const lock = await takeLock().catch((error: unknown) => {
          if (!(error instanceof FolderInUse)) throw error
        })
        if (lock === undefined) continue
        maxHolders = Math.max(maxHolders, ++holders)
        await readdir(path)
        holders--
        await lock.release()
        if (++held === 3) return attempts
      }
    }
    await Promise.all(Array.from({ length: count }, client))
    expect(maxHolders).toBe(1)
    expect(await sockets()).toEqual([])
  })

  test('the lock is not taken with a socket that a rival has removed', async () => {
    // The rival took it for a dead socket because nothing listened on it yet, and has given up since.
    const listen = vi.spyOn(Server.prototype, 'listen')
    listen.mockImplementationOnce(function (this: Server, address: unknown, listening: unknown) {
      listen.mockRestore()
      const { path: socket } = address as { path: string }
      return this.listen(socket, () => void unlink(socket).then(listening as () => void))
    })
    const lock = await takeLock()
    expect(await lockError()).toBeInstanceOf(FolderInUse)
    await lock.release()
  })

  test('a folder of sockets that is a symbolic link or a file is refused, and nothing behind it changes', async () => {
    await mkdir(`${path}/victim`, { mode: 0o755 })
    await writeFile(`${path}/victim/00000001.sock`, 'text')
    await symlink(`${path}/victim`, `${path}/run`)
    await expect(takeLock()).rejects.toThrow('must be a folder, and not a symbolic link')
    expect([await readdir(`${path}/victim`), (await stat(`${path}/victim`)).mode & 0o777]).toEqual([['00000001.sock'], 0o755])
    await unlink(`${path}/run`)
    await writeFile(`${path}/run`, 'text')
    await expect(takeLock()).rejects.toThrow('must be a folder, and not a symbolic link')
  })

  test('the lock is released when the folder cannot be opened', async () => {
    await mkdir(`${path}/journal`)
    await mkdir(`${path}/journal/0000000001.log`)
    await expect(openStorage(`fs:${path}`, { log: quiet })).rejects.toThrow('EISDIR')
    expect(await sockets()).toEqual([])
  })
})

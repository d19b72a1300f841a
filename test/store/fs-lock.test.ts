import { access, chmod, mkdir, mkdtemp, readdir, rm, stat, unlink } from 'node:fs/promises'
import { createServer, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FolderInUse, lockFolder, type FolderLock } from '../../src/store/fs/lock.ts'
import { openStorage } from '../../src/store/open.ts'
import { effort } from '../support/effort.ts'
import { quiet } from '../support/log.ts'
import { StoreProcess } from '../support/store-process.ts'

let path: string
const lock = () => lockFolder(path, () => undefined)
const taken = async (): Promise<FolderInUse> =>
  lock().then(
    () => expect.unreachable('it is free'),
    (error: unknown) => error as FolderInUse,
  )
const sockets = async () => (await readdir(`${path}/run`)).filter((name) => name.endsWith('.sock'))

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'lanekeeper-lock-'))
})
afterEach(async () => {
  vi.restoreAllMocks()
  await rm(path, { recursive: true, force: true })
})

describe('the lock of a folder', () => {
  test('names the process that has it', async () => {
    const holder = new StoreProcess(path)
    await holder.started
    const error = await taken()
    expect(error).toBeInstanceOf(FolderInUse)
    expect(error.holder?.pid).toBe(holder.child.pid)
    expect(error.message).toMatch(new RegExp(`^${path} is in use by process ${holder.child.pid}, since 20\\d\\d-`))
    await holder.kill()
  })

  test('dies with its process, and the next one takes it and tidies up', async () => {
    for (let i = 0; i < 3; i++) {
      const holder = new StoreProcess(path)
      expect(await holder.started).toBeUndefined()
      await holder.kill()
      expect(await sockets()).toHaveLength(1)
    }
    const own = await lock()
    expect(await sockets()).toHaveLength(1)
    await own.release()
    expect(await sockets()).toEqual([])
  })

  test.each([2, 8])(
    'of %i processes that start at once, never two have it',
    async (starters) => {
      for (let round = 0; round < effort(starters === 2 ? 5 : 2); round++) {
        const processes = Array.from({ length: starters }, () => new StoreProcess(path))
        const outcomes = await Promise.all(processes.map(({ started }) => started))
        expect(outcomes.filter((outcome) => outcome === undefined).length).toBeLessThanOrEqual(1)
        for (const outcome of outcomes) expect(outcome?.name ?? 'FolderInUse').toBe('FolderInUse')
        await Promise.all(processes.map((each) => each.kill()))
      }
    },
    3_600_000,
  )

  test.each([2, 8])('of %i who take it and give it back all the time, never two have it, and each has it some time', async (starters) => {
    let holders = 0
    let most = 0
    const one = async (): Promise<number> => {
      for (let had = 0, tries = 0; ; tries++) {
        const own = await lock().catch((error: unknown) => {
          if (!(error instanceof FolderInUse)) throw error
        })
        if (own === undefined) continue
        most = Math.max(most, ++holders)
        await readdir(path)
        holders--
        await own.release()
        if (++had === 3) return tries
      }
    }
    await Promise.all(Array.from({ length: starters }, one))
    expect(most).toBe(1)
    expect(await sockets()).toEqual([])
  })

  test('uses no name twice: who tidies up late would remove what is another one’s', async () => {
    const names = new Set<string>()
    for (let i = 0; i < 20; i++) {
      const own = await lock()
      for (const name of await sockets()) names.add(name)
      await own.release()
    }
    expect(names.size).toBe(20)
  })

  test('is not held through a socket that nobody can see', async () => {
    // A rival that took it for a dead one, as it was not listening yet, and has gone away since.
    const listen = vi.spyOn(Server.prototype, 'listen')
    listen.mockImplementationOnce(function (this: Server, socket: unknown, listening: unknown) {
      listen.mockRestore()
      return this.listen(socket as string, () => void unlink(socket as string).then(listening as () => void))
    })
    const own = await lock()
    expect(await taken()).toBeInstanceOf(FolderInUse)
    await own.release()
  })

  test('is another one’s, also where what answers there is no Lanekeeper', async () => {
    await mkdir(`${path}/run`)
    for (const answer of ['no JSON\n', '']) {
      const stranger = createServer((socket) => socket.end(answer))
      await new Promise<void>((resolve) => stranger.listen(`${path}/run/00000001.sock`, resolve))
      expect((await taken()).message).toBe(`${path} is in use by another process`)
      await new Promise((resolve) => stranger.close(resolve))
    }
  })

  test('is in a folder that only its owner can enter, also where that was open before', async () => {
    await mkdir(`${path}/run`)
    await chmod(`${path}/run`, 0o777)
    const own = await lock()
    expect((await stat(`${path}/run`)).mode & 0o777).toBe(0o700)
    await own.release()
  })

  test('is refused where a socket’s path would be too long, and nothing is made', async () => {
    const long = join(path, 'x'.repeat(103 - 18 - path.length))
    await expect(lockFolder(long, () => undefined)).rejects.toThrow(/is too long: a socket in it may have 103 bytes, and this one has 104/)
    await expect(openStorage(`fs:${long}`, { log: quiet })).rejects.toThrow(RangeError)
    await expect(access(long)).rejects.toThrow('ENOENT')
    const fits: FolderLock = await lockFolder(long.slice(0, -1), () => undefined)
    await fits.release()
  })

  test('is let go of where the folder then cannot be opened', async () => {
    await mkdir(`${path}/journal`)
    await mkdir(`${path}/journal/0000000001.log`)
    await expect(openStorage(`fs:${path}`, { log: quiet })).rejects.toThrow('EISDIR')
    expect(await sockets()).toEqual([])
  })
})

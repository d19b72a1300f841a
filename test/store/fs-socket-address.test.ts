import { access, mkdir, readdir, readlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { callRpcServer } from '../../src/admin/rpc-client.ts'
import { createDerivations } from '../../src/resources/derived.ts'
import { FolderInUse, lockFolder, lockFolderForReading } from '../../src/store/fs/lock.ts'
import { connectTo, requireUsable } from '../../src/store/fs/socket-address.ts'
import { openStorage } from '../../src/store/open.ts'
import { quiet } from '../support/log.ts'
import { eachInFolder } from '../support/temporary-folder.ts'
import { StoreProcess } from '../support/store-process.ts'

let parent: string
eachInFolder((created) => (parent = created))

/** A folder whose path has a length in bytes. */
async function folderOf(bytes: number): Promise<string> {
  let path = parent
  while (bytes - path.length > 1) path = join(path, 'x'.repeat(Math.min(bytes - path.length - 1, 50)))
  await mkdir(path, { recursive: true })
  return path
}

/** The descriptors of this process that are open on a folder or on what is in it. */
async function descriptorsIn(folder: string): Promise<string[]> {
  const links = (await readdir('/proc/self/fd')).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''))
  return (await Promise.all(links)).filter((path) => path.startsWith(folder))
}

describe('a folder whose socket paths are longer than the operating system takes', () => {
  // 87 is the first length with a longer path: `/run/service.sock` follows.
  test.runIf(process.platform === 'linux').each([86, 87, 200, 488])('has a lock: %i bytes', async (bytes) => {
    const path = await folderOf(bytes)
    const holder = new StoreProcess(path)
    expect(await holder.started).toBeUndefined()
    for (const second of [() => lockFolder(path, () => undefined), () => lockFolderForReading(path)])
      await expect(second()).rejects.toMatchObject({ name: 'FolderInUse', holder: { pid: holder.child.pid } })
    expect(await readdir(join(path, 'run'))).toContain('service.sock')
    await holder.kill()

    const lock = await lockFolder(path, (socket) => void socket.end())
    const error = (await lockFolder(path, () => undefined).catch((refusal: unknown) => refusal)) as FolderInUse
    expect(error.holder?.pid).toBe(process.pid)
    await expect(callRpcServer(error.socket!, 'x', {}, {} as never)).rejects.toThrow('the connection to the process')
    await lock.release()
    expect(await readdir(join(path, 'run'))).toEqual(['lock.db'])
    expect(await descriptorsIn(path)).toEqual([])
  })

  test.runIf(process.platform === 'linux')('can be the folder of a store', async () => {
    const path = await folderOf(200)
    const storage = await openStorage(`fs:${path}`, { log: quiet, derived: createDerivations() })
    await expect(openStorage(`fs:${path}`, { log: quiet, derived: createDerivations() })).rejects.toThrow(FolderInUse)
    await storage.close()
  })

  test('has a limit that the database has, and is refused beyond it', async () => {
    const path = await folderOf(500)
    await expect(lockFolder(path, () => undefined)).rejects.toThrow(
      `${path} is too long: the path of a database in it is limited to 511 bytes`,
    )
    expect(await readdir(path)).toEqual([])
  })

  test('is refused where folders have no short path, and nothing is created', async () => {
    const absent = join(parent, 'absent')
    const tooLong = join(parent, 'x'.repeat(104 - parent.length - 1))
    expect(() => requireUsable(tooLong, '/folder', absent)).toThrow('/folder is too long: a socket path in it is limited to 103 bytes and would have 104') // prettier-ignore
    expect(() => requireUsable(tooLong.slice(0, -1), '/folder', absent)).not.toThrow()
    await expect(access(absent)).rejects.toThrow('ENOENT')
  })

  test.each([
    ['ENOENT', 'absent/1.sock'],
    ['ENOTDIR', 'file/1.sock'],
  ])('has errors of connections as events: %s', async (code, name) => {
    const path = await folderOf(150)
    await writeFile(join(path, 'file'), '')
    const socket = connectTo(join(path, name))
    expect(await new Promise((resolve) => socket.on('error', resolve))).toMatchObject({ code })
  })

  test.runIf(process.platform === 'linux')('is not confused with a socket at the beginning of its path', async () => {
    const socketPath = join(await folderOf(200), 'run/00000001.sock')
    const other = createServer()
    // Where older releases of Node.js cut a path off. Newer ones refuse it.
    await new Promise<void>((resolve, reject) => other.on('error', reject).listen(socketPath.slice(0, 108), resolve))
    const connected = vi.fn<() => void>()
    const socket = connectTo(socketPath).on('connect', connected)
    await new Promise((resolve) => socket.on('connect', resolve).on('error', resolve))
    socket.destroy()
    expect(connected).not.toHaveBeenCalled()
    await new Promise((resolve) => other.close(resolve))
  })
})

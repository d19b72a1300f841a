import { mkdir, open, readdir, readFile, stat, writeFile, type FileHandle } from 'node:fs/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { assertSynced, realDisk, replaceFile, SyncFailed } from '../../src/store/fs/disk.ts'
import { errorOf } from '../support/error-of.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { eachInFolder } from '../support/temporary-folder.ts'
import { diskError, recordDisk } from '../support/recording-disk.ts'

const text = (content: string) => Buffer.from(content)

describe('the real disk', () => {
  let path: string
  eachInFolder((created) => (path = created))
  afterEach(() => void vi.restoreAllMocks())
  /** The methods that all open files share, to observe how they are used. */
  const fileMethods = async (): Promise<FileHandle> => {
    const handle = await open(path)
    await handle.close()
    return Object.getPrototypeOf(handle) as FileHandle
  }

  test('append() creates a file that only its owner can read, and writes at its end', async () => {
    const file = await realDisk.append(`${path}/a`)
    await file.write(text('one'))
    expect({ size: await file.size(), mode: (await stat(`${path}/a`)).mode & 0o777 }).toEqual({ size: 3, mode: 0o600 })
    await file.close()
    const again = await realDisk.append(`${path}/a`)
    await again.write(text('two'))
    await again.truncate(4)
    await again.write(text('!'))
    await again.close()
    expect(await readFile(`${path}/a`, 'utf8')).toBe('onet!')
  })

  test('create() creates a file that only its owner can read, or empties an existing one', async () => {
    for (const content of ['first', 'second']) {
      const file = await realDisk.create(`${path}/a`)
      expect(await file.size()).toBe(0)
      await file.write(text(content))
      await file.truncate(2)
      await file.write(text('x'))
      await file.close()
      expect({ content: await readFile(`${path}/a`, 'utf8'), mode: (await stat(`${path}/a`)).mode & 0o777 }).toEqual({
        content: `${content.slice(0, 2)}x`,
        mode: 0o600,
      })
    }
  })

  test('a write goes on until all bytes are written', async () => {
    const methods = await fileMethods()
    const write = methods.write as (bytes: Uint8Array, offset: number, length: number) => Promise<unknown>
    const spy = vi.spyOn(methods, 'write').mockImplementation(function (this: FileHandle, bytes: unknown, offset: unknown = 0) {
      const [content, start] = [bytes as Uint8Array, offset as number]
      return write.call(this, content, start, Math.min(3, content.byteLength - start)) as never
    })
    const file = await realDisk.create(`${path}/a`)
    await file.write(text('1234567'))
    expect(spy).toHaveBeenCalledTimes(3)
    await file.write(text(''))
    expect(spy).toHaveBeenCalledTimes(3)
    await file.close()
    expect(await readFile(`${path}/a`, 'utf8')).toBe('1234567')
  })

  test('a file and a folder are synced by the system call that waits for the disk, and a folder is closed again', async () => {
    const methods = await fileMethods()
    const [fileSync, folderSync] = (['datasync', 'sync'] as const).map((name) => vi.spyOn(methods, name))
    /** The descriptors of the handles that were synced; -1 when a handle is closed. */
    const descriptors = (spy: typeof fileSync) => spy!.mock.contexts.map((handle) => (handle as FileHandle).fd)
    const file = await realDisk.create(`${path}/a`)
    await file.sync()
    expect(descriptors(fileSync)).toEqual([expect.toSatisfy((descriptor) => descriptor > 0)])
    await file.close()
    expect(descriptors(fileSync)).toEqual([-1])
    await realDisk.syncFolder(path)
    expect(descriptors(folderSync)).toEqual([-1])
    folderSync!.mockImplementation(() => Promise.reject(diskError('EIO')))
    expect(await errorOf(realDisk.syncFolder(path))).toMatchObject({ code: 'EIO' })
    expect(descriptors(folderSync)).toEqual([-1, -1])
    expect(await errorOf(realDisk.syncFolder(`${path}/absent`))).toMatchObject({ code: 'ENOENT' })
  })

  test('read() returns the content, or undefined if there is no file, and throws any other error', async () => {
    await writeFile(`${path}/a`, 'content')
    expect(await realDisk.read(`${path}/a`)).toEqual(text('content'))
    expect(await realDisk.read(`${path}/absent`)).toBeUndefined()
    expect(await errorOf(realDisk.read(path))).toMatchObject({ code: 'EISDIR' })
  })

  test('rename() and remove() change the names of files', async () => {
    await writeFile(`${path}/a`, 'a')
    await writeFile(`${path}/b`, 'b')
    await realDisk.rename(`${path}/a`, `${path}/b`)
    expect({ files: await readdir(path), content: await readFile(`${path}/b`, 'utf8') }).toEqual({ files: ['b'], content: 'a' })
    await realDisk.remove(`${path}/b`)
    await realDisk.remove(`${path}/b`)
    expect(await readdir(path)).toEqual([])
    await writeFile(`${path}/file`, '')
    expect(await errorOf(realDisk.remove(`${path}/file/x`))).toMatchObject({ code: 'ENOTDIR' })
    expect(await errorOf(realDisk.rename(`${path}/absent`, `${path}/b`))).toMatchObject({ code: 'ENOENT' })
  })

  test('makeFolder() creates a folder and its parents for their owner only, and leaves existing ones', async () => {
    await realDisk.makeFolder(`${path}/a/b`)
    await realDisk.makeFolder(`${path}/a/b`)
    for (const folder of ['a', 'a/b']) expect((await stat(`${path}/${folder}`)).mode & 0o777).toBe(0o700)
  })

  test('removeFolder() removes an empty folder, leaves others, and throws for a file', async () => {
    await mkdir(`${path}/full/empty`, { recursive: true })
    await realDisk.removeFolder(`${path}/full`)
    await realDisk.removeFolder(`${path}/absent`)
    expect(await readdir(path)).toEqual(['full'])
    await realDisk.removeFolder(`${path}/full/empty`)
    await realDisk.removeFolder(`${path}/full`)
    expect(await readdir(path)).toEqual([])
    await writeFile(`${path}/file`, '')
    expect(await errorOf(realDisk.removeFolder(`${path}/file`))).toMatchObject({ code: 'ENOTDIR' })
  })

  test('list() returns the names in a folder, sorted, and no names if it is missing', async () => {
    for (const name of ['b', '.a', 'c', '10', '9']) await writeFile(`${path}/${name}`, '')
    expect(await realDisk.list(path)).toEqual(['.a', '10', '9', 'b', 'c'])
    expect(await realDisk.list(`${path}/absent`)).toEqual([])
    expect(await errorOf(realDisk.list(`${path}/b`))).toMatchObject({ code: 'ENOTDIR' })
  })
})

describe('replacing a file', () => {
  /** A disk with a folder that has the file "name" with the content "old". */
  const diskWithFile = async (before?: (operation: string) => unknown) => {
    const disk = new FaultyDisk(1)
    await disk.makeFolder('/d')
    const file = await disk.append('/d/name')
    await file.write(text('old'))
    return { disk, recording: recordDisk(disk, before) }
  }
  const failing = (failed: string) => (operation: string) => {
    if (operation === failed) throw diskError('EIO')
  }
  const replace = (disk: Parameters<typeof replaceFile>[0]) => replaceFile(disk, '/d', 'name', [text('n'), text('ew')])
  const contentOf = async (disk: FaultyDisk) => (await disk.read('/d/name'))!.toString()

  test.each(['create /d/.name.tmp', 'write /d/.name.tmp', 'sync /d/.name.tmp', 'close /d/.name.tmp', 'rename /d/.name.tmp /d/name'])(
    'if "%s" fails, the old content remains and the temporary file is closed and removed',
    async (operation) => {
      const { disk, recording } = await diskWithFile(failing(operation))
      const error = await errorOf(replace(recording))
      expect(error instanceof SyncFailed ? error.cause : error).toMatchObject({ code: 'EIO' })
      expect(error instanceof SyncFailed).toBe(operation.startsWith('sync'))
      expect({ content: await contentOf(disk), files: await disk.list('/d') }).toEqual({ content: 'old', files: ['name'] })
      expect(recording.operations.filter((one) => one.startsWith('close'))).toHaveLength(operation.startsWith('create') ? 0 : 1)
    },
  )

  test('a failure is reported when the temporary file is gone', async () => {
    const { disk, recording } = await diskWithFile(async (operation) => {
      failing('rename /d/.name.tmp /d/name')(operation)
      if (operation.startsWith('remove')) await new Promise(setImmediate)
    })
    await errorOf(replace(recording))
    expect(await disk.list('/d')).toEqual(['name'])
  })

  test('if the temporary file cannot be removed either, the first error is thrown', async () => {
    const first = diskError('ENOSPC')
    const { recording } = await diskWithFile((operation) => {
      if (operation.startsWith('write')) throw first
      failing('remove /d/.name.tmp')(operation)
    })
    expect(await errorOf(replace(recording))).toBe(first)
  })

  test('a failed sync is a SyncFailed with its cause', async () => {
    await expect(assertSynced(Promise.resolve())).resolves.toBeUndefined()
    const cause = diskError('EIO')
    const error = await errorOf(assertSynced(Promise.reject(cause)))
    expect(error).toMatchObject({ name: 'SyncFailed', message: 'the disk failed to sync written data: EIO: injected', cause })
  })
})
